package kernel

import "math"

const (
	geluLinear = 0.7978845608028654 // √(2/π)
	geluCubic  = 0.044715
)

// Gelu is the tanh approximation: with u = √(2/π)·(x + 0.044715·x³), 0.5·x·(1 + tanh u).
func Gelu(x float32) float32 {
	v := float64(x)
	return float32(0.5 * v * (1 + geluTanh(v)))
}

// GeluSlope is Gelu and its derivative:
// 0.5·(1 + tanh u) + 0.5·x·(1 − tanh² u)·√(2/π)·(1 + 3·0.044715·x²).
func GeluSlope(x float32) (value, slope float32) {
	v := float64(x)
	tanh := geluTanh(v)
	rest := 0.5 * v * (1 - tanh*tanh) * geluLinear * (1 + 3*geluCubic*v*v)
	return float32(0.5 * v * (1 + tanh)), float32(0.5*(1+tanh) + rest)
}

// geluTanh is tanh(√(2/π)·(x + 0.044715·x³)).
func geluTanh(x float64) float64 {
	return math.Tanh(geluLinear * (x + geluCubic*x*x*x))
}

// Softcap is limit·tanh(x / limit).
func Softcap(x, limit float32) float32 {
	return float32(float64(limit) * math.Tanh(float64(x)/float64(limit)))
}

// SoftcapSlope is the derivative of Softcap where that is y: 1 − (y/limit)².
func SoftcapSlope(y, limit float32) float64 {
	tanh := float64(y / limit)
	return 1 - tanh*tanh
}
