package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// ExpertBack is what a product with the experts that a router chose hands back to its
// input, of every row in W's own order. W is read as it is quantized, and of it only
// the rows of those experts: for each pair of token and slot, or with Groups for each
// tile of pairs.
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
	// Groups are those of IDs, as for ExpertLinear. Nil for pair by pair.
	Groups *ExpertGroups
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
	if o.Groups != nil {
		if err := o.Groups.check(o.K, w.Experts); err != nil {
			r.fail(o.Label, err)
			return
		}
		if r.groupsBack(o) {
			r.expertBackTiles(o)
			return
		}
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

// groupsBack says whether a tile's rows are of use to its pairs: software rasterizers
// have no tiles for the way back, and what Sum adds up has to fit a binding.
func (r *Recorder) groupsBack(o ExpertBack) bool {
	return !r.kit.tuning.MatvecLooped && (!o.Sum || r.holdsSlots(o.K*o.W.Cols))
}

func (r *Recorder) expertBackTiles(o ExpertBack) {
	w, out, slots := o.W, o.DX, o.K
	if o.Sum {
		out, slots = r.temp("experts back", r.width*o.K*w.Cols), 1
	}
	rows := w.Rows / w.Experts
	for _, tile := range w.tiles {
		v := w.variant()
		v["TOKENS"], v["ADD"] = expertTile, o.Add && !o.Sum
		v["ALIGNED"] = w.Cols%4 == 0 && rows%4 == 0 && tile.first%4 == 0 && tile.rows%4 == 0
		r.dispatch("expert_back_tiles.wgsl", v, wgslkit.Call{
			Label: o.Label, Bind: bindAll(o.Groups.tiles, o.Groups.pairs, tile.buffer, o.DY, out),
			Params: expertBackParams{
				Rows: uint32(rows), First: uint32(tile.first), TileRows: uint32(tile.rows), Cols: uint32(w.Cols),
				Units: uint32(w.row.units), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Slots: uint32(slots),
			},
			Grid: wgslkit.Grid{X: uint32(ceilDiv(w.Cols, backColumns)), Y: uint32(o.Groups.most)},
		})
	}
	if o.Sum {
		r.SlotSum(SlotSum{Label: o.Label + " sum", X: out, Out: o.DX, K: o.K, Size: w.Cols, Add: o.Add})
	}
}
