package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/gemwire/gemwire/quant"
)

// Plain is the set in Go. Sums that many terms go into (norms, softmax) are
// kept in float64.
type Plain struct{}

func (Plain) String() string { return "Go" }

// vectors are gonum's float32 kernels, in assembly where it has some.
var vectors gonum.Implementation

// Dot implements Set.
func (Plain) Dot(a, b []float32) float32 { return vectors.Sdot(len(a), a, 1, b, 1) }

// Axpy implements Set.
func (Plain) Axpy(alpha float32, x, y []float32) { vectors.Saxpy(len(x), alpha, x, 1, y, 1) }

// rowsPerPass is how many rows of weights are taken over all tokens at a time,
// so that they stay in the cache.
const rowsPerPass = 16

// Mul implements Set.
func (p Plain) Mul(y []float32, stride int, w, x []float32, cols int) {
	for ; len(w) > rowsPerPass*cols; w, y = w[rowsPerPass*cols:], y[rowsPerPass:] {
		p.pass(y, stride, w[:rowsPerPass*cols], x, cols)
	}
	p.pass(y, stride, w, x, cols)
}

func (p Plain) pass(y []float32, stride int, w, x []float32, cols int) {
	rows, tokens := len(w)/cols, len(x)/cols
	for t := range tokens {
		x, y := x[t*cols:(t+1)*cols], y[t*stride:t*stride+rows]
		for r := range y {
			y[r] = p.Dot(w[r*cols:(r+1)*cols], x)
		}
	}
}

// Fused implements Set: decoded weights are faster here.
func (Plain) Fused(quant.Type) bool { return false }

// MulRows implements Set, for one row at a time.
func (p Plain) MulRows(y []float32, t quant.Type, w []byte, x []float32) {
	row, rowBytes := make([]float32, len(x)), len(w)/max(len(y), 1)
	for r := range y {
		if err := t.Dequantize(row, w[r*rowBytes:(r+1)*rowBytes]); err != nil {
			panic(err)
		}
		y[r] = p.Dot(row, x)
	}
}

// Decode implements Set.
func (Plain) Decode(dst []float32, t quant.Type, src []byte) error { return t.Dequantize(dst, src) }

// Scores implements Set.
func (p Plain) Scores(y, q, k []float32, stride int) {
	for j := range y {
		y[j] = p.Dot(q, k[j*stride:j*stride+len(q)])
	}
}

// WeightedSum implements Set.
func (p Plain) WeightedSum(y, weights, v []float32, stride int) {
	for j, weight := range weights {
		p.Axpy(weight, v[j*stride:j*stride+len(y)], y)
	}
}

// Softmax implements Set.
func (Plain) Softmax(x []float32) (sum float64) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	for i, v := range x {
		e := math.Exp(float64(v - top))
		x[i] = float32(e)
		sum += e
	}
	return sum
}

// RMSNorm implements Set.
func (Plain) RMSNorm(y, x, w []float32, eps float32) {
	n := len(w)
	for i := 0; i+n <= len(x); i += n {
		scale := rmsScale(x[i:i+n], eps)
		for j, v := range x[i : i+n] {
			y[i+j] = float32(float64(v)*scale) * w[j]
		}
	}
}

// RMSNormPlain implements Set.
func (Plain) RMSNormPlain(y, x []float32, n int, eps float32) {
	for i := 0; i+n <= len(x); i += n {
		scale := rmsScale(x[i:i+n], eps)
		for j, v := range x[i : i+n] {
			y[i+j] = float32(float64(v) * scale)
		}
	}
}

func rmsScale(x []float32, eps float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return 1 / math.Sqrt(sum/float64(len(x))+float64(eps))
}

// GatedGelu implements Set.
func (Plain) GatedGelu(gate, up []float32) {
	for i, v := range gate {
		gate[i] = Gelu(v) * up[i]
	}
}

// Softcap implements Set.
func (Plain) Softcap(x []float32, limit float32) {
	for i, v := range x {
		x[i] = Softcap(v, limit)
	}
}
