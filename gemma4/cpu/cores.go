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

// Matrix is a tensor [cols, rows] of any type, whose rows are read and decoded
// whenever they are used.
type Matrix struct{ *matrix }

// NewMatrix takes a tensor of at least one row. The file that it lies in has to
// stay open for as long as the Matrix is in use.
func NewMatrix(t *gguf.Tensor) Matrix { return Matrix{newMatrix(t)} }

// Rows is the number of outputs of a product with the matrix.
func (w Matrix) Rows() int { return w.rows }

// Mul computes y = x·Wᵀ, with x [n, cols] and y [n, rows].
func (c *Cores) Mul(n int, w Matrix, x, y []float32) error {
	return c.threads.mul(n, whole(w.matrix, x, y))
}

// Dot is Σ aᵢ·bᵢ, of slices of the same length.
func Dot(a, b []float32) float32 { return dot(a, b) }

// Axpy is y = y + alpha·x, of slices of the same length.
func Axpy(alpha float32, x, y []float32) { axpy(alpha, x, y) }
