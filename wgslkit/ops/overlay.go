package ops

import "github.com/gemwire/gemwire/wgslkit"

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

// Overlay records the op.
func (r *Recorder) Overlay(o Overlay) {
	const threads = 64
	r.dispatch("overlay.wgsl", wgslkit.Variant{"THREADS": threads}, wgslkit.Call{
		Label: o.Label, Params: overlayParams{uint32(o.Size)},
		Bind: bindAll(o.Marks, o.Rows, o.Out),
		Grid: wgslkit.Grid{X: uint32((o.Size + threads - 1) / threads), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
