package cpu

import (
	"math"

	"github.com/gemwire/gemwire/multimodal/arch"
)

// rotation2D holds cos and sin of every angle of the positions along a side:
// [positions, D/4]. The first half of a head is rotated by the patch's column,
// the second half by its row.
type rotation2D struct {
	columns  int
	quarter  int // D/4, pairs in half a head
	cos, sin []float32
}

// newRotation2D computes the angles p·100^(−2j/(D/2)) of pairs j < D/4. The
// frequencies and angles are rounded to float32 as the model's release does.
func newRotation2D(headDim, columns, rows int) rotation2D {
	quarter := headDim / 4
	positions := max(columns, rows)
	r := rotation2D{columns: columns, quarter: quarter, cos: make([]float32, positions*quarter),
		sin: make([]float32, positions*quarter)}
	for j := range quarter {
		frequency := float32(math.Pow(arch.VisionTheta, -float64(2*j)/float64(2*quarter)))
		for p := range positions {
			sin, cos := math.Sincos(float64(float32(p) * frequency))
			r.cos[p*quarter+j], r.sin[p*quarter+j] = float32(cos), float32(sin)
		}
	}
	return r
}

// apply rotates the heads of the patches from first on, [patches, heads, D], in
// place.
func (r rotation2D) apply(x []float32, first, heads int) {
	headDim := 4 * r.quarter
	for i := 0; i*heads*headDim < len(x); i++ {
		column, row := (first+i)%r.columns, (first+i)/r.columns
		for h := range heads {
			head := x[(i*heads+h)*headDim : (i*heads+h+1)*headDim]
			r.half(head[:headDim/2], column)
			r.half(head[headDim/2:], row)
		}
	}
}

// half rotates half a head by a position: pair j is the values j and j + D/4.
func (r rotation2D) half(x []float32, position int) {
	cos, sin := r.cos[position*r.quarter:], r.sin[position*r.quarter:]
	a, b := x[:r.quarter], x[r.quarter:]
	for j := range a {
		a[j], b[j] = a[j]*cos[j]-b[j]*sin[j], b[j]*cos[j]+a[j]*sin[j]
	}
}
