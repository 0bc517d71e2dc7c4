package expert

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
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
	Pairs, Tiles *wgslkit.Buffer // [width, K], and 4 words for each tile
	Most         int             // tiles that there can be
	experts, k   int
}

// The pairs of a tile.
const (
	ExpertTile       = 64 // of expert_tiles.wgsl
	expertLoopedTile = 4  // of expert_tiles_looped.wgsl
)

// groupThreads is the most threads of a workgroup of expert_groups.wgsl: each adds up
// what all of them have counted.
const groupThreads = 64

type expertGroupsParams struct{ Experts, Slots, Tiles uint32 }

// Record records the op. It returns nil, which ops take for products pair by
// pair, where that suits the program better: it is too narrow for an expert's rows to
// be of use to several of its tokens.
func (o GroupExperts) Record(r *record.Recorder) *ExpertGroups {
	switch {
	case r.Err() != nil:
		return nil
	case o.K < 1 || o.K > o.Experts:
		r.Fail(o.Label, fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, o.Experts))
		return nil
	case !groupsExperts(r.Kit(), r.Width()*o.K, o.Experts):
		return nil
	}
	g := &ExpertGroups{Most: r.Width()*o.K/pairsOfTile(r.Kit()) + o.Experts, experts: o.Experts, k: o.K}
	if limit := r.Limits().MaxWorkgroupsPerDimension; g.Most > int(limit) {
		return nil
	}
	g.Pairs, g.Tiles = r.Temp("pairs by expert", r.Width()*o.K), r.Temp("tiles of experts", 4*g.Most)
	r.Dispatch(Files, "expert_groups.wgsl", wgslkit.Variant{"THREADS": min(groupThreads, r.Tuning().Threads),
		"TILE": pairsOfTile(r.Kit())}, wgslkit.Call{
		Label: o.Label, Bind: record.BindAll(r.State(), o.IDs, g.Pairs, g.Tiles),
		Params: expertGroupsParams{uint32(o.Experts), uint32(o.K), uint32(g.Most)},
		Grid:   wgslkit.Grid{X: uint32(o.Experts)},
	})
	return g
}

// groupsExperts says whether that many pairs of token and expert are worth sorting.
func groupsExperts(k *record.Kit, pairs, experts int) bool {
	fewest := k.Tuning().FewestOfExpert
	return fewest > 0 && pairs >= fewest*experts
}

func pairsOfTile(k *record.Kit) int {
	if k.Tuning().MatvecLooped {
		return expertLoopedTile
	}
	return ExpertTile
}

// expertTilesParams is Params of expert_rows.wgsl.
type expertTilesParams struct {
	Rows, First, TileRows, Cols    uint32
	Units, RowSize, Plane1, Plane2 uint32
	XOffset, XStride, Slots, Act   uint32
	Lanes, RowsOfThread            uint32
}

// HoldsSlots says whether a binding takes n values of each token.
func HoldsSlots(r *record.Recorder, n int) bool {
	l := r.Limits()
	return 4*int64(r.Width())*int64(n) <= min(l.MaxStorageBindingSize, l.MaxBufferSize)
}

// Check says whether the groups are of that choice.
func (g *ExpertGroups) Check(k, experts int) error {
	if g.k != k || g.experts != experts {
		return fmt.Errorf("%w: groups of %d of %d experts, wanted %d of %d", wgslkit.ErrValidation, g.k, g.experts, k,
			experts)
	}
	return nil
}

// expertTiles records a product with chosen experts by their groups: every pair's
// own, and then, where they have weights, the sums over a token's slots.
func expertTiles(r *record.Recorder, o ExpertLinear) {
	o.In = product.Prepared(r, o.Label, o.In, o.W.Cols)
	out := o.Out
	if o.Weights != nil {
		out = r.Temp("products of experts", r.Width()*o.K*o.W.Outputs(o.Gated))
	}
	for _, tile := range o.W.Tiles {
		expertTilesOf(r, o, tile, out)
	}
	if o.Weights != nil {
		SlotSum{Label: o.Label + " sum", X: out, Weights: o.Weights, Out: o.Out, K: o.K,
			Size: o.W.Outputs(o.Gated)}.Record(r)
	}
}

func expertTilesOf(r *record.Recorder, o ExpertLinear, tile weights.MatrixTile, out *wgslkit.Buffer) {
	w, rows := o.W, o.W.Rows/o.W.Experts
	params := expertTilesParams{
		Rows: uint32(rows), First: uint32(tile.First), TileRows: uint32(tile.Rows), Cols: uint32(w.Cols),
		Units: uint32(w.Row.Units), RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1), Plane2: w.Row.BeginOf(2),
		XOffset: uint32(o.In.Offset), XStride: uint32(record.OrInt(o.In.Stride, w.Cols)), Slots: uint32(o.K),
		Act: uint32(o.Act),
	}
	if o.PerSlotInput {
		params.Slots = 1
	}
	v := w.Variant()
	v["GATED"], v["ALIGNED"] = o.Gated, false
	file, groups := "expert_tiles.wgsl", record.CeilDiv(rows, ExpertTile)
	if r.Tuning().MatvecLooped {
		s := product.LoopedShape(r.Kit(), w, rows)
		params.Lanes, params.RowsOfThread = uint32(s.Lanes), uint32(s.Rows)
		v["THREADS"], v["ROWS"] = s.Threads, s.MostRows
		file, groups = "expert_tiles_looped.wgsl", s.Tasks(rows)
	} else {
		weights.ShareCodebook(v, 16*(256+272), int(r.Limits().MaxWorkgroupStorage))
		v["ALIGNED"] = w.Cols%16 == 0 && params.XStride%4 == 0 && params.XOffset%4 == 0
	}
	r.Dispatch(Files, file, v, wgslkit.Call{
		Label: o.Label, Params: w.WithCodebook(params),
		Bind: record.BindAll(o.Groups.Tiles, o.Groups.Pairs, tile.Buffer, o.In.X, out),
		Grid: wgslkit.Grid{X: uint32(groups), Y: uint32(o.Groups.Most)},
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

// Record records the op.
func (o SlotSum) Record(r *record.Recorder) {
	bind := record.BindAll(o.X, o.Weights, o.Out)
	if o.Weights == nil {
		bind = record.BindAll(o.X, o.Out)
	}
	r.Dispatch(Files, "slot_sum.wgsl", wgslkit.Variant{"THREADS": record.GridThreads, "WEIGHTED": o.Weights != nil,
		"ADD": o.Add}, wgslkit.Call{
		Label: o.Label, Params: slotSumParams{uint32(o.Size), uint32(o.K)}, Bind: bind, Grid: record.ValueGrid(o.Size),
	})
}
