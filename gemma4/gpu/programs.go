package gpu

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// programs are the recordings of one session, made once over its caches. Those
// for text among which soft tokens stand are made when the first ones come.
//
// A prompt runs through lower, chunk by chunk: the layers up to the last that
// owns a cache. What the layers above would compute for it nobody reads, but
// for the last token, which goes on through upper to its logits. A decoding
// step is both in one, with the choice of the next token at its end.
type programs struct {
	lower  *ops.Recording // chunk tokens: embedding, layers below split; last token to upper
	upper  *ops.Recording // one token: layers from split on, head
	choose *ops.Recording // one token from upper's logits
	decode *ops.Recording // one token: embedding, all layers, head, choice

	// Where upper and decode leave the stream that the head reads.
	upperStream, decodeStream *wgslkit.Buffer

	// For answers with masks, made with the first of them:
	masked, forward *ops.Recording // choose from a mask; decode without its choice
	forwardStream   *wgslkit.Buffer

	lowerMedia *ops.Recording // lower with soft tokens
	every      *ops.Recording // rows tokens: all layers, logits of each; made on first use
	everyMedia *ops.Recording // every with soft tokens
}

// recorder records a session's programs.
type recorder struct {
	kit     *ops.Kit
	config  *arch.Config
	weights *Weights
	caches  []*ops.KVCache
	state   *wgslkit.Buffer
	sampler *ops.Sampler
	wide    *activations // of a chunk
	single  *activations // of one token

	adapters *adapterWeights // nil for none
}

func (r *recorder) graph(label string, act *activations) *graph {
	return &graph{
		Recorder: r.kit.Record(label, act.width, r.state),
		config:   r.config, weights: r.weights, caches: r.caches, act: act, x: act.x, other: act.other,
		adapters: r.adapters,
	}
}

func (r *recorder) record() (p *programs, err error) {
	p = &programs{}
	var none *wgslkit.Buffer
	for _, step := range []struct {
		into   **ops.Recording
		record func() (*ops.Recording, error)
		stream **wgslkit.Buffer
	}{{&p.lower, r.lower, &none}, {&p.upper, r.upper, &p.upperStream}, {&p.choose, r.choose, &none},
		{&p.decode, r.decode, &p.decodeStream}} {
		if *step.into, err = step.record(); err != nil {
			p.release()
			return nil, err
		}
		*step.stream = r.single.stream
	}
	return p, nil
}

func (r *recorder) lower() (*ops.Recording, error) {
	return r.lowerOf("prefill", false)
}

// lowerMedia is lower for chunks with soft tokens.
func (r *recorder) lowerMedia() (*ops.Recording, error) {
	return r.lowerOf("prefill of media", true)
}

func (r *recorder) lowerOf(label string, media bool) (*ops.Recording, error) {
	g := r.graph(label, r.wide)
	g.media = media
	g.embed()
	for i := range r.config.PrefillLayers() {
		g.layer(i)
	}
	g.settle()
	d, perLayer := r.config.EmbeddingLength, r.config.Blocks*r.config.PerLayerDim
	g.SelectLast(ops.SelectLast{Label: "last token", In: ops.Slice{Buffer: g.x, Stride: d}, Out: r.single.x, Size: d})
	if perLayer > 0 {
		g.SelectLast(ops.SelectLast{
			Label: "last token", In: ops.Slice{Buffer: r.wide.perLayerInputs, Stride: perLayer},
			Out: r.single.perLayerInputs, Size: perLayer,
		})
	}
	return g.Finish()
}

func (r *recorder) upper() (*ops.Recording, error) {
	g := r.graph("prefill's last token", r.single)
	for i := r.config.PrefillLayers(); i < r.config.Blocks; i++ {
		g.layer(i)
	}
	g.head()
	return g.Finish()
}

func (r *recorder) choose() (*ops.Recording, error) {
	g := r.graph("choose", r.single)
	g.sample(r.sampler)
	return g.Finish()
}

func (r *recorder) decode() (*ops.Recording, error) {
	g := r.graph("decode", r.single)
	g.embed()
	for i := range r.config.Blocks {
		g.layer(i)
	}
	g.head()
	g.sample(r.sampler)
	return g.Finish()
}

// every records the program for the logits of each position.
func (r *recorder) every(act *activations, media bool) (*ops.Recording, error) {
	return r.everyOf("logits", act, media)
}

func (r *recorder) everyOf(label string, act *activations, media bool) (*ops.Recording, error) {
	g := r.graph(label, act)
	g.media = media
	g.embed()
	for i := range r.config.Blocks {
		g.layer(i)
	}
	g.head()
	return g.Finish()
}

// sample chooses the next token and leaves it where embed reads it.
func (g *graph) sample(s *ops.Sampler) { g.sampleOf(s, false) }

// sampleOf is sample, of the sampler's mask where masked.
func (g *graph) sampleOf(s *ops.Sampler, masked bool) {
	g.Sample(ops.Sample{Label: "sample", Logits: g.act.logits, Tokens: g.act.tokens, Sampler: s, Masked: masked})
}

// releaseEvery frees the programs for the logits of each position.
func (p *programs) releaseEvery() {
	p.every.Release()
	p.everyMedia.Release()
	p.every, p.everyMedia = nil, nil
}

func (p *programs) release() {
	if p == nil {
		return
	}
	for _, r := range []*ops.Recording{p.lower, p.upper, p.choose, p.decode, p.masked, p.forward, p.lowerMedia, p.every,
		p.everyMedia} {
		r.Release()
	}
}
