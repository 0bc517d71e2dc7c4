package gpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// assistantWeights is an assistant's weights on the GPU.
type assistantWeights struct {
	model   *arch.Assistant
	decoder *Weights // output is nil where there are clusters

	preProjection, postProjection *ops.Matrix

	// Where there are clusters:
	centroids *ops.Matrix
	clustered *ops.Matrix     // the rows of the head, cluster by cluster, each as an expert
	ordering  *wgslkit.Buffer // [vocab] the tokens of those rows
}

func (a *assistantWeights) release() {
	if a == nil {
		return
	}
	a.decoder.release()
	a.ordering.Release()
}

// AttachAssistant loads an assistant within the device's budget.
func (e *Engine) AttachAssistant(ctx context.Context, a *arch.Assistant, progress func(done, total int64)) error {
	if e.weights.tokenEmbd == nil {
		return fmt.Errorf("%w: an assistant looks tokens up in the model's embedding table, which stays in the file "+
			"here; allow more GPU memory", engine.ErrDoesNotFit)
	}
	total := e.assistantBytes(a)
	e.shedCheckpoints(e.adapterBytes.Load() + total)
	if p := e.plan; p.Budget > 0 && p.Total()+e.adapterBytes.Load()+total > p.Budget {
		return fmt.Errorf("%w: the assistant takes %s in addition to the model's %s, and %s is allowed; use a smaller "+
			"context, or no assistant", engine.ErrDoesNotFit,
			engine.FormatBytes(total), engine.FormatBytes(p.Total()), engine.FormatBytes(p.Budget))
	}
	loaded, err := e.loadAssistant(ctx, a, func(done int64) {
		if progress != nil {
			progress(min(done, total), total)
		}
	})
	if err != nil {
		return err
	}
	e.assistant, e.plan.Assistant = loaded, total
	return nil
}

// assistantBytes is what the weights take on the GPU.
func (e *Engine) assistantBytes(a *arch.Assistant) (n int64) {
	tensors := append(engine.TextTensors(a.Decoder), a.PreProjection, a.PostProjection)
	if a.Clusters != nil {
		tensors = append(tensors, a.Clusters.Centroids)
		n = 4 * int64(len(a.Clusters.Ordering))
	}
	for _, t := range tensors {
		n += e.kit.MatrixBytes(t.Type, t.Rows(), t.RowLen())
	}
	return n
}

func (e *Engine) loadAssistant(ctx context.Context, a *arch.Assistant,
	progress func(done int64)) (*assistantWeights, error) {
	d := a.Decoder
	w := &Weights{
		layers: make([]layerWeights, len(d.Layers)), ropes: map[ropeKey]*ops.Rope{}, tensors: newTensorIndex(),
	}
	l := &loader{ctx: ctx, kit: e.kit, uploads: e.kit.HoldUploads(), weights: w, progress: progress}
	x := &assistantWeights{model: a, decoder: w, preProjection: l.matrix(a.PreProjection),
		postProjection: l.matrix(a.PostProjection)}
	if c := a.Clusters; c != nil {
		x.centroids, x.clustered = l.matrix(c.Centroids), l.clustered(d.Output, c)
	} else {
		w.output = l.matrix(d.Output)
	}
	w.outputNorm = l.vector(d.OutputNorm)
	for i := range d.Layers {
		l.layer(&w.layers[i], d.Config, i, &d.Layers[i])
		w.layers[i].rope = l.rope(d, i)
	}
	if c := a.Clusters; c != nil && l.err == nil {
		words := make([]uint32, len(c.Ordering))
		for i, t := range c.Ordering {
			words[i] = uint32(t)
		}
		x.ordering, l.err = e.kit.Words("tokens of clusters", wgslkit.Weights, words)
	}
	if err := l.finish(); err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// clustered uploads the head's rows in the order of the clusters.
func (l *loader) clustered(t *gguf.Tensor, c *arch.Clusters) *ops.Matrix {
	if l.err != nil {
		return nil
	}
	rows, err := readOrdered(l.ctx, t, c.Ordering)
	if err != nil {
		l.err = err
		return nil
	}
	m, err := l.uploads.Matrix(t.Name, ops.Stacked, []ops.Source{{
		Name: t.Name, Type: t.Type, Rows: t.Rows(), Cols: t.RowLen(), Experts: c.Count(), Data: rows,
	}})
	if err != nil {
		l.err = fmt.Errorf("loading %s: %w", t.Name, err)
		return nil
	}
	l.weights.matrices = append(l.weights.matrices, m)
	return m
}

// readOrdered reads a tensor's rows, as they are stored, in another order. They go
// through memory as a whole: an assistant's table is small, and a read for each row
// would take longer than the model's own weights.
func readOrdered(ctx context.Context, t *gguf.Tensor, order []int32) (io.ReaderAt, error) {
	row := int(t.Size / int64(t.Rows()))
	stored, ordered := make([]byte, t.Size), make([]byte, 0, t.Size)
	if _, err := t.ReadAtContext(ctx, stored, 0); err != nil {
		return nil, fmt.Errorf("loading %s: %w", t.Name, err)
	}
	for _, token := range order {
		ordered = append(ordered, stored[int(token)*row:][:row]...)
	}
	return bytes.NewReader(ordered), nil
}

// drafter is what a session drafts with: the assistant's program over the session's
// caches, replayed for each token of a draft without a word from the host between.
type drafter struct {
	act     *activations
	state   *wgslkit.Buffer // state words: the last position in the caches
	both    *wgslkit.Buffer // [2·(target's d)] the token's embedding, and the hidden state
	hidden  *wgslkit.Buffer // [target's d]
	queries *wgslkit.Buffer // [H·D]
	one     *wgslkit.Buffer // [1] how far the drafted token is behind the last position
	list    *wgslkit.Buffer // a count, and as many drafted tokens

	// of clusters: their products, the nearest, what nobody reads, their tokens' logits
	products, clusters, shares, clusterLogits *wgslkit.Buffer

	step *ops.Recording
	// take makes the hidden state of a stream that a program of one token left.
	take    map[*wgslkit.Buffer]*ops.Recording
	buffers []*wgslkit.Buffer
	drafted []int32
}

func (g *drafter) release() {
	if g == nil {
		return
	}
	g.step.Release()
	for _, r := range g.take {
		r.Release()
	}
	g.act.release()
	for _, b := range g.buffers {
		b.Release()
	}
}

// assisted makes the drafter when it is first wanted. Where there is no memory for
// it, answers go on without.
func (s *state) assisted() bool {
	if s.engine.assistant == nil {
		return false
	}
	if s.drafter == nil && !s.unassisted {
		g, err := s.newDrafter()
		if err != nil {
			g.release()
			g = nil
		}
		s.drafter, s.unassisted = g, err != nil
		s.verifier.release() // whose rows it reads
		s.verifier = nil
	}
	return s.drafter != nil
}

// newDrafter returns what it has made on an error, too.
func (s *state) newDrafter() (g *drafter, err error) {
	e := s.engine
	x := e.assistant
	g = &drafter{take: map[*wgslkit.Buffer]*ops.Recording{}}
	d := x.model.Decoder.Config
	logits := 1
	if x.model.Clusters != nil {
		logits = 0
	}
	if g.act, err = newActivations(e.kit, d, 1, logits); err != nil {
		return g, err
	}
	if err = g.allocate(e.kit, x, e.model.Config.EmbeddingLength); err != nil {
		return g, err
	}
	if err = g.one.Write(0, words([]uint32{1})); err != nil {
		return g, err
	}
	if g.step, err = s.recorder().draftStep(x, g); err != nil {
		return g, err
	}
	for _, stream := range []*wgslkit.Buffer{s.single.x, s.single.other} {
		if g.take[stream], err = s.recorder().takeHidden(g, stream, 0); err != nil {
			return g, err
		}
	}
	return g, nil
}

// allocate makes the buffers beside the activations.
func (g *drafter) allocate(kit *ops.Kit, x *assistantWeights, wide int) error {
	sizes := sizesOf(x.model.Decoder.Config)
	wants := []struct {
		into  **wgslkit.Buffer
		label string
		n     int
	}{
		{&g.state, "state of the assistant", ops.StateWords},
		{&g.both, "embedding and hidden state", 2 * wide},
		{&g.hidden, "hidden state", wide},
		{&g.queries, "normed queries", sizes.attended},
		{&g.one, "one position on", 1},
		{&g.list, "drafted tokens", 1 + engine.MaxDraft},
	}
	if c := x.model.Clusters; c != nil {
		wants = append(wants, []struct {
			into  **wgslkit.Buffer
			label string
			n     int
		}{{&g.products, "products with centroids", c.Count()}, {&g.clusters, "nearest clusters", c.Used},
			{&g.shares, "shares of clusters", c.Used}, {&g.clusterLogits, "their logits", c.Used * c.Size()}}...)
	}
	for _, w := range wants {
		b, err := kit.Device().NewBuffer(w.label, wgslkit.Activations, int64(4*w.n))
		if err != nil {
			return err
		}
		*w.into = b
		g.buffers = append(g.buffers, b)
	}
	return nil
}

// takeHidden records hidden = rms(x; output_norm), with x a row of the target's
// stream, behind the embedding's place.
func (r *recorder) takeHidden(g *drafter, stream *wgslkit.Buffer, row int) (*ops.Recording, error) {
	d := r.config.EmbeddingLength
	rec := r.kit.Record("hidden state", 1, g.state)
	rec.RMSNorm(ops.RMSNorm{Label: "output_norm", X: stream, XOffset: row * d, Y: g.hidden,
		Weight: r.weights.outputNorm, Size: d, Eps: r.config.Eps})
	rec.Copy(ops.Copy{Label: "hidden state", In: g.hidden, Out: g.both, OutOffset: d, Size: d})
	return rec.Finish()
}

// draftStep records a step of arch.Assistant, and its choice.
func (r *recorder) draftStep(x *assistantWeights, g *drafter) (*ops.Recording, error) {
	c, wide := x.model.Decoder.Config, r.config.EmbeddingLength
	caches := make([]*ops.KVCache, c.Blocks)
	for i := range caches {
		caches[i] = r.caches[c.KVDonor(i)]
	}
	gr := &graph{
		Recorder: r.kit.Record("draft", 1, g.state), config: c, weights: x.decoder, caches: caches, act: g.act,
		x: g.act.x, other: g.act.other,
	}
	gr.Embed(ops.Embed{Label: "token_embd", Table: r.weights.tokenEmbd, IDs: g.act.tokens, Out: g.both,
		Scale: r.config.EmbedScale()})
	gr.Linear(ops.Linear{Label: "pre_projection", W: x.preProjection, In: ops.Input{X: g.both}, Out: gr.x})
	for i := range c.Blocks {
		w := &x.decoder.layers[i]
		gr.borrowedAttention(i, w, g)
		gr.feedForward(i, w)
		gr.pending.Scale = w.outputScale
	}
	norm := x.decoder.outputNorm
	gr.Linear(ops.Linear{Label: "post_projection", W: x.postProjection, In: gr.input(norm), Out: g.both,
		OutOffset: wide, OutStride: 2 * wide})
	gr.choose(x, g)
	return gr.Finish()
}

// borrowedAttention is attention over the keys before the token, of which it has none
// itself. Seen from the last of them the token stands one further on, which is what
// the queries are turned by before they are turned as that one's.
func (g *graph) borrowedAttention(i int, w *layerWeights, buffers *drafter) {
	c := g.config
	in := g.input(w.attnNorm)
	for _, p := range w.qkv {
		g.Linear(ops.Linear{Label: "attn_q", W: p.matrix, In: in, Out: g.act.qkv, OutOffset: p.offset,
			OutStride: w.qkvWidth})
		in = g.inputAgain(w.attnNorm)
	}
	g.RMSNorm(ops.RMSNorm{Label: "attn_q_norm", X: g.act.qkv, Y: buffers.queries, Weight: w.qNorm, Groups: c.Heads,
		Size: c.HeadDim(i), Eps: c.Eps})
	g.Rotate(ops.Rotate{Label: "one position on", X: buffers.queries, Y: g.act.qkv, Positions: buffers.one,
		Rope: w.rope, Heads: c.Heads, HeadDim: c.HeadDim(i)})
	attend := ops.Attention{
		Label: "attention", Q: ops.Slice{Buffer: g.act.qkv}, Rope: w.rope, Heads: c.Heads, Cache: g.caches[i], Scale: 1,
		Out: g.act.attended,
	}
	if c.IsSliding(i) {
		attend.Window = c.SlidingWindow - 1 // the token itself is in the window
	}
	attended := ops.Input{X: g.act.attended}
	if partials := g.Attention(attend); partials != nil {
		attended = ops.Input{Merge: partials}
	}
	g.Linear(ops.Linear{Label: "attn_output", W: w.attnOutput, In: attended, Out: g.act.block})
	g.pend(g.act.block, w.postAttentionNorm)
}

// choose leaves the token of the largest logit where the next step embeds it.
func (g *graph) choose(x *assistantWeights, buffers *drafter) {
	in := g.inputAgain(x.decoder.outputNorm)
	c := x.model.Clusters
	argmax := ops.Argmax{Label: "draft", Values: g.act.logits, N: g.config.Vocab, Out: g.act.tokens,
		List: buffers.list}
	if c == nil {
		g.Linear(ops.Linear{Label: "output", W: x.decoder.output, In: in, Out: g.act.logits})
	} else {
		g.Linear(ops.Linear{Label: "centroids", W: x.centroids, In: in, Out: buffers.products})
		g.Router(ops.Router{Label: "nearest clusters", Logits: buffers.products, Experts: c.Count(), K: c.Used,
			IDs: buffers.clusters, Weights: buffers.shares})
		g.ExpertLinear(ops.ExpertLinear{Label: "output", W: x.clustered, K: c.Used, IDs: buffers.clusters, In: in,
			Out: buffers.clusterLogits})
		argmax.Values, argmax.N = buffers.clusterLogits, c.Used*c.Size()
		argmax.Groups, argmax.Group, argmax.Order = buffers.clusters, c.Size(), x.ordering
	}
	g.Argmax(argmax)
}

func (s *state) Draft(ctx context.Context, tokens int) ([]int32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := s.drafter
	// The caches hold what was counted, and the token chosen last comes behind it.
	for _, write := range []struct {
		into  *wgslkit.Buffer
		words []uint32
	}{{g.state, []uint32{ops.StatePosition: uint32(s.cached - 1), ops.StateWidth: 1}},
		{g.act.tokens, []uint32{uint32(s.last)}}, {g.list, []uint32{0}}} {
		if err := write.into.Write(0, words(write.words)); err != nil {
			return nil, err
		}
	}
	if err := s.takeHidden().Submit(1); err != nil {
		return nil, err
	}
	for range tokens {
		if err := g.step.Submit(1); err != nil {
			return nil, err
		}
	}
	return g.read(tokens)
}

// takeHidden is the program for the stream from which the last token was chosen.
func (s *state) takeHidden() *ops.Recording {
	if s.streamRow >= 0 {
		return s.verifier.take[s.streamRow]
	}
	return s.drafter.take[s.stream]
}

// read waits for the drafted tokens.
func (g *drafter) read(tokens int) ([]int32, error) {
	raw, err := g.list.Read(4, int64(4*tokens))
	if err != nil {
		return nil, err
	}
	g.drafted = g.drafted[:0]
	for i := range tokens {
		g.drafted = append(g.drafted, int32(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return g.drafted, nil
}
