package opstest

import (
	"math"

	"github.com/gemwire/gemwire/wgslkit/ops"
)

// rowLimits is what the sums of one source's rows are held within.
type rowLimits struct {
	low, high float64
	bias      []float64 // nil for none
}

func (l rowLimits) of(row int, sum float64) float64 {
	v := min(max(sum, l.low), l.high)
	if l.bias != nil {
		v += l.bias[row]
	}
	return v
}

// bounds gives the product bounds where the shape has them, clamps its input h
// to them and returns those of each source's rows, of which the last has one
// side and no bias.
func (s linearShape) bounds(r *rig, layout ops.Layout, op *ops.Linear, h []float64) []rowLimits {
	limits := make([]rowLimits, len(s.rows))
	for i := range limits {
		limits[i] = rowLimits{low: math.Inf(-1), high: math.Inf(1)}
	}
	if !s.bounded {
		return limits
	}
	const inMin, inMax = -0.75, 1.25
	for i, v := range h {
		h[i] = min(max(v, inMin), inMax)
	}
	var sources []ops.RowBounds
	for i, n := range s.rows {
		limits[i].low = -2 - float64(i)
		given := ops.RowBounds{Rows: n, Low: float32(limits[i].low), High: float32(math.Inf(1))}
		if i+1 < len(s.rows) {
			limits[i].high, limits[i].bias = 3, r.normal(n)
			given.High = 3
			for _, b := range limits[i].bias {
				given.Bias = append(given.Bias, float32(b))
			}
		}
		sources = append(sources, given)
	}
	b, err := r.kit.NewBounds("case", layout, inMin, inMax, sources...)
	r.keep(err)
	r.release = append(r.release, b.Release)
	op.Bounds = b
	return limits
}
