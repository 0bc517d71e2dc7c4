package gpu

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// activations are the buffers between the ops of programs of up to width
// tokens. Programs that never run at once share them.
type activations struct {
	width  int
	tokens *wgslkit.Buffer // [width] ids

	x, other       *wgslkit.Buffer // [width, d] the residual stream
	block          *wgslkit.Buffer // [width, d] what a block gives
	qkv            *wgslkit.Buffer // [width, (H+2·Hk)·D]
	attended       *wgslkit.Buffer // [width, H·D]
	hidden, gate   *wgslkit.Buffer // [width, ff]
	perLayerRows   *wgslkit.Buffer // [width, L·P]
	perLayerProj   *wgslkit.Buffer // [width, L·P]
	perLayerInputs *wgslkit.Buffer // [width, L·P]
	perLayerGate   *wgslkit.Buffer // [width, P]
	routerLogits   *wgslkit.Buffer // [width, E]
	expertIDs      *wgslkit.Buffer // [width, k]
	expertWeights  *wgslkit.Buffer // [width, k]
	expertHidden   *wgslkit.Buffer // [width, k, ffe]
	expertSum      *wgslkit.Buffer // [width, d]
	moeSum         *wgslkit.Buffer // [width, d]
	logits         *wgslkit.Buffer // [logit rows, vocab]
	stream         *wgslkit.Buffer // x or other: what the head recorded last reads
	soft           *softRows       // nil until media come
	adapted        *wgslkit.Buffer // [width, rank] adapters' A·x; nil without adapters

	buffers []*wgslkit.Buffer
}

// activationSizes says how many float32 values one token of each buffer takes.
type activationSizes struct {
	d, qkv, attended, ff, perLayer, perLayerDim int
	experts, used, expertHidden                 int
	vocab                                       int
}

func sizesOf(c *arch.Config) activationSizes {
	s := activationSizes{
		d: c.EmbeddingLength, perLayer: c.Blocks * c.PerLayerDim, perLayerDim: c.PerLayerDim,
		experts: c.Experts, used: c.ExpertsUsed, expertHidden: c.ExpertsUsed * c.ExpertFeedForward, vocab: c.Vocab,
	}
	for i := range c.Blocks {
		s.qkv = max(s.qkv, c.QueryDim(i)+2*c.KVDim(i))
		s.attended = max(s.attended, c.QueryDim(i))
		s.ff = max(s.ff, c.FeedForward(i))
	}
	return s
}

// newActivations makes the buffers for width tokens and logitRows rows of logits.
func newActivations(kit *ops.Kit, c *arch.Config, width, logitRows int) (*activations, error) {
	s := sizesOf(c)
	a := &activations{width: width}
	for _, want := range []struct {
		into  **wgslkit.Buffer
		label string
		n     int
	}{
		{&a.tokens, "tokens", width},
		{&a.x, "x", width * s.d},
		{&a.other, "x'", width * s.d},
		{&a.block, "block", width * s.d},
		{&a.qkv, "qkv", width * s.qkv},
		{&a.attended, "attended", width * s.attended},
		{&a.hidden, "ffn hidden", width * s.ff},
		{&a.gate, "ffn gate", width * s.ff},
		{&a.perLayerRows, "per-layer rows", width * s.perLayer},
		{&a.perLayerProj, "per-layer projection", width * s.perLayer},
		{&a.perLayerInputs, "per-layer inputs", width * s.perLayer},
		{&a.perLayerGate, "per-layer gate", width * s.perLayerDim},
		{&a.routerLogits, "router logits", width * s.experts},
		{&a.expertIDs, "expert ids", width * s.used},
		{&a.expertWeights, "expert weights", width * s.used},
		{&a.expertHidden, "expert hidden", width * s.expertHidden},
		{&a.expertSum, "expert sum", width * min(s.experts, 1) * s.d},
		{&a.moeSum, "dense + experts", width * min(s.experts, 1) * s.d},
		{&a.logits, "logits", logitRows * s.vocab},
	} {
		if want.n == 0 {
			continue
		}
		b, err := kit.Device().NewBuffer(want.label, wgslkit.Activations, int64(4*want.n))
		if err != nil {
			a.release()
			return nil, err
		}
		*want.into = b
		a.buffers = append(a.buffers, b)
	}
	return a, nil
}

func (a *activations) release() {
	if a == nil {
		return
	}
	for _, b := range a.buffers {
		b.Release()
	}
	a.soft.release()
	a.adapted.Release()
}
