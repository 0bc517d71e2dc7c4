package product

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// Bounds hold a product's inputs and the sums of its rows within ranges.
type Bounds struct {
	InMin, InMax float32
	rows         *wgslkit.Buffer // [rows of W] of (low, high, bias, 0)
}

// RowBounds is what the sums of some neighbouring rows of a matrix become:
// clamp(sum, Low, High) + bias.
type RowBounds struct {
	Rows      int
	Low, High float32
	Bias      []float32 // [Rows], nil for none
}

// NewBounds uploads the bounds of a matrix's rows, given in the order of its
// sources. Bounds may be infinite. layout is that of the matrix: of a Paired one
// from two sources, the rows of both alternate.
func NewBounds(k *record.Kit, label string, layout weights.Layout, inMin, inMax float32,
	sources ...RowBounds) (*Bounds, error) {
	if layout == weights.Paired && (len(sources) != 2 || sources[0].Rows != sources[1].Rows) {
		return nil, fmt.Errorf("%w: %s: bounds of %d sources for pairs of rows", wgslkit.ErrValidation, label,
			len(sources))
	}
	total := 0
	for _, s := range sources {
		if s.Bias != nil && len(s.Bias) != s.Rows {
			return nil, fmt.Errorf("%w: %s: %d biases for %d rows", wgslkit.ErrValidation, label, len(s.Bias), s.Rows)
		}
		total += s.Rows
	}
	values := make([]float32, 4*total)
	first, step := 0, 1
	for i, s := range sources {
		if layout == weights.Paired {
			first, step = i, 2
		}
		for r := range s.Rows {
			cell := values[4*(first+step*r):]
			cell[0], cell[1] = finite(s.Low), finite(s.High)
			if s.Bias != nil {
				cell[2] = s.Bias[r]
			}
		}
		first += s.Rows
	}
	rows, err := k.Vector(label, wgslkit.Weights, values)
	if err != nil {
		return nil, err
	}
	return &Bounds{InMin: finite(inMin), InMax: finite(inMax), rows: rows}, nil
}

// finite is v, or the number next to it where it is infinite: a GPU need not
// know infinities.
func finite(v float32) float32 { return min(max(v, -math.MaxFloat32), math.MaxFloat32) }

// Release frees the bounds. Releasing twice, or nil, does nothing.
func (b *Bounds) Release() {
	if b != nil {
		b.rows.Release()
	}
}
