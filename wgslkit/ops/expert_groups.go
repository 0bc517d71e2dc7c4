package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// GroupExperts sorts the (token, slot) pairs of a program by the expert that was
// chosen for each, on the GPU.
type GroupExperts struct {
	Label      string
	IDs        *wgslkit.Buffer // u32 [width, K], of Router
	Experts, K int
}

// ExpertGroups is the pairs of a program in runs of one expert each, cut into tiles:
// what products of many tokens with chosen experts go by. It is good until the same
// recorder groups other ids.
type ExpertGroups struct {
	pairs, tiles *wgslkit.Buffer // [width, K], and 4 words for each tile
	most         int             // tiles that there can be
	experts, k   int
}

// The pairs of a tile.
const (
	expertTile       = 64 // of expert_tiles.wgsl
	expertLoopedTile = 4  // of expert_tiles_looped.wgsl
)

// groupThreads is the most threads of a workgroup of expert_groups.wgsl: each adds up
// what all of them have counted.
const groupThreads = 64

type expertGroupsParams struct{ Experts, Slots, Tiles uint32 }

// GroupExperts records the op. It returns nil, which ops take for products pair by
// pair, where that suits the program better: it is too narrow for an expert's rows to
// be of use to several of its tokens.
func (r *Recorder) GroupExperts(o GroupExperts) *ExpertGroups {
	switch {
	case r.err != nil:
		return nil
	case o.K < 1 || o.K > o.Experts:
		r.fail(o.Label, fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, o.Experts))
		return nil
	case !r.kit.groupsExperts(r.width*o.K, o.Experts):
		return nil
	}
	g := &ExpertGroups{most: r.width*o.K/r.kit.expertTile() + o.Experts, experts: o.Experts, k: o.K}
	if limit := r.kit.dev.Limits().MaxWorkgroupsPerDimension; g.most > int(limit) {
		return nil
	}
	g.pairs, g.tiles = r.temp("pairs by expert", r.width*o.K), r.temp("tiles of experts", 4*g.most)
	r.dispatch("expert_groups.wgsl", wgslkit.Variant{"THREADS": min(groupThreads, r.kit.tuning.Threads), "TILE": r.kit.expertTile()}, wgslkit.Call{
		Label: o.Label, Bind: bindAll(r.state, o.IDs, g.pairs, g.tiles),
		Params: expertGroupsParams{uint32(o.Experts), uint32(o.K), uint32(g.most)},
		Grid:   wgslkit.Grid{X: uint32(o.Experts)},
	})
	return g
}

// groupsExperts says whether that many pairs of token and expert are worth sorting.
func (k *Kit) groupsExperts(pairs, experts int) bool {
	fewest := k.tuning.FewestOfExpert
	return fewest > 0 && pairs >= fewest*experts
}

func (k *Kit) expertTile() int {
	if k.tuning.MatvecLooped {
		return expertLoopedTile
	}
	return expertTile
}

// expertTilesParams is Params of wgsl/expert_rows.wgsl.
type expertTilesParams struct {
	Rows, First, TileRows, Cols    uint32
	Units, RowSize, Plane1, Plane2 uint32
	XOffset, XStride, Slots, Act   uint32
	Lanes, RowsOfThread            uint32
}

// holdsSlots says whether a binding takes n values of each token.
func (r *Recorder) holdsSlots(n int) bool {
	l := r.kit.dev.Limits()
	return 4*int64(r.width)*int64(n) <= min(l.MaxStorageBindingSize, l.MaxBufferSize)
}

// check says whether the groups are of that choice.
func (g *ExpertGroups) check(k, experts int) error {
	if g.k != k || g.experts != experts {
		return fmt.Errorf("%w: groups of %d of %d experts, wanted %d of %d", wgslkit.ErrValidation, g.k, g.experts, k, experts)
	}
	return nil
}

// expertTiles records a product with chosen experts by their groups: every pair's
// own, and then, where they have weights, the sums over a token's slots.
func (r *Recorder) expertTiles(o ExpertLinear) {
	o.In = r.prepared(o.Label, o.In, o.W.Cols)
	out := o.Out
	if o.Weights != nil {
		out = r.temp("products of experts", r.width*o.K*o.W.outputs(o.Gated))
	}
	for _, tile := range o.W.tiles {
		r.expertTilesOf(o, tile, out)
	}
	if o.Weights != nil {
		r.SlotSum(SlotSum{Label: o.Label + " sum", X: out, Weights: o.Weights, Out: o.Out, K: o.K, Size: o.W.outputs(o.Gated)})
	}
}

func (r *Recorder) expertTilesOf(o ExpertLinear, tile matrixTile, out *wgslkit.Buffer) {
	w, rows := o.W, o.W.Rows/o.W.Experts
	params := expertTilesParams{
		Rows: uint32(rows), First: uint32(tile.first), TileRows: uint32(tile.rows), Cols: uint32(w.Cols),
		Units: uint32(w.row.units), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2),
		XOffset: uint32(o.In.Offset), XStride: uint32(orInt(o.In.Stride, w.Cols)), Slots: uint32(o.K), Act: uint32(o.Act),
	}
	if o.PerSlotInput {
		params.Slots = 1
	}
	v := w.variant()
	v["GATED"], v["ALIGNED"] = o.Gated, false
	file, groups := "expert_tiles.wgsl", ceilDiv(rows, expertTile)
	if r.kit.tuning.MatvecLooped {
		s := r.kit.loopedShape(w, rows)
		params.Lanes, params.RowsOfThread = uint32(s.lanes), uint32(s.rows)
		v["THREADS"], v["ROWS"] = s.threads, s.mostRows
		file, groups = "expert_tiles_looped.wgsl", s.tasks(rows)
	} else {
		v["ALIGNED"] = w.Cols%16 == 0 && params.XStride%4 == 0 && params.XOffset%4 == 0
	}
	r.dispatch(file, v, wgslkit.Call{
		Label: o.Label, Params: params,
		Bind: bindAll(o.Groups.tiles, o.Groups.pairs, tile.buffer, o.In.X, out),
		Grid: wgslkit.Grid{X: uint32(groups), Y: uint32(o.Groups.most)},
	})
}

// SlotSum is Out[t] = Σ over slots of Weights[t, slot] · X[t, slot], in the slots'
// order, or with Add Out += it.
type SlotSum struct {
	Label   string
	X       *wgslkit.Buffer // [width, K, Size]
	Weights *wgslkit.Buffer // [width, K], nil for ones
	Out     *wgslkit.Buffer // [width, Size], another buffer than X
	K, Size int
	Add     bool
}

type slotSumParams struct{ Size, Slots uint32 }

// SlotSum records the op.
func (r *Recorder) SlotSum(o SlotSum) {
	bind := bindAll(o.X, o.Weights, o.Out)
	if o.Weights == nil {
		bind = bindAll(o.X, o.Out)
	}
	r.dispatch("slot_sum.wgsl", wgslkit.Variant{"THREADS": gridThreads, "WEIGHTED": o.Weights != nil, "ADD": o.Add}, wgslkit.Call{
		Label: o.Label, Params: slotSumParams{uint32(o.Size), uint32(o.K)}, Bind: bind, Grid: valueGrid(o.Size),
	})
}
