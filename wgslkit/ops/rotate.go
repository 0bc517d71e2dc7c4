package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// Rotate is Y[t] = X[t] with each head turned as Rope has it at Positions[t], or
// with Back turned the other way, which is what the op hands back; with Add
// Y[t] += it.
type Rotate struct {
	Label          string
	X, Y           *wgslkit.Buffer // [width, Heads·HeadDim]
	Positions      *wgslkit.Buffer // u32 [width]
	Rope           *Rope
	Heads, HeadDim int
	Back, Add      bool
}

type rotateParams struct{ Size, HeadDim, Rotated uint32 }

// Rotate records the op.
func (r *Recorder) Rotate(o Rotate) {
	if o.Rope == nil || o.Rope.dim > o.HeadDim {
		r.fail(o.Label, fmt.Errorf("%w: %d rotated values in heads of %d", wgslkit.ErrValidation, o.Rope.Dim(), o.HeadDim))
		return
	}
	size := o.Heads * o.HeadDim
	r.dispatch("rotate.wgsl", wgslkit.Variant{"THREADS": gridThreads, "BACK": o.Back, "ADD": o.Add}, wgslkit.Call{
		Label: o.Label, Params: rotateParams{uint32(size), uint32(o.HeadDim), uint32(o.Rope.dim)},
		Bind: bindAll(o.Positions, o.Rope.table, o.X, o.Y),
		Grid: wgslkit.Grid{X: uint32(ceilDiv(size, gridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
