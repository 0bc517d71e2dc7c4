package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Add is X[t] += Y[t].
type Add struct {
	Label string
	X, Y  *wgslkit.Buffer // [width, Size]
	Size  int
}

type addParams struct{ Size uint32 }

// Record records the op.
func (o Add) Record(r *record.Recorder) {
	r.Dispatch(Files, "add.wgsl", wgslkit.Variant{"THREADS": record.GridThreads}, wgslkit.Call{
		Label: o.Label, Params: addParams{uint32(o.Size)},
		Bind: record.BindAll(o.Y, o.X),
		Grid: wgslkit.Grid{X: uint32(record.CeilDiv(o.Size, record.GridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
