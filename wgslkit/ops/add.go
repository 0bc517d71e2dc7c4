package ops

import "github.com/gemwire/gemwire/wgslkit"

// Add is X[t] += Y[t].
type Add struct {
	Label string
	X, Y  *wgslkit.Buffer // [width, Size]
	Size  int
}

type addParams struct{ Size uint32 }

// Add records the op.
func (r *Recorder) Add(o Add) {
	r.dispatch("add.wgsl", wgslkit.Variant{"THREADS": gridThreads}, wgslkit.Call{
		Label: o.Label, Params: addParams{uint32(o.Size)},
		Bind: bindAll(o.Y, o.X),
		Grid: wgslkit.Grid{X: uint32(ceilDiv(o.Size, gridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
