package ops

import "github.com/gemwire/gemwire/wgslkit"

// matmulLargeParams is Params of wgsl/matmul_large.wgsl and wgsl/matmul_sum.wgsl.
type matmulLargeParams struct {
	Rows, First, Cols, Units               uint32
	RowSize, Plane1, Plane2, Flags         uint32
	XOffset, XStride, OutOffset, OutStride uint32
	MulOffset, MulStride, Act              uint32
	Softcap                                float32
	Splits, Capacity                       uint32
	InMin, InMax                           float32
}

const (
	// matmulLargeTile is the rows and the tokens of a workgroup of
	// matmul_large.wgsl, and the rows of one of matmul_plain.wgsl.
	matmulLargeTile = 128
	// matmulPlainTokens is the tokens of a workgroup of matmul_plain.wgsl, which has
	// half as many threads.
	matmulPlainTokens = 64
	// fewestLarge is how many of its tiles make them worth while.
	fewestLarge = 24
	// fullGPU is about as many workgroups as keep all processors of a large GPU
	// busy; products of fewer tiles split their columns, into splits of no fewer
	// than leastSplit.
	fullGPU, leastSplit           = 768, 512
	fullGPUPlain, leastSplitPlain = 384, 256
)

// LargeTileWidth is the least width of a program whose products take the tiles
// that large GPUs are fast with; 0 where there are none.
func (k *Kit) LargeTileWidth() int {
	if !k.tuning.LargeTiles {
		return 0
	}
	return matmulLargeTile/2 + 1
}

// large says whether a product's tiles are many enough, and all of its rows lie
// on vectors of four.
func (r *Recorder) large(o Linear) bool {
	unit := 4
	if o.Gated {
		unit = 2
	}
	tiles := ceilDiv(o.W.Rows, matmulLargeTile) * ceilDiv(r.width, matmulLargeTile)
	return r.kit.tuning.LargeTiles && tiles >= fewestLarge && r.width >= r.kit.LargeTileWidth() &&
		o.W.Cols%16 == 0 && o.W.Rows%4 == 0 && o.In.Stride%4 == 0 && o.In.Offset%4 == 0 &&
		o.OutStride%unit == 0 && o.OutOffset%unit == 0
}

// matmulLarge records a product of many tokens by many rows whose input is ready.
func (r *Recorder) matmulLarge(o Linear) {
	w := o.W
	file, tokensOfTile, full, least := "matmul_large.wgsl", matmulLargeTile, fullGPU, leastSplit
	if w.Type.BlockLen() == 1 {
		file, tokensOfTile, full, least = "matmul_plain.wgsl", matmulPlainTokens, fullGPUPlain, leastSplitPlain
	}
	for _, tile := range w.tiles {
		rows, tokens := ceilDiv(tile.rows, matmulLargeTile), ceilDiv(r.width, tokensOfTile)
		splits := r.fittingSplits(min(ceilDiv(full, rows*tokens), w.Cols/least), r.width*tile.rows)
		params := matmulLargeParamsOf(o, tile, splits, r.width)
		mul := orBuffer(o.Mul, o.In.X)
		v := w.variant()
		v["GATED"], v["SPLIT"], v["PAIRED_OUT"] = o.Gated, splits > 1, o.Gated && splits == 1
		out := o.Out
		if splits > 1 {
			out = r.temp("sums of splits", splits*r.width*tile.rows)
			if r.err != nil {
				return
			}
		}
		r.dispatch(file, v, wgslkit.Call{
			Label: o.Label, Params: o.LowRank.params(w.Layout, params),
			Bind: o.bind(v, append([]wgslkit.Binding{r.state.All(), tile.bind()}, bindAll(o.In.X, mul, out)...)),
			Grid: wgslkit.Grid{X: uint32(rows), Y: 1, Z: uint32(splits), Tile: uint32(tokensOfTile), Along: wgslkit.AlongY},
		})
		if splits == 1 {
			continue
		}
		r.matmulSum(o, params, wgslkit.Variant{}, out)
	}
}

// fittingSplits is how many splits, of those wanted, leave sums that one binding holds,
// so many each; at least one.
func (r *Recorder) fittingSplits(wanted, sums int) int {
	return max(1, min(wanted, int(r.kit.dev.Limits().MaxStorageBindingSize/int64(4*sums))))
}

// matmulLargeParamsOf are the parameters of a tile of o.W whose columns are split, with
// room for so many tokens in the sums.
func matmulLargeParamsOf(o Linear, tile matrixTile, splits, capacity int) matmulLargeParams {
	w := o.W
	params := matmulLargeParams{
		Rows: uint32(tile.rows), First: uint32(tile.first), Cols: uint32(w.Cols), Units: uint32(w.row.units),
		RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Flags: o.flags(),
		XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride), OutOffset: uint32(o.OutOffset), OutStride: uint32(o.OutStride),
		MulOffset: uint32(o.MulOffset), MulStride: uint32(o.MulStride), Act: uint32(o.Act), Softcap: o.Softcap,
		Splits: uint32(splits), Capacity: uint32(capacity),
	}
	params.InMin, params.InMax = o.Bounds.inputs()
	return params
}

// matmulSum records what ends a product whose sums are there; v and more are what
// these need besides.
func (r *Recorder) matmulSum(o Linear, params matmulLargeParams, v wgslkit.Variant, sums *wgslkit.Buffer, more ...*wgslkit.Buffer) {
	v["THREADS"], v["GATED"], v["PAIRED_OUT"] = gridThreads, o.Gated, o.Gated
	bound := o.Bounds.bind(v, bindAll(r.state, sums, orBuffer(o.Mul, o.In.X), o.Out))
	r.dispatch("matmul_sum.wgsl", v, wgslkit.Call{
		Label: o.Label + " sums", Params: params, Bind: append(bound, bindAll(more...)...),
		Grid: wgslkit.Grid{X: uint32(ceilDiv(int(params.Rows)/4, gridThreads)), Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
}
