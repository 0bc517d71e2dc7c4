package cpu

import (
	"runtime"

	"github.com/gemwire/gemwire/gguf"
)

// Cores computes as a Model does, for what stands beside the text model: the
// image and audio towers. It may be used by many goroutines at a time and has to
// be closed.
type Cores struct{ threads *threads }

// NewCores starts goroutines for so many cores; 0 means as many as Go may use
// (GOMAXPROCS).
func NewCores(n int) *Cores {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return &Cores{newThreads(n)}
}

// Close ends the goroutines. Nothing may be running or follow.
func (c *Cores) Close() { c.threads.close() }

// Each calls f for parts of at most grain of 0 … n, on several cores where there
// is more than one part, and returns the first error.
func (c *Cores) Each(n, grain int, f func(from, to int) error) error {
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
	return c.threads.mul(n, whole(w.matrix, x, y))
}

// Dot is Σ aᵢ·bᵢ, of slices of the same length.
func Dot(a, b []float32) float32 { return dot(a, b) }

// Axpy is y = y + alpha·x, of slices of the same length.
func Axpy(alpha float32, x, y []float32) { axpy(alpha, x, y) }

// Add is y = y + x.
func Add(y, x []float32) { add(y, x) }

// Scale is x = x · factor.
func Scale(x []float32, factor float32) { scale(x, factor) }

// RMSNorm is y = x / √(mean(x²) + ε) ⊙ w, for vectors of len(w) that lie one
// behind the other in x. y may be x.
func RMSNorm(y, x, w []float32, eps float32) { rmsNorm(y, x, w, eps) }

// RMSNormPlain is RMSNorm without weights, for vectors of length n.
func RMSNormPlain(y, x []float32, n int, eps float32) { rmsNormPlain(y, x, n, eps) }

// Gelu is the tanh approximation, 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
func Gelu(x float32) float32 { return gelu(x) }

// Softmax replaces x, which is not empty, by exp(x − max) and returns the sum of
// that, by which the caller divides.
func Softmax(x []float32) (sum float64) { return softmax(x) }

// Rotation turns the heads of the positions from 0 on.
type Rotation struct{ rotation }

// NewRotation computes the angles p·θ^(−2n/D) / factor[n] of the pairs n < D/2
// for so many positions p; no factors means 1.
func NewRotation(headDim int, theta float32, factors []float32, positions int) Rotation {
	return Rotation{newRotation(headDim, theta, factors, 0, positions)}
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
