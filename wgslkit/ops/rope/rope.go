package rope

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Rope is a rotation's table of frequencies on the GPU: pair n of a head is
// (n, n + dim/2), turned at position p by the angle p · theta^(−2n/dim) / factor[n].
// What lies beyond dim in a head stays as it is.
type Rope struct {
	Table *wgslkit.Buffer
	dim   int
}

// NewRope makes the table for dim rotated values of each head (an even
// number). factors has dim/2 values, or is nil for ones.
func NewRope(k *record.Kit, label string, theta float64, dim int, factors []float32) (*Rope, error) {
	if dim <= 0 || dim%2 != 0 {
		return nil, fmt.Errorf("%w: %s: %d rotated values, wanted a positive even number", wgslkit.ErrValidation, label,
			dim)
	}
	if factors != nil && len(factors) < dim/2 {
		return nil, fmt.Errorf("%w: %s: %d factors for %d pairs", wgslkit.ErrValidation, label, len(factors), dim/2)
	}
	words := make([]uint32, 0, dim)
	for n := range dim / 2 {
		f := math.Pow(theta, -2*float64(n)/float64(dim))
		if factors != nil {
			f /= float64(factors[n])
		}
		high, low := turns(f)
		words = append(words, high, low)
	}
	table, err := k.Words(label, wgslkit.Weights, words)
	if err != nil {
		return nil, err
	}
	return &Rope{Table: table, dim: dim}, nil
}

// turns is the fraction of a full turn that one position adds, in units of
// 2⁻³² (high) and 2⁻⁴⁸ (low): whole turns fall out of integer products, so
// that the angle stays exact at any position.
func turns(radians float64) (high, low uint32) {
	t := radians / (2 * math.Pi)
	t -= math.Floor(t)
	fixed := uint64(math.Round(t * (1 << 48)))
	return uint32(fixed >> 16), uint32(fixed & 0xffff)
}

// Dim is how many values of each head are rotated, 0 for a nil Rope.
func (r *Rope) Dim() int {
	if r == nil {
		return 0
	}
	return r.dim
}

// Release frees the table.
func (r *Rope) Release() {
	if r != nil {
		r.Table.Release()
	}
}

// Binding is the table, or any other buffer for a kernel that rotates nothing.
func (r *Rope) Binding(otherwise *wgslkit.Buffer) wgslkit.Binding {
	if r == nil {
		return otherwise.All()
	}
	return r.Table.All()
}
