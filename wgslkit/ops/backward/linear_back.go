package backward

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// LinearBack is DX = Wᵀ·dy, what a product with all rows of W hands back to its
// input, or with Add DX += Wᵀ·dy. W is read as it is quantized.
type LinearBack struct {
	Label string
	W     *weights.Matrix
	DY    record.Slice // rows of W.Rows, in W's own order
	DX    record.Slice // rows of W.Cols
	Add   bool
}

type linearBackParams struct {
	Rows, First, Cols, Units              uint32
	RowSize, Plane1, Plane2, Splits       uint32
	DYOffset, DYStride, OutOffset, Stride uint32
	Capacity                              uint32
}

const (
	backColumns = 128 // of a workgroup of linear_back.wgsl
	backRows    = 16  // that it takes at a time
	// leastBackSplit is the fewest rows that a split is worth while for, and
	// backGroups about as many workgroups as leave no processor of a large GPU
	// waiting for the last ones.
	leastBackSplit = 256
	backGroups     = 768
)

// Record records the op.
func (o LinearBack) Record(r *record.Recorder) {
	if r.Err() != nil {
		return
	}
	w := o.W
	if w == nil || len(w.Tiles) == 0 {
		r.Fail(o.Label, fmt.Errorf("%w: matrix", wgslkit.ErrReleased))
		return
	}
	tokens := 16
	if !r.Tuning().MatvecLooped && 2*r.Width() > 32 {
		tokens = 128
	}
	for i, tile := range w.Tiles {
		columns := record.CeilDiv(w.Cols, backColumns)
		splits := 1
		if r.Tuning().LargeTiles {
			splits = max(1, min(record.CeilDiv(backGroups, columns*record.CeilDiv(r.Width(), tokens)),
				tile.Rows/leastBackSplit))
		}
		add := o.Add || i > 0
		params := linearBackParams{
			Rows: uint32(tile.Rows), First: uint32(tile.First), Cols: uint32(w.Cols), Units: uint32(w.Row.Units),
			RowSize: uint32(w.Row.Size), Plane1: w.Row.BeginOf(1), Plane2: w.Row.BeginOf(2), Splits: uint32(splits),
			DYOffset: uint32(o.DY.Offset), DYStride: o.DY.StrideOr(w.Rows),
			OutOffset: uint32(o.DX.Offset), Stride: o.DX.StrideOr(w.Cols), Capacity: uint32(r.Width()),
		}
		out := o.DX.Buffer
		if splits > 1 {
			out = r.Temp("sums of splits", splits*r.Width()*w.Cols)
		}
		if r.Err() != nil {
			return
		}
		v := w.Variant()
		v["TOKENS"], v["ADD"], v["SPLIT"], v["QUICK_BYTES"] = tokens, add && splits == 1, splits > 1,
			r.Tuning().SmallKernels
		v["AHEAD"] = tokens == 128
		v["ALIGNED"] = w.Cols%4 == 0 && tile.Rows%4 == 0 && tile.First%4 == 0 && params.DYOffset%4 == 0 &&
			params.DYStride%4 == 0 &&
			params.OutOffset%4 == 0 && params.Stride%4 == 0
		r.Dispatch(Files, "linear_back.wgsl", v, wgslkit.Call{
			Label: o.Label, Params: w.WithCodebook(params),
			Bind: append([]wgslkit.Binding{r.State().All(), tile.Bind()}, record.BindAll(o.DY.Buffer, out)...),
			Grid: wgslkit.Grid{X: uint32(columns), Y: 1, Z: uint32(splits), Tile: uint32(tokens),
				Along: wgslkit.AlongY},
		})
		if splits > 1 {
			product.SumSplits(r, o.Label, splits, w.Cols, out, o.DX.Buffer.All(), params.OutOffset, params.Stride, 1,
				add)
		}
	}
}
