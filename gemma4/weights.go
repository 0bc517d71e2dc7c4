package gemma4

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gpuWeights are the model's tensors on the GPU, laid out as the graph reads them.
type gpuWeights struct {
	tokenEmbd         *ops.Matrix // nil where the host fetches rows
	output            *ops.Matrix // tokenEmbd itself where the head is tied
	outputNorm        *wgslkit.Buffer
	perLayerTokenEmbd *ops.Matrix // nil where there is none or the host fetches rows
	perLayerModelProj *ops.Matrix
	perLayerProjNorm  *wgslkit.Buffer
	layers            []gpuLayer

	vectors  []*wgslkit.Buffer
	matrices []*ops.Matrix
	ropes    map[ropeKey]*ops.Rope
	places   places
}

// ropeKey is what layers that rotate alike have in common.
type ropeKey struct {
	theta   float32
	dim     int
	factors bool
}

// projection is a product whose outputs start at offset of a wider row.
type projection struct {
	matrix *ops.Matrix
	offset int
}

type gpuLayer struct {
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
	moe         *gpuExperts
	postFFWNorm *wgslkit.Buffer

	inpGate, proj *ops.Matrix
	postNorm      *wgslkit.Buffer

	outputScale float32
}

type gpuExperts struct {
	router                           *ops.Matrix
	routerScale, downScale           *wgslkit.Buffer
	gateUp, down                     *ops.Matrix
	preNorm, postDenseNorm, postNorm *wgslkit.Buffer
}

func (w *gpuWeights) release() {
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

// loader uploads tensors. The first error sticks, so that loading reads as a list.
type loader struct {
	ctx      context.Context
	kit      *ops.Kit
	weights  *gpuWeights
	done     int64
	progress func(done int64)
	err      error
}

// loadWeights uploads what the plan places on the GPU.
func loadWeights(ctx context.Context, kit *ops.Kit, m *arch.Model, plan *Plan, progress func(done int64)) (*gpuWeights, error) {
	w := &gpuWeights{layers: make([]gpuLayer, len(m.Layers)), ropes: map[ropeKey]*ops.Rope{}, places: newPlaces()}
	l := &loader{ctx: ctx, kit: kit, weights: w, progress: progress}
	end := kit.Device().HoldUploads()
	if plan.onGPU(m.TokenEmbd) {
		w.tokenEmbd = l.matrix(m.TokenEmbd)
	}
	w.output = w.tokenEmbd
	if m.Output != m.TokenEmbd {
		w.output = l.matrix(m.Output)
	}
	w.outputNorm = l.vector(m.OutputNorm)
	if m.PerLayerTokenEmbd != nil {
		if plan.onGPU(m.PerLayerTokenEmbd) {
			w.perLayerTokenEmbd = l.matrix(m.PerLayerTokenEmbd)
		}
		w.perLayerModelProj = l.matrix(m.PerLayerModelProj)
		w.perLayerProjNorm = l.vector(m.PerLayerProjNorm)
	}
	for i := range m.Layers {
		w.layers[i] = l.layer(m.Config, i, &m.Layers[i])
		w.layers[i].rope = l.rope(m, i)
	}
	if late := end(); l.err == nil {
		l.err = late
	}
	if l.err != nil {
		w.release()
		return nil, l.err
	}
	return w, nil
}

func (l *loader) layer(c *arch.Config, i int, t *arch.Layer) gpuLayer {
	g := gpuLayer{
		attnNorm: l.vector(t.AttnNorm), qNorm: l.vector(t.QNorm), kNorm: l.vector(t.KNorm),
		attnOutput: l.matrix(t.AttnOutput), postAttentionNorm: l.vector(t.PostAttentionNorm),
		ffnNorm: l.vector(t.FFNNorm), down: l.matrix(t.Down), postFFWNorm: l.vector(t.PostFFWNorm),
		inpGate: l.matrix(t.InpGate), proj: l.matrix(t.Proj), postNorm: l.vector(t.PostNorm),
		outputScale: l.scalar(t.OutputScale, 1),
	}
	g.qkv, g.qkvWidth = l.stacked(t.Q, t.K, t.V)
	if t.Gate.Type == t.Up.Type {
		g.gateUp = l.upload(ops.Paired, 1, t.Gate, t.Up)
	} else {
		g.gate, g.up = l.matrix(t.Gate), l.matrix(t.Up)
	}
	if t.MoE != nil {
		g.moe = l.experts(c.Experts, t.MoE)
	}
	return g
}

func (l *loader) experts(experts int, t *arch.Experts) *gpuExperts {
	e := &gpuExperts{
		router: l.matrix(t.Router), routerScale: l.vector(t.RouterScale), downScale: l.vector(t.DownScale),
		down: l.upload(ops.Stacked, experts, t.Down), preNorm: l.vector(t.PreNorm), postDenseNorm: l.vector(t.PostDenseNorm), postNorm: l.vector(t.PostNorm),
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
		sources[i] = ops.Source{Name: t.Name, Type: t.Type, Rows: t.Rows(), Cols: t.RowLen(), Experts: experts, Data: t.Source(), Offset: t.Offset}
	}
	before := l.done
	m, err := l.kit.Upload(l.ctx, tensors[0].Name, layout, sources, func(n int64) { l.report(before + n) })
	if err != nil {
		l.err = fmt.Errorf("loading %s: %w", tensors[0].Name, err)
		return nil
	}
	l.done = before
	for _, t := range tensors {
		l.done += t.Size
	}
	l.weights.matrices = append(l.weights.matrices, m)
	l.weights.places.matrix(m, tensors)
	return m
}

func (l *loader) report(done int64) {
	if l.progress != nil {
		l.progress(done)
	}
}

// floats reads a whole small tensor as float32. Where this only rehearses, they are ones.
func (l *loader) floats(t *gguf.Tensor) []float32 {
	if l.kit.Device().Rehearses() {
		return slices.Repeat([]float32{1}, t.Elements())
	}
	values := make([]float32, t.Elements())
	if err := t.ReadRows(values, 0, t.Rows()); err != nil {
		l.err = err
	}
	l.done += t.Size
	return values
}

func (l *loader) vector(t *gguf.Tensor) *wgslkit.Buffer {
	if t == nil || l.err != nil {
		return nil
	}
	v, err := l.kit.Vector(t.Name, wgslkit.Weights, l.floats(t))
	if err != nil {
		l.err = fmt.Errorf("loading %s: %w", t.Name, err)
		return nil
	}
	l.weights.vectors = append(l.weights.vectors, v)
	l.weights.places.vectors[t.Name] = v
	return v
}

// rope is layer i's rotation: global layers have the file's factors.
func (l *loader) rope(m *arch.Model, i int) *ops.Rope {
	c := m.Config
	key := ropeKey{theta: c.RopeTheta(i), dim: c.HeadDim(i), factors: !c.IsSliding(i) && m.RopeFreqs != nil}
	if r := l.weights.ropes[key]; r != nil || l.err != nil {
		return r
	}
	var factors []float32
	if key.factors {
		factors = l.floats(m.RopeFreqs)
	}
	r, err := l.kit.NewRope("rope", float64(key.theta), key.dim, factors)
	if err != nil {
		l.err = err
		return nil
	}
	l.weights.ropes[key] = r
	return r
}

func (l *loader) scalar(t *gguf.Tensor, otherwise float32) float32 {
	if t == nil || l.err != nil {
		return otherwise
	}
	return l.floats(t)[0]
}
