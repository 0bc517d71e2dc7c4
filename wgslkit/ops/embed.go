package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// Embed is out[t] = Scale · row ids[t] of Table. An id beyond the table gives zeros.
type Embed struct {
	Label string
	Table *Matrix
	IDs   *wgslkit.Buffer // u32 [width]
	Out   *wgslkit.Buffer // [width, cols]
	Scale float32         // 0 counts as 1
}

// embedParams is Params of wgsl/embed.wgsl.
type embedParams struct {
	Rows, First, Cols, Units      uint32
	RowSize, Plane1, Plane2, Last uint32
	Scale                         float32
}

// Embed records the look-up: a dispatch for each tile of the table.
func (r *Recorder) Embed(o Embed) {
	w := o.Table
	if w == nil || len(w.tiles) == 0 {
		r.fail(o.Label, fmt.Errorf("%w: table", wgslkit.ErrReleased))
		return
	}
	v := w.variant()
	v["THREADS"], v["QUICK_BYTES"] = embedThreads, r.kit.tuning.SmallKernels
	for i, tile := range w.tiles {
		params := embedParams{
			Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
			RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Scale: orOne(o.Scale),
		}
		if i == len(w.tiles)-1 {
			params.Last = 1
		}
		r.dispatch("embed.wgsl", v, wgslkit.Call{
			Label: o.Label, Params: params,
			Bind: bindAll(tile.buffer, o.IDs, o.Out),
			Grid: wgslkit.Grid{X: uint32((w.row.units + embedThreads - 1) / embedThreads), Y: 1, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}

const embedThreads = 32
