package kernel

import "github.com/gemwire/gemwire/quant"

// Set is a complete set of kernels. Slices must have the lengths that the
// formulas want; the kernels check them and panic, as indexing does.
type Set interface {
	// String names what the kernels are made of.
	String() string

	// Dot is Σ aᵢ·bᵢ.
	Dot(a, b []float32) float32
	// Axpy is y = y + alpha·x.
	Axpy(alpha float32, x, y []float32)

	// Mul is y = x·wᵀ for decoded weights w, [rows, cols], and x, [tokens, cols].
	// Token t's results are y[t·stride:][:rows].
	Mul(y []float32, stride int, w, x []float32, cols int)
	// Fused says whether MulRows takes weights of a type.
	Fused(t quant.Type) bool
	// MulRows is yᵣ = wᵣ·x, for rows of whole blocks as a file stores them.
	MulRows(y []float32, t quant.Type, w []byte, x []float32)
	// Decode decodes whole blocks, as quant's Dequantize does.
	Decode(dst []float32, t quant.Type, src []byte) error

	// Scores are yⱼ = q·k[j·stride:][:len(q)].
	Scores(y, q, k []float32, stride int)
	// WeightedSum is y = y + Σ pⱼ·v[j·stride:][:len(y)].
	WeightedSum(y, p, v []float32, stride int)
	// Softmax replaces x by exp(x − max) and returns the sum of that, by which the
	// caller divides.
	Softmax(x []float32) (sum float64)

	// RMSNorm is y = x / √(mean(x²) + ε) ⊙ w, for vectors of len(w) that lie one
	// behind the other in x. y may be x.
	RMSNorm(y, x, w []float32, eps float32)
	// RMSNormPlain is RMSNorm without weights, for vectors of length n.
	RMSNormPlain(y, x []float32, n int, eps float32)
	// GatedGelu is gate = gelu(gate) ⊙ up, with gelu's tanh approximation,
	// 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
	GatedGelu(gate, up []float32)
	// Softcap is x = limit·tanh(x / limit).
	Softcap(x []float32, limit float32)
}

// Best is the fastest set that the program was built with and the processor can run. Tests may put Plain here.
var Best Set = best()
