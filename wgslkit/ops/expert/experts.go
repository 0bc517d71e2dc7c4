package expert

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// ExpertLinear is Linear over the experts that a router chose for each token:
// only their rows are read.
//
//	Weights nil: out[t, slot] = W[ids[t, slot]]·h                              [width, K, outputs]
//	Weights set: out[t] = Σ over slots of weights[t, slot] · W[ids[t, slot]]·h [width, outputs]
//
// Each pair of token and slot reads its expert's rows; with Groups, each tile of
// pairs that one expert was chosen for.
type ExpertLinear struct {
	Label string
	W     *weights.Matrix // of W.Experts experts
	K     int             // experts chosen for each token
	IDs   *wgslkit.Buffer // u32 [width, K]
	In    product.Input   // Merge must be nil
	// PerSlotInput says that x is [width, K, cols], a row for each slot. It
	// goes with neither Add nor a stride.
	PerSlotInput bool
	Out          *wgslkit.Buffer
	Act          rowwise.Activation
	Gated        bool            // W is Paired: out = act(gate·h) ⊙ (up·h)
	AllRows      bool            // every row in W's own order, of a Paired matrix too
	Weights      *wgslkit.Buffer // [width, K]
	// Groups are those of IDs: an expert's rows are then read once for all tokens of a
	// tile, in place of once for each. Nil for pair by pair.
	Groups *ExpertGroups
}

// expertParams is Params of experts.wgsl.
type expertParams struct {
	Rows, First, TileRows, Cols     uint32
	Units, Lanes, RowSize, Plane1   uint32
	Plane2, XOffset, XStride, Slots uint32
	Flags, Act                      uint32
	NormEps, NormScale              float32
	RowsOfThread                    uint32
}

// Record records the product. A sum that goes before it (In.Add) takes
// a dispatch of its own.
func (o ExpertLinear) Record(r *record.Recorder) {
	if err := o.check(); err != nil {
		r.Fail(o.Label, err)
		return
	}
	if o.Groups != nil && (o.Weights == nil || HoldsSlots(r, o.K*o.W.Outputs(o.Gated))) {
		expertTiles(r, o)
		return
	}
	if o.In.Add != nil {
		norm := o.In.Norm
		o.In.Norm = nil
		o.In = product.Prepared(r, o.Label, o.In, o.W.Cols)
		o.In.Norm = norm
	}
	for i, tile := range o.W.Tiles {
		expertsOfTile(r, o, tile, i > 0)
	}
}

func (o ExpertLinear) check() error {
	switch {
	case o.W == nil || len(o.W.Tiles) == 0:
		return fmt.Errorf("%w: matrix", wgslkit.ErrReleased)
	case o.Gated != (o.W.Layout == weights.Paired && !o.AllRows):
		return fmt.Errorf("%w: a gated product takes a paired matrix, another one does not", wgslkit.ErrValidation)
	case o.K <= 0 || o.K > o.W.Experts:
		return fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, o.W.Experts)
	case o.In.Merge != nil, o.PerSlotInput && o.In.Add != nil:
		return fmt.Errorf("%w: this input does not go with experts", wgslkit.ErrValidation)
	case o.Groups != nil:
		return o.Groups.Check(o.K, o.W.Experts)
	}
	return nil
}

func expertsOfTile(r *record.Recorder, o ExpertLinear, tile weights.MatrixTile, added bool) {
	w := o.W
	rows := w.Rows / w.Experts
	shape := product.CutVector(r.Kit(), w, rows, 0, 0)
	v := w.Variant()
	shape.Into(v)
	v["NORM"], v["GATED"], v["WEIGHTED"] = o.In.Norm != nil, o.Gated, o.Weights != nil
	_, _, normW, _ := product.InputBuffers(r, o.In)
	f, flags := o.In.Factors(), o.In.Flags()
	if o.PerSlotInput {
		flags |= product.FlagPerSlot
	}
	pairs := o.K
	if o.Weights != nil {
		pairs = 1
		if added {
			flags |= product.FlagAdded
		}
	}
	r.Dispatch(Files, "experts.wgsl", v, wgslkit.Call{
		Label: o.Label,
		Bind:  record.BindAll(tile.Buffer, o.In.X, normW, o.IDs, record.OrBuffer(o.Weights, o.In.X), o.Out),
		Params: w.WithCodebook(expertParams{
			Rows: uint32(rows), First: uint32(tile.First), TileRows: uint32(tile.Rows), Cols: uint32(w.Cols),
			Units: uint32(w.Row.Units), Lanes: uint32(shape.Lanes), RowSize: uint32(w.Row.Size),
			Plane1: w.Row.BeginOf(1),
			Plane2: w.Row.BeginOf(2), XOffset: uint32(o.In.Offset), XStride: uint32(record.OrInt(o.In.Stride, w.Cols)),
			Slots: uint32(o.K),
			Flags: flags, Act: uint32(o.Act), NormEps: f.NormEps, NormScale: f.NormScale,
			RowsOfThread: uint32(shape.Rows),
		}),
		Grid: wgslkit.Grid{X: uint32(shape.Tasks(rows)), Y: uint32(pairs), Tile: 1, Along: wgslkit.AlongY},
	})
}
