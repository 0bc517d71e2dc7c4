package rope

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
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

// Record records the op.
func (o Rotate) Record(r *record.Recorder) {
	if o.Rope == nil || o.Rope.dim > o.HeadDim {
		r.Fail(o.Label, fmt.Errorf("%w: %d rotated values in heads of %d", wgslkit.ErrValidation, o.Rope.Dim(),
			o.HeadDim))
		return
	}
	size := o.Heads * o.HeadDim
	r.Dispatch(Files, "rotate.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "BACK": o.Back, "ADD": o.Add},
		wgslkit.Call{
			Label: o.Label, Params: rotateParams{uint32(size), uint32(o.HeadDim), uint32(o.Rope.dim)},
			Bind: record.BindAll(o.Positions, o.Rope.Table, o.X, o.Y),
			Grid: wgslkit.Grid{X: uint32(record.CeilDiv(size, record.GridThreads)), Y: 1, Tile: 1,
				Along: wgslkit.AlongY},
		})
}
