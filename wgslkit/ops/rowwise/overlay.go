package rowwise

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Overlay is Out[t] = Rows[t] for the tokens t whose mark is not 0. The other
// rows of Out stay as they are.
type Overlay struct {
	Label string
	Marks *wgslkit.Buffer // u32 [width]
	Rows  *wgslkit.Buffer // [width, Size]
	Out   *wgslkit.Buffer // [width, Size]
	Size  int
}

type overlayParams struct{ Size uint32 }

// Record records the op.
func (o Overlay) Record(r *record.Recorder) {
	const threads = 64
	r.Dispatch(Files, "overlay.wgsl", wgslkit.Variant{"THREADS": threads}, wgslkit.Call{
		Label: o.Label, Params: overlayParams{uint32(o.Size)},
		Bind: record.BindAll(o.Marks, o.Rows, o.Out),
		Grid: wgslkit.Grid{X: uint32((o.Size + threads - 1) / threads), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
