package gpu

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Weights are the model's tensors on the GPU, laid out as the graph reads them.
type Weights struct {
	tokenEmbd         *ops.Matrix // nil where the host fetches rows
	output            *ops.Matrix // tokenEmbd itself where the head is tied
	outputNorm        *wgslkit.Buffer
	perLayerTokenEmbd *ops.Matrix // nil where there is none or the host fetches rows
	perLayerModelProj *ops.Matrix
	perLayerProjNorm  *wgslkit.Buffer
	layers            []layerWeights

	vectors  []*wgslkit.Buffer
	matrices []*ops.Matrix
	ropes    map[ropeKey]*ops.Rope
	tensors  tensorIndex
}

// ropeKey is what layers that rotate alike have in common.
type ropeKey struct {
	theta   float32
	dim     int
	sliding bool
}

// projection is a product whose outputs start at offset of a wider row.
type projection struct {
	matrix *ops.Matrix
	offset int
}

type layerWeights struct {
	attnNorm *wgslkit.Buffer
	qkv      []projection // Q, K and V, as few products as their types allow
	qkvWidth int

	qNorm, kNorm      *wgslkit.Buffer
	rope              *ops.Rope
	attnOutput        *ops.Matrix
	postAttentionNorm *wgslkit.Buffer

	ffnNorm     *wgslkit.Buffer
	gateUp      *ops.Matrix // both, where their types agree
	gate, up    *ops.Matrix // apart otherwise
	down        *ops.Matrix
	moe         *expertWeights
	postFFWNorm *wgslkit.Buffer

	inpGate, proj *ops.Matrix
	postNorm      *wgslkit.Buffer

	outputScale float32
}

type expertWeights struct {
	router                           *ops.Matrix
	routerScale, downScale           *wgslkit.Buffer
	gateUp, down                     *ops.Matrix
	preNorm, postDenseNorm, postNorm *wgslkit.Buffer
}

func (w *Weights) release() {
	for _, v := range w.vectors {
		v.Release()
	}
	for _, m := range w.matrices {
		m.Release()
	}
	for _, r := range w.ropes {
		r.Release()
	}
}

// loader makes buffers for tensors, in the order in which finish fills them: neighbours in
// the file come one after the other. The first error sticks, so that loading reads as a list.
type loader struct {
	ctx      context.Context
	kit      *ops.Kit
	uploads  *ops.Uploads
	weights  *Weights
	progress func(done int64)
	err      error
}

// finish fills the buffers, and ends the uploads in any case.
func (l *loader) finish() error {
	if l.err == nil {
		l.report(0)
		l.err = l.uploads.Run(l.ctx, l.report)
	}
	if late := l.uploads.End(); l.err == nil {
		l.err = late
	}
	return l.err
}

// loadWeights uploads what the plan places on the GPU. ready, where given, is waited for
// before matrices are read.
func loadWeights(ctx context.Context, kit *ops.Kit, m *arch.Model, plan *engine.Plan, ready func(),
	progress func(done int64)) (*Weights, error) {
	w := &Weights{
		layers: make([]layerWeights, len(m.Layers)), ropes: map[ropeKey]*ops.Rope{}, tensors: newTensorIndex(),
	}
	l := &loader{ctx: ctx, kit: kit, uploads: kit.HoldUploads(), weights: w, progress: progress}
	if isOnGPU(plan, m.TokenEmbd) {
		w.tokenEmbd = l.matrix(m.TokenEmbd)
	}
	w.output = w.tokenEmbd
	if m.Output != m.TokenEmbd {
		w.output = l.matrix(m.Output)
	}
	w.outputNorm = l.vector(m.OutputNorm)
	if m.PerLayerTokenEmbd != nil {
		if isOnGPU(plan, m.PerLayerTokenEmbd) {
			w.perLayerTokenEmbd = l.matrix(m.PerLayerTokenEmbd)
		}
		w.perLayerModelProj = l.matrix(m.PerLayerModelProj)
		w.perLayerProjNorm = l.vector(m.PerLayerProjNorm)
	}
	for i := range m.Layers {
		l.layer(&w.layers[i], m.Config, i, &m.Layers[i])
		w.layers[i].rope = l.rope(m, i)
	}
	if ready != nil {
		l.uploads.Send()
		ready()
	}
	if err := l.finish(); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

func (l *loader) layer(g *layerWeights, c *arch.Config, i int, t *arch.Layer) {
	*g = layerWeights{
		attnNorm: l.vector(t.AttnNorm), qNorm: l.vector(t.QNorm), kNorm: l.vector(t.KNorm),
		attnOutput: l.matrix(t.AttnOutput), postAttentionNorm: l.vector(t.PostAttentionNorm),
		ffnNorm: l.vector(t.FFNNorm), down: l.matrix(t.Down), postFFWNorm: l.vector(t.PostFFWNorm),
		inpGate: l.matrix(t.InpGate), proj: l.matrix(t.Proj), postNorm: l.vector(t.PostNorm),
		outputScale: 1,
	}
	l.scalar(&g.outputScale, t.OutputScale)
	g.qkv, g.qkvWidth = l.stacked(t.Q, t.K, t.V)
	if t.Gate.Type == t.Up.Type {
		g.gateUp = l.upload(ops.Paired, 1, t.Gate, t.Up)
	} else {
		g.gate, g.up = l.matrix(t.Gate), l.matrix(t.Up)
	}
	if t.MoE != nil {
		g.moe = l.experts(c.Experts, t.MoE)
	}
}

func (l *loader) experts(experts int, t *arch.Experts) *expertWeights {
	e := &expertWeights{
		router: l.matrix(t.Router), routerScale: l.vector(t.RouterScale), downScale: l.vector(t.DownScale),
		down: l.upload(ops.Stacked, experts, t.Down), preNorm: l.vector(t.PreNorm),
		postDenseNorm: l.vector(t.PostDenseNorm), postNorm: l.vector(t.PostNorm),
	}
	if t.GateUp != nil {
		e.gateUp = l.upload(ops.Paired, experts, t.GateUp)
	} else {
		e.gateUp = l.upload(ops.Paired, experts, t.Gate, t.Up)
	}
	return e
}

// stacked uploads tensors whose outputs stand side by side in one row; runs of
// one type become one matrix. Nil tensors are left out.
func (l *loader) stacked(tensors ...*gguf.Tensor) (list []projection, width int) {
	var run []*gguf.Tensor
	start := 0
	flush := func() {
		if len(run) > 0 {
			list = append(list, projection{l.upload(ops.Stacked, 1, run...), start})
			run, start = nil, width
		}
	}
	for _, t := range tensors {
		if t == nil {
			continue
		}
		if len(run) > 0 && run[0].Type != t.Type {
			flush()
		}
		run = append(run, t)
		width += t.Rows()
	}
	flush()
	return list, width
}

func (l *loader) matrix(t *gguf.Tensor) *ops.Matrix {
	if t == nil {
		return nil
	}
	return l.upload(ops.Stacked, 1, t)
}

func (l *loader) upload(layout ops.Layout, experts int, tensors ...*gguf.Tensor) *ops.Matrix {
	if l.err != nil {
		return nil
	}
	sources := make([]ops.Source, len(tensors))
	for i, t := range tensors {
		sources[i] = ops.Source{Name: t.Name, Type: t.Type, Rows: t.Rows(), Cols: t.RowLen(), Experts: experts,
			Data: t.Source(), Offset: t.Offset}
	}
	m, err := l.uploads.Matrix(tensors[0].Name, layout, sources)
	if err != nil {
		l.err = fmt.Errorf("loading %s: %w", tensors[0].Name, err)
		return nil
	}
	l.weights.matrices = append(l.weights.matrices, m)
	l.weights.tensors.matrix(m, tensors)
	return m
}

func (l *loader) report(done int64) {
	if l.progress != nil {
		l.progress(done)
	}
}

// floats reads a whole small tensor as float32. Where this only rehearses, they are ones.
func (l *loader) floats(ctx context.Context, t *gguf.Tensor) ([]float32, error) {
	if l.kit.Device().Rehearses() {
		return slices.Repeat([]float32{1}, t.Elements()), nil
	}
	values := make([]float32, t.Elements())
	return values, t.ReadRowsContext(ctx, values, 0, t.Rows())
}

func (l *loader) vector(t *gguf.Tensor) *wgslkit.Buffer {
	if t == nil || l.err != nil {
		return nil
	}
	v, err := l.kit.Device().NewBuffer(t.Name, wgslkit.Weights, 4*int64(t.Elements()))
	if err != nil {
		l.err = fmt.Errorf("loading %s: %w", t.Name, err)
		return nil
	}
	if t.Type == quant.F32 { // as the GPU wants it
		l.read(t, func(ctx context.Context) error { return v.Upload(ctx, 0, t.Source(), t.Offset, t.Size, nil) })
	} else {
		l.fill(t, func(values []float32) error { return v.Write(0, floatBytes(values)) })
	}
	l.weights.vectors = append(l.weights.vectors, v)
	l.weights.tensors.vectors[t.Name] = v
	return v
}

// rope is layer i's rotation, that of all layers of its kind.
func (l *loader) rope(m *arch.Model, i int) *ops.Rope {
	c := m.Config
	key := ropeKey{theta: c.RopeTheta(i), dim: c.HeadDim(i), sliding: c.IsSliding(i)}
	if r := l.weights.ropes[key]; r != nil || l.err != nil {
		return r
	}
	var freqs []float32
	if !key.sliding && m.RopeFreqs != nil {
		var err error
		if freqs, err = l.floats(l.ctx, m.RopeFreqs); err != nil {
			l.err = fmt.Errorf("loading %s: %w", m.RopeFreqs.Name, err)
			return nil
		}
	}
	r, err := l.kit.NewRope("rope", float64(key.theta), key.dim, c.RopeFactors(i, freqs))
	if err != nil {
		l.err = err
		return nil
	}
	l.weights.ropes[key] = r
	return r
}

// scalar is set when the buffers are filled; without a tensor it stays.
func (l *loader) scalar(s *float32, t *gguf.Tensor) {
	if t == nil {
		return
	}
	l.fill(t, func(values []float32) error {
		*s = values[0]
		return nil
	})
}

// fill has finish read a small tensor, for take.
func (l *loader) fill(t *gguf.Tensor, take func(values []float32) error) {
	l.read(t, func(ctx context.Context) error {
		values, err := l.floats(ctx, t)
		if err != nil {
			return err
		}
		return take(values)
	})
}

// read has finish call fill, which reads a small tensor.
func (l *loader) read(t *gguf.Tensor, fill func(ctx context.Context) error) {
	l.uploads.Fill(t.Size, func(ctx context.Context) error {
		if err := fill(ctx); err != nil {
			return fmt.Errorf("loading %s: %w", t.Name, err)
		}
		return nil
	})
}
