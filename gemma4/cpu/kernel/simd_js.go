//go:build gemwire_simd

package kernel

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gemwire/gemwire/quant"
)

func best() Set { return SIMD{} }

// SIMD is the set in WebAssembly SIMD. What it cannot decode, quant decodes.
type SIMD struct{}

func (SIMD) String() string { return "WebAssembly SIMD" }

//go:wasmimport gemwire_simd axpy
//go:noescape
func wasmAxpy(alpha float32, x, y unsafe.Pointer, n int32)

//go:wasmimport gemwire_simd mul
//go:noescape
func wasmMul(y unsafe.Pointer, stride int32, w, x unsafe.Pointer, rows, cols, tokens int32)

//go:wasmimport gemwire_simd scores
//go:noescape
func wasmScores(y, q, k unsafe.Pointer, stride, n, dim int32)

//go:wasmimport gemwire_simd weightedSum
//go:noescape
func wasmWeightedSum(y, p, v unsafe.Pointer, stride, n, dim int32)

//go:wasmimport gemwire_simd decode
//go:noescape
func wasmDecode(t int32, dst, src unsafe.Pointer, n int32)

//go:wasmimport gemwire_simd mulRows
//go:noescape
func wasmMulRows(t int32, y, w unsafe.Pointer, rowBytes int32, x unsafe.Pointer, rows, cols int32,
	scratch unsafe.Pointer)

//go:wasmimport gemwire_simd softmax
//go:noescape
func wasmSoftmax(x unsafe.Pointer, n int32) float64

//go:wasmimport gemwire_simd gatedGelu
//go:noescape
func wasmGatedGelu(gate, up unsafe.Pointer, n int32)

//go:wasmimport gemwire_simd softcap
//go:noescape
func wasmSoftcap(x unsafe.Pointer, n int32, limit float32)

//go:wasmimport gemwire_simd rmsNorm
//go:noescape
func wasmRMSNorm(y, x, w unsafe.Pointer, n, vectors int32, eps float32)

//go:wasmimport gemwire_simd rmsNormPlain
//go:noescape
func wasmRMSNormPlain(y, x unsafe.Pointer, n, vectors int32, eps float32)

func at(x []float32) unsafe.Pointer   { return unsafe.Pointer(unsafe.SliceData(x)) }
func bytesAt(x []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// shape panics unless n values are so many vectors of a length.
func shape(what string, n, vectors, length int) {
	if n != vectors*length {
		panic(fmt.Sprintf("kernel: %s has %d values, not %d times %d", what, n, vectors, length))
	}
}

// Dot implements Set.
func (SIMD) Dot(a, b []float32) float32 {
	var sum [1]float32
	b = b[:len(a)]
	wasmScores(at(sum[:]), at(a), at(b), 0, 1, int32(len(a)))
	return sum[0]
}

// Axpy implements Set.
func (SIMD) Axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	wasmAxpy(alpha, at(x), at(y), int32(len(x)))
}

// Mul implements Set.
func (SIMD) Mul(y []float32, stride int, w, x []float32, cols int) {
	rows, tokens := len(w)/cols, len(x)/cols
	if rows == 0 || tokens == 0 {
		return
	}
	shape("w", len(w), rows, cols)
	shape("x", len(x), tokens, cols)
	y = y[:(tokens-1)*stride+rows]
	wasmMul(at(y), int32(stride), at(w), at(x), int32(rows), int32(cols), int32(tokens))
}

// Fused implements Set. Float16, which WebAssembly does not know, is left out:
// decoded once it is faster.
func (SIMD) Fused(t quant.Type) bool { return t != quant.F16 && decodes(t) }

// decodes says whether the kernels know a type.
func decodes(t quant.Type) bool {
	switch t {
	case quant.F16, quant.BF16, quant.Q8_0, quant.Q4_K, quant.Q6_K:
		return true
	}
	return false
}

// preparedBlock is what 256 values of a vector take in fixed point, in bytes
// (wasm/src/fixed.ts).
const preparedBlock = 1088

// preparedPool holds memory for such vectors.
var preparedPool = sync.Pool{New: func() any { return new([]byte) }}

// MulRows implements Set.
func (s SIMD) MulRows(y []float32, t quant.Type, w []byte, x []float32) {
	if len(y) == 0 {
		return
	}
	if !s.Fused(t) {
		Plain{}.MulRows(y, t, w, x)
		return
	}
	rowBytes, err := t.Size(int64(len(x)))
	if err != nil {
		panic(err)
	}
	shape("w", len(w), len(y), int(rowBytes))
	scratch := preparedPool.Get().(*[]byte)
	defer preparedPool.Put(scratch)
	if n := (len(x) + 255) / 256 * preparedBlock; len(*scratch) < n {
		*scratch = make([]byte, n)
	}
	wasmMulRows(int32(t), at(y), bytesAt(w), int32(rowBytes), at(x), int32(len(y)), int32(len(x)), bytesAt(*scratch))
}

// Decode implements Set.
func (s SIMD) Decode(dst []float32, t quant.Type, src []byte) error {
	size, err := t.Size(int64(len(dst)))
	if err != nil || size != int64(len(src)) || !decodes(t) {
		return t.Dequantize(dst, src)
	}
	wasmDecode(int32(t), at(dst), bytesAt(src), int32(len(dst)))
	return nil
}

// Scores implements Set.
func (SIMD) Scores(y, q, k []float32, stride int) {
	if len(y) == 0 {
		return
	}
	k = k[:(len(y)-1)*stride+len(q)]
	wasmScores(at(y), at(q), at(k), int32(stride), int32(len(y)), int32(len(q)))
}

// WeightedSum implements Set.
func (SIMD) WeightedSum(y, p, v []float32, stride int) {
	if len(p) == 0 {
		return
	}
	v = v[:(len(p)-1)*stride+len(y)]
	wasmWeightedSum(at(y), at(p), at(v), int32(stride), int32(len(p)), int32(len(y)))
}

// Softmax implements Set.
func (SIMD) Softmax(x []float32) (sum float64) {
	_ = x[0]
	return wasmSoftmax(at(x), int32(len(x)))
}

// RMSNorm implements Set.
func (SIMD) RMSNorm(y, x, w []float32, eps float32) {
	n, vectors := len(w), len(x)/len(w)
	y = y[:vectors*n]
	wasmRMSNorm(at(y), at(x), at(w), int32(n), int32(vectors), eps)
}

// RMSNormPlain implements Set.
func (SIMD) RMSNormPlain(y, x []float32, n int, eps float32) {
	vectors := len(x) / n
	y = y[:vectors*n]
	wasmRMSNormPlain(at(y), at(x), int32(n), int32(vectors), eps)
}

// GatedGelu implements Set.
func (SIMD) GatedGelu(gate, up []float32) {
	up = up[:len(gate)]
	wasmGatedGelu(at(gate), at(up), int32(len(gate)))
}

// Softcap implements Set.
func (SIMD) Softcap(x []float32, limit float32) { wasmSoftcap(at(x), int32(len(x)), limit) }
