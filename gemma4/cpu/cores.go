package cpu

import (
	"context"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/gguf"
)

// Cores computes as a Model does, for what stands beside the text model: the
// image and audio towers, and training. It may be used by many goroutines at a
// time and has to be closed.
type Cores struct {
	threads *threads
	yield   func() // as in Options; nil where others have their turn anyway
	lent    bool   // by a Model
}

// NewCores starts goroutines for so many cores; 0 means as many as Go may use
// (GOMAXPROCS).
func NewCores(n int) *Cores {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return &Cores{threads: newThreads(n)}
}

// Cores are those that the model computes with, for as long as it is open.
func (m *Model) Cores() *Cores { return &Cores{threads: m.threads, yield: m.yield, lent: true} }

// Close ends the goroutines, unless a model still computes with them. Nothing may
// be running or follow.
func (c *Cores) Close() {
	if !c.lent {
		c.threads.close()
	}
}

func (c *Cores) turn() {
	if c.yield != nil {
		c.yield()
	}
}

// Each calls f for parts of at most grain of 0 … n, on several cores where there
// is more than one part, and returns the first error.
func (c *Cores) Each(n, grain int, f func(from, to int) error) error {
	defer c.turn()
	return c.threads.each(n, grain, f)
}

// Matrix is a tensor as rows of weights, of any type, that are read and decoded
// whenever they are used.
type Matrix struct{ *matrix }

// NewMatrix takes the values of a tensor as rows of so many; 0 means the
// tensor's own. They have to fill whole rows, and rows whole blocks of the
// tensor's type. The file that it lies in has to stay open for as long as the
// Matrix is in use.
func NewMatrix(t *gguf.Tensor, cols int) Matrix {
	w := newMatrix(t)
	if cols != 0 {
		w.rows = w.rows * w.cols / cols
		w.cols = cols
		w.rowBytes = int(t.Size / int64(w.rows))
	}
	return Matrix{w}
}

// Matrix is NewMatrix(t, 0) with what the model has of the tensor in memory. What
// adapters add to it is left out.
func (m *Model) Matrix(t *gguf.Tensor) Matrix {
	w := newMatrix(t)
	if loaded := m.loaded[t.Name]; loaded != nil {
		w.values, w.stored = loaded.values, loaded.stored
	}
	return Matrix{w}
}

// Load brings the matrix into memory, as the file stores it where kernels multiply
// that, and else decoded.
func (c *Cores) Load(ctx context.Context, w Matrix) error {
	l := &loader{ctx: ctx, threads: c.threads}
	return l.load(w.matrix)
}

// Rows is the number of outputs of a product with the matrix.
func (w Matrix) Rows() int { return w.rows }

// Cols is the number of inputs of a product with the matrix.
func (w Matrix) Cols() int { return w.cols }

// Read decodes row i of the matrix into y, [cols].
func (w Matrix) Read(y []float32, i int) error {
	scratch := scratchPool.Get().(*scratch)
	defer scratchPool.Put(scratch)
	values, err := w.read(scratch, i, 1)
	copy(y, values)
	return err
}

// Mul computes y = x·Wᵀ, with x [n, cols] and y [n, rows].
func (c *Cores) Mul(n int, w Matrix, x, y []float32) error {
	defer c.turn()
	return c.threads.mul(n, whole(w.matrix, x, y))
}

// Dot is Σ aᵢ·bᵢ, of slices of the same length.
func Dot(a, b []float32) float32 { return dot(a, b) }

// Axpy is y = y + alpha·x, of slices of the same length.
func Axpy(alpha float32, x, y []float32) { axpy(alpha, x, y) }

// Product is y = x·wᵀ for weights w, [rows, cols], and x, [n, cols]. Vector t's
// results are y[t·stride:][:rows].
func Product(y []float32, stride int, w, x []float32, cols int) {
	kernel.Best.Mul(y, stride, w, x, cols)
}

// Scores are yⱼ = q·k[j·stride:][:len(q)].
func Scores(y, q, k []float32, stride int) { kernel.Best.Scores(y, q, k, stride) }

// WeightedSum is y = y + Σ wⱼ·v[j·stride:][:len(y)].
func WeightedSum(y, w, v []float32, stride int) { kernel.Best.WeightedSum(y, w, v, stride) }

// GatedGelu is gate = gelu(gate) ⊙ up.
func GatedGelu(gate, up []float32) { kernel.Best.GatedGelu(gate, up) }

// Add is y = y + x.
func Add(y, x []float32) { add(y, x) }

// Scale is x = x · factor.
func Scale(x []float32, factor float32) { scale(x, factor) }

// RMSNorm is y = x / √(mean(x²) + ε) ⊙ w, for vectors of len(w) that lie one
// behind the other in x. y may be x.
func RMSNorm(y, x, w []float32, eps float32) { rmsNorm(y, x, w, eps) }

// RMSNormPlain is RMSNorm without weights, for vectors of length n.
func RMSNormPlain(y, x []float32, n int, eps float32) { rmsNormPlain(y, x, n, eps) }

// Softmax replaces x, which is not empty, by exp(x − max) and returns the sum of
// that, by which the caller divides.
func Softmax(x []float32) (sum float64) { return softmax(x) }

// Rotation turns the heads of the positions from 0 on.
type Rotation struct{ rotation }

// NewRotation computes the angles p·θ^(−2n/D) / factor[n] of the pairs n < D/2
// for so many positions p; no factors means 1.
func NewRotation(headDim int, theta float32, factors []float32, positions int) Rotation {
	return Rotation{newRotation(headDim, theta, factors, run(0, positions))}
}

// Turn rotates the heads of one position in place, [heads, D].
func (r Rotation) Turn(x []float32, heads, position int) {
	from, to := position*r.half, (position+1)*r.half
	rotation{half: r.half, cos: r.cos[from:to], sin: r.sin[from:to]}.apply(x, heads)
}

// Inverse is the rotation by the same angles the other way.
func (r Rotation) Inverse() Rotation {
	back := make([]float32, len(r.sin))
	for i, s := range r.sin {
		back[i] = -s
	}
	return Rotation{rotation{half: r.half, cos: r.cos, sin: back}}
}
