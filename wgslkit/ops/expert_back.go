package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// ExpertBack is what a product with the experts that a router chose hands back to its
// input, of every row in W's own order. W is read as it is quantized, and of it only
// the rows of those experts.
//
//	DX[t, slot] = W[IDs[t, slot]]ᵀ·DY[t]                  [width, K, cols]
//	Sum: DX[t] = Σ over slots of W[IDs[t, slot]]ᵀ·DY[t, slot]   [width, cols]
//
// and with Add DX += it.
type ExpertBack struct {
	Label string
	W     *Matrix
	K     int
	IDs   *wgslkit.Buffer // u32 [width, K]
	DY    *wgslkit.Buffer // [width, rows of an expert], with Sum [width, K, rows of an expert]
	DX    *wgslkit.Buffer
	Sum   bool
	Add   bool
}

type expertBackParams struct {
	Rows, First, TileRows, Cols    uint32
	Units, RowSize, Plane1, Plane2 uint32
	Slots                          uint32
}

// ExpertBack records the op.
func (r *Recorder) ExpertBack(o ExpertBack) {
	w := o.W
	switch {
	case w == nil || len(w.tiles) == 0:
		r.fail(o.Label, fmt.Errorf("%w: matrix", wgslkit.ErrReleased))
		return
	case o.K <= 0 || o.K > w.Experts:
		r.fail(o.Label, fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, w.Experts))
		return
	}
	rows := o.K
	if o.Sum {
		rows = 1
	}
	for i, tile := range w.tiles {
		v := w.variant()
		v["THREADS"], v["SUM"], v["ADD"], v["QUICK_BYTES"] = r.kit.tuning.Threads, o.Sum, o.Add || i > 0, r.kit.tuning.SmallKernels
		r.dispatch("expert_back.wgsl", v, wgslkit.Call{
			Label: o.Label, Bind: bindAll(tile.buffer, o.IDs, o.DY, o.DX),
			Params: expertBackParams{
				Rows: uint32(w.Rows / w.Experts), First: uint32(tile.first), TileRows: uint32(tile.rows), Cols: uint32(w.Cols),
				Units: uint32(w.row.units), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Slots: uint32(o.K),
			},
			Grid: wgslkit.Grid{X: uint32(ceilDiv(w.row.units, r.kit.tuning.Threads)), Y: uint32(rows), Tile: 1, Along: wgslkit.AlongY},
		})
	}
}
