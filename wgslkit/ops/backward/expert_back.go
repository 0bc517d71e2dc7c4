package backward

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/expert"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
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
	W     *weights.Matrix
	K     int
	IDs   *wgslkit.Buffer // u32 [width, K]
	DY    *wgslkit.Buffer // [width, rows of an expert], with Sum [width, K, rows of an expert]
	DX    *wgslkit.Buffer
	Sum   bool
	Add   bool
	// Groups are those of IDs, as for ExpertLinear. Nil for pair by pair.
	Groups *expert.ExpertGroups
}

type expertBackParams struct {
	Rows, First, TileRows, Cols    uint32
	Units, RowSize, Plane1, Plane2 uint32
	Slots                          uint32
}

// Record records the op.
func (o ExpertBack) Record(r *record.Recorder) {
	w := o.W
	switch {
	case w == nil || len(w.Tiles) == 0:
		r.Fail(o.Label, fmt.Errorf("%w: matrix", wgslkit.ErrReleased))
		return
	case o.K <= 0 || o.K > w.Experts:
		r.Fail(o.Label, fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, w.Experts))
		return
	}
	if o.Groups != nil {
		if err := o.Groups.Check(o.K, w.Experts); err != nil {
			r.Fail(o.Label, err)
			return
		}
		if groupsBack(r, o) {
			expertBackTiles(r, o)
			return
		}
	}
	rows := o.K
	if o.Sum {
		rows = 1
	}
	for i, tile := range w.Tiles {
		v := w.Variant()
		v["THREADS"], v["SUM"], v["ADD"], v["QUICK_BYTES"] = r.Tuning().Threads, o.Sum, o.Add || i > 0,
			r.Tuning().SmallKernels
		r.Dispatch(Files, "expert_back.wgsl", v, wgslkit.Call{
			Label: o.Label, Bind: record.BindAll(tile.Buffer, o.IDs, o.DY, o.DX),
			Params: w.WithCodebook(expertBackParams{
				Rows: uint32(w.Rows / w.Experts), First: uint32(tile.First), TileRows: uint32(tile.Rows),
				Cols:  uint32(w.Cols),
				Units: uint32(w.Row.Units), RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1),
				Plane2: w.Row.BeginOf(2), Slots: uint32(o.K),
			}),
			Grid: wgslkit.Grid{X: uint32(record.CeilDiv(w.Row.Units, r.Tuning().Threads)), Y: uint32(rows), Tile: 1,
				Along: wgslkit.AlongY},
		})
	}
}

// groupsBack says whether a tile's rows are of use to its pairs: software rasterizers
// have no tiles for the way back, and what Sum adds up has to fit a binding.
func groupsBack(r *record.Recorder, o ExpertBack) bool {
	return !r.Tuning().MatvecLooped && (!o.Sum || expert.HoldsSlots(r, o.K*o.W.Cols))
}

func expertBackTiles(r *record.Recorder, o ExpertBack) {
	w, out, slots := o.W, o.DX, o.K
	if o.Sum {
		out, slots = r.Temp("experts back", r.Width()*o.K*w.Cols), 1
	}
	rows := w.Rows / w.Experts
	for _, tile := range w.Tiles {
		v := w.Variant()
		v["TOKENS"], v["ADD"] = expert.ExpertTile, o.Add && !o.Sum
		v["ALIGNED"] = w.Cols%4 == 0 && rows%4 == 0 && tile.First%4 == 0 && tile.Rows%4 == 0
		r.Dispatch(Files, "expert_back_tiles.wgsl", v, wgslkit.Call{
			Label: o.Label, Bind: record.BindAll(o.Groups.Tiles, o.Groups.Pairs, tile.Buffer, o.DY, out),
			Params: w.WithCodebook(expertBackParams{
				Rows: uint32(rows), First: uint32(tile.First), TileRows: uint32(tile.Rows), Cols: uint32(w.Cols),
				Units: uint32(w.Row.Units), RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1),
				Plane2: w.Row.BeginOf(2), Slots: uint32(slots),
			}),
			Grid: wgslkit.Grid{X: uint32(record.CeilDiv(w.Cols, backColumns)), Y: uint32(o.Groups.Most)},
		})
	}
	if o.Sum {
		expert.SlotSum{Label: o.Label + " sum", X: out, Out: o.DX, K: o.K, Size: w.Cols, Add: o.Add}.Record(r)
	}
}
