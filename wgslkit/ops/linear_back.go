package ops

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// AllRows is Out[t] = W·x, or with LowRank W·x + B·u, for every row of W in W's own
// order, whatever its layout: of a Paired matrix gate and up take turns.
type AllRows struct {
	Label string
	W     *Matrix
	X     Slice           // rows of W.Cols
	Out   *wgslkit.Buffer // [width, W.Rows]
	// Softcap makes each value c·tanh(value / c); 0 for none.
	Softcap float32
	LowRank *LowRank // nil for none
}

// AllRows records the product.
func (r *Recorder) AllRows(o AllRows) {
	if r.err != nil {
		return
	}
	if o.W == nil || len(o.W.tiles) == 0 {
		r.fail(o.Label, fmt.Errorf("%w: matrix", wgslkit.ErrReleased))
		return
	}
	l := Linear{
		Label: o.Label, W: o.W, Out: o.Out, OutStride: o.W.Rows, MulStride: o.W.Rows, Softcap: o.Softcap, LowRank: o.LowRank,
		In: Input{X: o.X.Buffer, Offset: o.X.Offset, Stride: orInt(o.X.Stride, o.W.Cols)},
	}
	if err := o.LowRank.check(l); err != nil {
		r.fail(o.Label, err)
		return
	}
	switch {
	case r.kit.tuning.SmallKernels:
		r.product(l)
	case r.width == 1:
		r.matvec(l)
	case r.large(l) || r.largeInSplits(l):
		r.matmulLarge(l)
	default:
		r.matmul(l)
	}
}

// largeInSplits says whether a product of too few tiles for large ones has enough
// of them when its columns are split.
func (r *Recorder) largeInSplits(o Linear) bool {
	tiles := ceilDiv(o.W.Rows, matmulLargeTile) * ceilDiv(r.width, matmulLargeTile)
	return r.kit.tuning.LargeTiles && tiles*(o.W.Cols/leastSplit) >= fewestLarge && 2*r.width > matmulLargeTile &&
		o.W.Cols%16 == 0 && o.W.Rows%4 == 0 && o.In.Stride%4 == 0 && o.In.Offset%4 == 0
}

// LinearBack is DX = Wᵀ·dy, what a product with all rows of W hands back to its
// input, or with Add DX += Wᵀ·dy. W is read as it is quantized.
type LinearBack struct {
	Label string
	W     *Matrix
	DY    Slice // rows of W.Rows, in W's own order
	DX    Slice // rows of W.Cols
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

// LinearBack records the op.
func (r *Recorder) LinearBack(o LinearBack) {
	if r.err != nil {
		return
	}
	w := o.W
	if w == nil || len(w.tiles) == 0 {
		r.fail(o.Label, fmt.Errorf("%w: matrix", wgslkit.ErrReleased))
		return
	}
	tokens := 16
	if !r.kit.tuning.MatvecLooped && 2*r.width > 32 {
		tokens = 128
	}
	for i, tile := range w.tiles {
		columns := ceilDiv(w.Cols, backColumns)
		splits := 1
		if r.kit.tuning.LargeTiles {
			splits = max(1, min(ceilDiv(backGroups, columns*ceilDiv(r.width, tokens)), tile.rows/leastBackSplit))
		}
		add := o.Add || i > 0
		params := linearBackParams{
			Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
			RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Splits: uint32(splits),
			DYOffset: uint32(o.DY.Offset), DYStride: o.DY.stride(w.Rows),
			OutOffset: uint32(o.DX.Offset), Stride: o.DX.stride(w.Cols), Capacity: uint32(r.width),
		}
		out := o.DX.Buffer
		if splits > 1 {
			out = r.temp("sums of splits", splits*r.width*w.Cols)
		}
		if r.err != nil {
			return
		}
		v := w.variant()
		v["TOKENS"], v["ADD"], v["SPLIT"], v["QUICK_BYTES"] = tokens, add && splits == 1, splits > 1, r.kit.tuning.SmallKernels
		v["AHEAD"] = tokens == 128
		v["ALIGNED"] = w.Cols%4 == 0 && tile.rows%4 == 0 && tile.first%4 == 0 && params.DYOffset%4 == 0 && params.DYStride%4 == 0 &&
			params.OutOffset%4 == 0 && params.Stride%4 == 0
		r.dispatch("linear_back.wgsl", v, wgslkit.Call{
			Label: o.Label, Params: params,
			Bind: append([]wgslkit.Binding{r.state.All(), tile.bind()}, bindAll(o.DY.Buffer, out)...),
			Grid: wgslkit.Grid{X: uint32(columns), Y: 1, Z: uint32(splits), Tile: uint32(tokens), Along: wgslkit.AlongY},
		})
		if splits > 1 {
			r.sumSplits(o.Label, splits, w.Cols, out, o.DX.Buffer.All(), params.OutOffset, params.Stride, 1, add)
		}
	}
}

type sumSplitsParams struct{ Size, Splits, Capacity, Offset, Stride, Step uint32 }

// sumSplits records the sum of what splits have left of each of the width's rows.
func (r *Recorder) sumSplits(label string, splits, size int, parts *wgslkit.Buffer, out wgslkit.Binding, offset, stride, step uint32, add bool) {
	r.dispatch("sum_splits.wgsl", wgslkit.Variant{"THREADS": gridThreads, "ADD": add}, wgslkit.Call{
		Label:  label + " sums",
		Params: sumSplitsParams{uint32(size), uint32(splits), uint32(r.width), offset, stride, step},
		Bind:   []wgslkit.Binding{parts.All(), out},
		Grid:   wgslkit.Grid{X: uint32(ceilDiv(size, gridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
