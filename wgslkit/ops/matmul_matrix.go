package ops

import "github.com/gemwire/gemwire/wgslkit"

// MatrixTuning is which of a device's subgroup matrices products and the attention
// of images take; the zero value is none.
//
// Inputs and weights are rounded to float16, 11 bits, after inputs were scaled token by
// token so that none is too large for it; sums are float32. That is closer than
// the bfloat16, 8 bits, that these models were trained in. Of FullAttention, queries,
// keys, values and weights are float16, and the sums float32.
type MatrixTuning struct {
	Size        int // M and N of a matrix; 0 for none
	K           int
	Subgroup    int // invocations of a subgroup
	KeyMatrices int // how many matrices of keys FullAttention takes at a time, at most
}

const (
	// matrixColumns is how many columns matmul_matrix.wgsl takes at a time, and
	// matrixPitch the numbers of a row of them in memory.
	matrixColumns, matrixPitch = 32, 40
	// matrixSide is how many matrices a subgroup has along either side of its quarter of a tile.
	matrixSide = 4
	// fullMatrices is about as many of its workgroups as a large GPU runs at once;
	// leastSplitMatrices is the fewest columns that a split is worth while for.
	fullMatrices, leastSplitMatrices = 288, 256
)

// tile is the rows and the tokens of a workgroup.
func (t MatrixTuning) tile() int { return 2 * matrixSide * t.Size }

// threads is a workgroup's size.
func (t MatrixTuning) threads() int { return 4 * t.Subgroup }

// workgroupBytes is what a workgroup puts into memory: a tile of rows and one of tokens.
func (t MatrixTuning) workgroupBytes() int { return 2 * 2 * t.tile() * matrixPitch }

// fits says whether matmul_matrix.wgsl can be made of such matrices.
func (t MatrixTuning) fits(l wgslkit.Limits) bool {
	return matrixColumns%t.K == 0 && t.tile()%t.threads() == 0 &&
		t.threads() <= int(min(l.MaxWorkgroupInvocations, l.MaxWorkgroupSizeX)) && t.workgroupBytes() <= int(l.MaxWorkgroupStorage)
}

// matrixTuning takes the largest matrices of float16 with float32 sums that fit.
// All subgroups have to be of one size: it says which of the threads are one.
func matrixTuning(info wgslkit.Info, l wgslkit.Limits) MatrixTuning {
	var best MatrixTuning
	if info.SubgroupMin != info.SubgroupMax || info.SubgroupMax == 0 {
		return best
	}
	for _, m := range info.SubgroupMatrices {
		t := MatrixTuning{Size: m.M, K: m.K, Subgroup: info.SubgroupMax, KeyMatrices: 4}
		if m.Component == wgslkit.MatrixF16 && m.Result == wgslkit.MatrixF32 && m.M == m.N && t.fits(l) && t.Size*t.K > best.Size*best.K {
			best = t
		}
	}
	return best
}

// matmulMatrixParams is Params of wgsl/matmul_matrix.wgsl.
type matmulMatrixParams struct{ Rows, Units, Steps, RowSize, Plane1, Plane2, Splits, Capacity uint32 }

// matmulHalvesParams is Params of wgsl/matmul_halves.wgsl.
type matmulHalvesParams struct {
	Cols, Steps, XOffset, XStride uint32
	InMin, InMax                  float32
}

// onMatrices says whether a product goes through subgroup matrices.
func (r *Recorder) onMatrices(o Linear) bool {
	t := r.kit.tuning.Matrices
	if t.Size == 0 || r.kit.tuning.SmallKernels || o.LowRank != nil || !r.large(o) {
		return false
	}
	most := r.kit.dev.Limits().MaxStorageBindingSize
	for _, tile := range o.W.tiles {
		if 4*int64(r.matrixSums(tile)) > most {
			return false
		}
	}
	return true
}

// matrixSplits is how many parts a tile's columns are split into.
func (r *Recorder) matrixSplits(w *Matrix, tile matrixTile) int {
	n := r.kit.tuning.Matrices.tile()
	tiles := ceilDiv(tile.rows, n) * ceilDiv(r.width, n)
	return r.fittingSplits(min(fullMatrices/tiles, w.Cols/leastSplitMatrices), r.matrixSums(tile))
}

// matrixSums is how many sums a split of a tile leaves, whole tiles of them.
func (r *Recorder) matrixSums(tile matrixTile) int {
	n := r.kit.tuning.Matrices.tile()
	return ceilDiv(r.width, n) * n * ceilDiv(tile.rows, n) * n
}

// matmulMatrix records a product of many tokens by many rows whose input is ready,
// on subgroup matrices.
func (r *Recorder) matmulMatrix(o Linear) {
	w, t := o.W, r.kit.tuning.Matrices
	steps := ceilDiv(w.Cols, matrixColumns)
	halves, factors := r.halfInputs(o, steps)
	for _, tile := range w.tiles {
		splits := r.matrixSplits(w, tile)
		sums := r.temp("sums of splits", splits*r.matrixSums(tile))
		if r.err != nil {
			return
		}
		tiles := wgslkit.Grid{X: uint32(ceilDiv(tile.rows, t.tile())), Y: 1, Z: uint32(splits), Tile: uint32(t.tile()), Along: wgslkit.AlongY}
		capacity := ceilDiv(r.width, t.tile()) * t.tile()
		v := w.variant()
		v["MATRIX"], v["MATRIX_K"], v["SUBGROUP"], v["TURNS"] = t.Size, t.K, t.Subgroup, t.tile()/t.threads()
		v["SIDE"], v["COLUMN_STEPS"] = matrixSide, matrixColumns/t.K
		r.dispatch("matmul_matrix.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Params: matmulMatrixParams{
				Rows: uint32(tile.rows), Units: uint32(w.row.units), Steps: uint32(steps), RowSize: uint32(w.row.size),
				Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2), Splits: uint32(splits), Capacity: uint32(capacity),
			},
			Bind: append([]wgslkit.Binding{r.state.All(), tile.bind()}, bindAll(halves, sums)...),
			Grid: tiles,
		})
		r.matmulSum(o, matmulLargeParamsOf(o, tile, splits, capacity), wgslkit.Variant{"TILE": t.tile()}, sums, factors)
	}
}

// halfInputs records the inputs of o in float16, in steps of 32 columns, and what each
// token's sums are to be multiplied by.
func (r *Recorder) halfInputs(o Linear, steps int) (halves, factors *wgslkit.Buffer) {
	halves = r.temp("half inputs", r.width*steps*matrixColumns/2)
	factors = r.temp("factors of half inputs", r.width)
	if r.err != nil {
		return nil, nil
	}
	params := matmulHalvesParams{
		Cols: uint32(o.W.Cols), Steps: uint32(steps), XOffset: uint32(o.In.Offset), XStride: uint32(o.In.Stride),
	}
	params.InMin, params.InMax = o.Bounds.inputs()
	r.dispatch("matmul_halves.wgsl", wgslkit.Variant{"THREADS": r.kit.tuning.Threads, "BOUNDED": o.Bounds != nil}, wgslkit.Call{
		Label: o.Label + " inputs", Params: params, Bind: bindAll(o.In.X, halves, factors),
		Grid: wgslkit.Grid{X: 1, Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
	return halves, factors
}
