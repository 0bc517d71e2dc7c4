package weights

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// Embed is out[t] = Scale · row ids[t] of Table. An id beyond the table gives zeros.
type Embed struct {
	Label string
	Table *Matrix
	IDs   *wgslkit.Buffer // u32 [width]
	Out   *wgslkit.Buffer // [width, cols]
	Scale float32         // 0 counts as 1
}

// embedParams is Params of embed.wgsl.
type embedParams struct {
	Rows, First, Cols, Units      uint32
	RowSize, Plane1, Plane2, Last uint32
	Scale                         float32
}

// Record records the look-up: a dispatch for each tile of the table.
func (o Embed) Record(r *record.Recorder) {
	w := o.Table
	if w == nil || len(w.Tiles) == 0 {
		r.Fail(o.Label, fmt.Errorf("%w: table", wgslkit.ErrReleased))
		return
	}
	v := w.Variant()
	v["THREADS"] = embedThreads // and no QUICK_BYTES: rows are exactly what their blocks hold
	for i, tile := range w.Tiles {
		params := embedParams{
			Rows: uint32(tile.Rows), First: uint32(tile.First), Cols: uint32(w.Cols), Units: uint32(w.Row.Units),
			RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1), Plane2: w.Row.BeginOf(2),
			Scale: record.OrOne(o.Scale),
		}
		if i == len(w.Tiles)-1 {
			params.Last = 1
		}
		r.Dispatch(Files, "embed.wgsl", v, wgslkit.Call{
			Label: o.Label, Params: w.WithCodebook(params),
			Bind: record.BindAll(tile.Buffer, o.IDs, o.Out),
			Grid: wgslkit.Grid{X: uint32((w.Row.Units + embedThreads - 1) / embedThreads), Y: 1, Tile: 1,
				Along: wgslkit.AlongY},
		})
	}
}

const embedThreads = 32
