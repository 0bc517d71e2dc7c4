package cpu

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// matrix is a tensor as rows of weights, decoded or not.
type matrix struct {
	tensor     *gguf.Tensor
	rows, cols int
	rowBytes   int       // as the tensor stores them
	values     []float32 // [rows, cols]; nil where the budget did not reach
}

func newMatrix(t *gguf.Tensor) *matrix {
	w := &matrix{tensor: t, rows: t.Rows(), cols: t.RowLen()}
	w.rowBytes = int(t.Size / int64(w.rows))
	return w
}

// bytes is what the decoded matrix takes.
func (w *matrix) bytes() int64 { return int64(w.rows) * int64(w.cols) * 4 }

// scratch is memory to decode rows into.
type scratch struct {
	raw    []byte
	values []float32
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// read returns n rows from first on: a view where they are decoded, else decoded
// into s and valid until its next use.
func (w *matrix) read(s *scratch, first, n int) ([]float32, error) {
	if w.values != nil {
		return w.values[first*w.cols : (first+n)*w.cols], nil
	}
	s.raw = slices.Grow(s.raw[:0], n*w.rowBytes)[:n*w.rowBytes]
	s.values = slices.Grow(s.values[:0], n*w.cols)[:n*w.cols]
	if _, err := w.tensor.ReadAt(s.raw, int64(first)*int64(w.rowBytes)); err != nil {
		return nil, err
	}
	if err := w.tensor.Type.Dequantize(s.values, s.raw); err != nil {
		return nil, fmt.Errorf("%s: %w", w.tensor.Name, err)
	}
	return s.values, nil
}

// loader collects what to decode, and decodes it.
type loader struct {
	ctx      context.Context
	threads  *threads
	progress func(done, total int64)

	often  []*matrix // used for every token
	seldom []*matrix // experts, of which a token uses a few
	err    error
}

// vector reads a norm or another small tensor as a whole; nil stays nil.
func (l *loader) vector(t *gguf.Tensor) []float32 {
	if t == nil || l.err != nil {
		return nil
	}
	if l.err = l.ctx.Err(); l.err != nil {
		return nil
	}
	values := make([]float32, t.Elements())
	l.err = t.ReadRows(values, 0, t.Rows())
	return values
}

// weights notes a matrix for decoding; nil stays nil.
func (l *loader) weights(t *gguf.Tensor) *matrix {
	if t == nil {
		return nil
	}
	w := newMatrix(t)
	l.often = append(l.often, w)
	return w
}

func (l *loader) expertRows(t *gguf.Tensor, stride, offset, n int) expertRows {
	w := newMatrix(t)
	l.seldom = append(l.seldom, w)
	return expertRows{matrix: w, stride: stride, offset: offset, n: n}
}

func (l *loader) model(m *Model, a *arch.Model) {
	m.output = l.weights(a.Output)
	m.tokenEmbd = m.output
	if a.Output != a.TokenEmbd {
		m.tokenEmbd = newMatrix(a.TokenEmbd) // read row by row
	}
	m.outputNorm = l.vector(a.OutputNorm)
	m.ropeFactors = l.vector(a.RopeFreqs)
	if m.config.PerLayerDim > 0 {
		m.perLayerTokenEmbd = newMatrix(a.PerLayerTokenEmbd) // read row by row
		m.perLayerModelProj = l.weights(a.PerLayerModelProj)
		m.perLayerProjNorm = l.vector(a.PerLayerProjNorm)
	}
	m.layers = make([]layer, len(a.Layers))
	for i := range a.Layers {
		m.layers[i] = l.layer(m.config, &a.Layers[i])
	}
}

func (l *loader) layer(c *arch.Config, a *arch.Layer) layer {
	r := layer{
		attnNorm: l.vector(a.AttnNorm),
		q:        l.weights(a.Q), k: l.weights(a.K), v: l.weights(a.V),
		qNorm: l.vector(a.QNorm), kNorm: l.vector(a.KNorm),
		attnOutput: l.weights(a.AttnOutput), postAttentionNorm: l.vector(a.PostAttentionNorm),

		ffnNorm: l.vector(a.FFNNorm),
		gate:    l.weights(a.Gate), up: l.weights(a.Up), down: l.weights(a.Down),
		postFFWNorm: l.vector(a.PostFFWNorm),

		inpGate: l.weights(a.InpGate), proj: l.weights(a.Proj), postNorm: l.vector(a.PostNorm),
		outputScale: 1,
	}
	if a.MoE != nil {
		r.moe = l.experts(c, a.MoE)
	}
	if scale := l.vector(a.OutputScale); len(scale) == 1 {
		r.outputScale = scale[0]
	}
	return r
}

func (l *loader) experts(c *arch.Config, a *arch.Experts) *experts {
	d, ffe := c.EmbeddingLength, c.ExpertFeedForward
	x := &experts{
		router: l.weights(a.Router), routerScale: l.vector(a.RouterScale),
		down: l.expertRows(a.Down, d, 0, d), downScale: l.vector(a.DownScale),
		preNorm: l.vector(a.PreNorm), postDenseNorm: l.vector(a.PostDenseNorm), postNorm: l.vector(a.PostNorm),
	}
	if a.GateUp != nil {
		x.gate = l.expertRows(a.GateUp, 2*ffe, 0, ffe)
		x.up = expertRows{matrix: x.gate.matrix, stride: 2 * ffe, offset: ffe, n: ffe}
	} else {
		x.gate = l.expertRows(a.Gate, ffe, 0, ffe)
		x.up = l.expertRows(a.Up, ffe, 0, ffe)
	}
	return x
}

// decode decodes matrices for as long as the budget lasts.
func (l *loader) decode(budget int64) error {
	var chosen []*matrix
	var total int64
	for _, w := range append(l.often, l.seldom...) {
		if size := w.bytes(); size <= budget {
			chosen = append(chosen, w)
			budget -= size
			total += size
		}
	}
	var done int64
	for _, w := range chosen {
		if l.err == nil {
			l.err = l.decodeOne(w)
		}
		if l.err != nil {
			return l.err
		}
		if done += w.bytes(); l.progress != nil {
			l.progress(done, total)
		}
	}
	return l.err
}

func (l *loader) decodeOne(w *matrix) error {
	values := make([]float32, w.rows*w.cols)
	grain := max(1, 1<<18/w.cols)
	err := l.threads.each(w.rows, grain, func(from, to int) error {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		return w.tensor.ReadRows(values[from*w.cols:to*w.cols], from, to-from)
	})
	w.values = values
	return err
}
