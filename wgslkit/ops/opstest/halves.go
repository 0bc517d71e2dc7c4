package opstest

import (
	"math"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// half16 rounds values to float16.
func (r *rig) half16(values []float64) []float64 {
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	raw := make([]byte, 2*len(values))
	r.keep(quant.F16.Quantize(raw, single))
	r.keep(quant.F16.Dequantize(single, raw))
	out := make([]float64, len(values))
	for i, v := range single {
		out[i] = float64(v)
	}
	return out
}

// halfWeights is what products through float16 make of weights.
func (r *rig) halfWeights(parts []rows) []rows {
	out := make([]rows, len(parts))
	for i, p := range parts {
		out[i] = rows{source: p.source, values: r.half16(p.values)}
	}
	return out
}

// halfInputs is what they make of inputs, cols to a token, whose largest they put
// between 2¹⁴ and 2¹⁵.
func (r *rig) halfInputs(x []float64, cols int) []float64 {
	var out []float64
	for ; len(x) > 0; x = x[cols:] {
		largest := 0.0
		for _, v := range x[:cols] {
			largest = max(largest, math.Abs(v))
		}
		_, exponent := math.Frexp(largest)
		out = append(out, scaled(r.half16(scaled(x[:cols], math.Ldexp(1, 15-exponent))), math.Ldexp(1, exponent-15))...)
	}
	return out
}

// held is inputs within the bounds of a product, nil for none.
func held(b *ops.Bounds, x []float64) []float64 {
	if b == nil {
		return x
	}
	for i, v := range x {
		x[i] = min(max(v, float64(b.InMin)), float64(b.InMax))
	}
	return x
}
