package cpu

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/gguf"
)

// matrix is a tensor as rows of weights, decoded or not.
type matrix struct {
	tensor     *gguf.Tensor
	rows, cols int
	rowBytes   int  // as the tensor stores them
	lookup     bool // only single rows are read

	// What the budget reached is in memory, in one of two forms.
	values []float32 // [rows, cols]
	stored []byte    // as in the file, for kernels that decode while they multiply

	adapters []lowRank // see SetAdapters
}

func newMatrix(t *gguf.Tensor) *matrix {
	w := &matrix{tensor: t, rows: t.Rows(), cols: t.RowLen()}
	w.rowBytes = int(t.Size / int64(w.rows))
	return w
}

// Bytes is what a tensor takes where all weights are in memory. A table is a
// tensor of which single rows are read.
func Bytes(t *gguf.Tensor, table bool) int64 {
	w := newMatrix(t)
	w.lookup = table
	return w.bytes()
}

// bytes is what the matrix takes in memory.
func (w *matrix) bytes() int64 {
	if w.keepsStored() {
		return w.tensor.Size
	}
	return int64(w.rows) * int64(w.cols) * 4
}

// keepsStored says that the matrix had better stay in the file's form: a table
// that is only looked up, or a type that kernels decode as they go.
func (w *matrix) keepsStored() bool { return w.lookup || kernel.Best.Fused(w.tensor.Type) }

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
	raw, err := w.readStored(s, first, n)
	if err != nil {
		return nil, err
	}
	s.values = slices.Grow(s.values[:0], n*w.cols)[:n*w.cols]
	if err := kernel.Best.Decode(s.values, w.tensor.Type, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", w.tensor.Name, err)
	}
	return s.values, nil
}

// readStored returns n rows from first on as the file stores them.
func (w *matrix) readStored(s *scratch, first, n int) ([]byte, error) {
	if w.stored != nil {
		return w.storedRows(first, n), nil
	}
	s.raw = slices.Grow(s.raw[:0], n*w.rowBytes)[:n*w.rowBytes]
	_, err := w.tensor.ReadAt(s.raw, int64(first)*int64(w.rowBytes))
	return s.raw, err
}

func (w *matrix) storedRows(first, n int) []byte {
	return w.stored[first*w.rowBytes : (first+n)*w.rowBytes]
}

// loader collects what to decode, and decodes it.
type loader struct {
	ctx      context.Context
	threads  *threads
	progress func(done, total int64)

	whole bool // keep everything

	often  []*matrix // used for every token
	seldom []*matrix // experts, of which a token uses a few, and tables
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

// table notes a matrix of which a token needs one row. It is read from the file
// row by row, unless everything is kept.
func (l *loader) table(t *gguf.Tensor) *matrix {
	w := newMatrix(t)
	w.lookup = true
	if l.whole {
		l.seldom = append(l.seldom, w)
	}
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
		m.tokenEmbd = l.table(a.TokenEmbd)
	}
	m.outputNorm = l.vector(a.OutputNorm)
	m.ropeFactors = l.vector(a.RopeFreqs)
	if m.config.PerLayerDim > 0 {
		m.perLayerTokenEmbd = l.table(a.PerLayerTokenEmbd)
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

// byName is what was loaded. Tied matrices share what is in memory.
func (l *loader) byName() map[string]*matrix {
	loaded := map[string]*matrix{}
	for _, w := range append(l.often, l.seldom...) {
		loaded[w.tensor.Name] = w
	}
	return loaded
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
	if l.whole && len(chosen) < len(l.often)+len(l.seldom) {
		return l.tooLarge()
	}
	var done int64
	for _, w := range chosen {
		if l.err == nil {
			l.err = l.load(w)
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

func (l *loader) tooLarge() error {
	var wanted int64
	for _, w := range append(l.often, l.seldom...) {
		wanted += w.bytes()
	}
	return fmt.Errorf("%w: they take %d MB", ErrTooLarge, (wanted+999_999)/1_000_000)
}

func (l *loader) load(w *matrix) error {
	if w.keepsStored() {
		return l.loadStored(w)
	}
	return l.decodeOne(w)
}

// bytesPerRead is how much of a tensor is read before the next look at the context.
const bytesPerRead = 4 << 20

func (l *loader) loadStored(w *matrix) error {
	stored := make([]byte, w.tensor.Size)
	for at := 0; at < len(stored); at += bytesPerRead {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if _, err := w.tensor.ReadAt(stored[at:min(at+bytesPerRead, len(stored))], int64(at)); err != nil {
			return err
		}
	}
	w.stored = stored
	return nil
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
