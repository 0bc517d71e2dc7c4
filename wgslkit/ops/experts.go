package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
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
	W     *Matrix         // of W.Experts experts
	K     int             // experts chosen for each token
	IDs   *wgslkit.Buffer // u32 [width, K]
	In    Input           // Merge must be nil
	// PerSlotInput says that x is [width, K, cols], a row for each slot. It
	// goes with neither Add nor a stride.
	PerSlotInput bool
	Out          *wgslkit.Buffer
	Act          Activation
	Gated        bool            // W is Paired: out = act(gate·h) ⊙ (up·h)
	AllRows      bool            // every row in W's own order, of a Paired matrix too
	Weights      *wgslkit.Buffer // [width, K]
	// Groups are those of IDs: an expert's rows are then read once for all tokens of a
	// tile, in place of once for each. Nil for pair by pair.
	Groups *ExpertGroups
}

// expertParams is Params of wgsl/experts.wgsl.
type expertParams struct {
	Rows, First, TileRows, Cols     uint32
	Units, Lanes, RowSize, Plane1   uint32
	Plane2, XOffset, XStride, Slots uint32
	Flags, Act                      uint32
	NormEps, NormScale              float32
	RowsOfThread                    uint32
}

// ExpertLinear records the product. A sum that goes before it (In.Add) takes
// a dispatch of its own.
func (r *Recorder) ExpertLinear(o ExpertLinear) {
	if err := o.check(); err != nil {
		r.fail(o.Label, err)
		return
	}
	if o.Groups != nil && (o.Weights == nil || r.holdsSlots(o.K*o.W.outputs(o.Gated))) {
		r.expertTiles(o)
		return
	}
	if o.In.Add != nil {
		norm := o.In.Norm
		o.In.Norm = nil
		o.In = r.prepared(o.Label, o.In, o.W.Cols)
		o.In.Norm = norm
	}
	for i, tile := range o.W.tiles {
		r.expertTile(o, tile, i > 0)
	}
}

func (o ExpertLinear) check() error {
	switch {
	case o.W == nil || len(o.W.tiles) == 0:
		return fmt.Errorf("%w: matrix", wgslkit.ErrReleased)
	case o.Gated != (o.W.Layout == Paired && !o.AllRows):
		return fmt.Errorf("%w: a gated product takes a paired matrix, another one does not", wgslkit.ErrValidation)
	case o.K <= 0 || o.K > o.W.Experts:
		return fmt.Errorf("%w: %d of %d experts", wgslkit.ErrValidation, o.K, o.W.Experts)
	case o.In.Merge != nil, o.PerSlotInput && o.In.Add != nil:
		return fmt.Errorf("%w: this input does not go with experts", wgslkit.ErrValidation)
	case o.Groups != nil:
		return o.Groups.check(o.K, o.W.Experts)
	}
	return nil
}

func (r *Recorder) expertTile(o ExpertLinear, tile matrixTile, added bool) {
	w := o.W
	rows := w.Rows / w.Experts
	shape := r.kit.matvecShape(w, rows, 0, 0)
	v := w.variant()
	shape.into(v)
	v["NORM"], v["GATED"], v["WEIGHTED"] = o.In.Norm != nil, o.Gated, o.Weights != nil
	_, _, normW, _ := r.inputBuffers(o.In)
	f, flags := o.In.factors(), o.In.flags()
	if o.PerSlotInput {
		flags |= flagPerSlot
	}
	pairs := o.K
	if o.Weights != nil {
		pairs = 1
		if added {
			flags |= flagAdded
		}
	}
	r.dispatch("experts.wgsl", v, wgslkit.Call{
		Label: o.Label,
		Bind:  bindAll(tile.buffer, o.In.X, normW, o.IDs, orBuffer(o.Weights, o.In.X), o.Out),
		Params: expertParams{
			Rows: uint32(rows), First: uint32(tile.first), TileRows: uint32(tile.rows), Cols: uint32(w.Cols),
			Units: uint32(w.row.units), Lanes: uint32(shape.lanes), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1),
			Plane2: w.row.beginOf(2), XOffset: uint32(o.In.Offset), XStride: uint32(orInt(o.In.Stride, w.Cols)), Slots: uint32(o.K),
			Flags: flags, Act: uint32(o.Act), NormEps: f.normEps, NormScale: f.normScale,
			RowsOfThread: uint32(shape.rows),
		},
		Grid: wgslkit.Grid{X: uint32(shape.tasks(rows)), Y: uint32(pairs), Tile: 1, Along: wgslkit.AlongY},
	})
}
