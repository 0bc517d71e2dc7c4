package product

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

const (
	// fullMatrices is about as many of its workgroups as a large GPU runs at once;
	// leastSplitMatrices is the fewest columns that a split is worth while for.
	fullMatrices, leastSplitMatrices = 288, 256
)

// matmulMatrixParams is Params of matmul_matrix.wgsl.
type matmulMatrixParams struct{ Rows, Units, Steps, RowSize, Plane1, Plane2, Splits, Capacity uint32 }

// matmulHalvesParams is Params of matmul_halves.wgsl.
type matmulHalvesParams struct {
	Cols, Steps, XOffset, XStride uint32
	InMin, InMax                  float32
}

// fitsSums says whether a binding holds the sums of each tile.
func (p *operand) fitsSums(r *record.Recorder) bool {
	for _, tile := range p.W.Tiles {
		if 4*int64(matrixSums(r, tile)) > r.Limits().MaxStorageBindingSize {
			return false
		}
	}
	return true
}

// matrixSplits is how many parts a tile's columns are split into.
func matrixSplits(r *record.Recorder, w *weights.Matrix, tile weights.MatrixTile) int {
	n := r.Tuning().Matrices.Tile()
	tiles := record.CeilDiv(tile.Rows, n) * record.CeilDiv(r.Width(), n)
	return fittingSplits(r, min(fullMatrices/tiles, w.Cols/leastSplitMatrices), matrixSums(r, tile))
}

// matrixSums is how many sums a split of a tile leaves, whole tiles of them.
func matrixSums(r *record.Recorder, tile weights.MatrixTile) int {
	n := r.Tuning().Matrices.Tile()
	return record.CeilDiv(r.Width(), n) * n * record.CeilDiv(tile.Rows, n) * n
}

// recordMatrices records a product of many tokens by many rows on subgroup matrices.
func recordMatrices(r *record.Recorder, p *operand) {
	w, t := p.W, r.Tuning().Matrices
	for _, tile := range w.Tiles {
		splits := matrixSplits(r, w, tile)
		sums := r.Temp("sums of splits", splits*matrixSums(r, tile))
		if r.Err() != nil {
			return
		}
		params := p.params.of(tile)
		params.Splits, params.Capacity = uint32(splits), uint32(record.CeilDiv(r.Width(), t.Tile())*t.Tile())
		v := w.Variant()
		weights.ShareCodebook(v, 160*t.Tile(), int(r.Limits().MaxWorkgroupStorage))
		v["MATRIX"], v["MATRIX_K"], v["SUBGROUP"], v["TURNS"] = t.Size, t.K, t.Subgroup, t.Tile()/t.Threads()
		v["SIDE"], v["COLUMN_STEPS"] = record.MatrixSide, record.MatrixColumns/t.K
		r.Dispatch(Files, "matmul_matrix.wgsl", v, wgslkit.Call{
			Label: p.Label,
			Params: w.WithCodebook(matmulMatrixParams{
				Rows: params.Rows, Units: params.Units, Steps: uint32(halfSteps(w)), RowSize: params.RowSize,
				Plane1: params.Plane1, Plane2: params.Plane2, Splits: params.Splits, Capacity: params.Capacity,
			}),
			Bind: append([]wgslkit.Binding{r.State().All(), tile.Bind()}, record.BindAll(p.In.X, sums)...),
			Grid: wgslkit.Grid{
				X: uint32(record.CeilDiv(tile.Rows, t.Tile())), Y: 1, Z: uint32(splits), Tile: uint32(t.Tile()),
				Along: wgslkit.AlongY,
			},
		})
		endSums(r, p, params, wgslkit.Variant{"TILE": t.Tile()}, sums, p.factors)
	}
}

// halfSteps is how many steps of columns inputs of float16 lie in.
func halfSteps(w *weights.Matrix) int { return record.CeilDiv(w.Cols, record.MatrixColumns) }

// halfInputs records the inputs of p in float16, in steps of 32 columns, and what each
// token's sums are to be multiplied by.
func halfInputs(r *record.Recorder, p *operand) (in Input, factors *wgslkit.Buffer) {
	steps := halfSteps(p.W)
	halves := r.Temp("half inputs", r.Width()*steps*record.MatrixColumns/2)
	factors = r.Temp("factors of half inputs", r.Width())
	if r.Err() != nil {
		return p.In, nil
	}
	params := matmulHalvesParams{
		Cols: p.params.Cols, Steps: uint32(steps), XOffset: uint32(p.In.Offset), XStride: uint32(p.In.Stride),
		InMin: p.params.InMin, InMax: p.params.InMax,
	}
	v := wgslkit.Variant{"THREADS": r.Tuning().Threads, "BOUNDED": p.Bounds != nil}
	r.Dispatch(Files, "matmul_halves.wgsl", v, wgslkit.Call{
		Label: p.Label + " inputs", Params: params, Bind: record.BindAll(p.In.X, halves, factors),
		Grid: wgslkit.Grid{X: 1, Y: 1, Tile: 1, Along: wgslkit.AlongY},
	})
	return Input{X: halves, Stride: steps * record.MatrixColumns}, factors
}
