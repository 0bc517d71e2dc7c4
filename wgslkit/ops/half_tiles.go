package ops

// ThroughFloat16 says whether Linear rounds the inputs and the weights of o to float16:
// on subgroup matrices (MatrixTuning) or in tiles (Tuning.HalfTiles). Sums are float32.
func (r *Recorder) ThroughFloat16(o Linear) bool {
	if r.err != nil || o.W == nil {
		return false
	}
	o = o.complete()
	if o.In.Add != nil || o.In.Norm != nil { // what these leave lies row by row
		o.In.Offset, o.In.Stride = 0, o.W.Cols
	}
	return r.onMatrices(o) || r.onHalfTiles(o)
}

// onHalfTiles says whether the tiles of a product that takes no subgroup matrices
// are float16. Programs of fewer tokens than a tile has decode more than they multiply.
func (r *Recorder) onHalfTiles(o Linear) bool {
	t := r.kit.tuning
	return t.HalfTiles && t.F16 && !t.SmallKernels && !t.MatvecLooped && o.LowRank == nil && r.width >= matmulTile &&
		o.W.Cols%16 == 0 && o.In.Stride%4 == 0 && o.In.Offset%4 == 0
}

// halved is o with inputs of float16, which it records.
func (r *Recorder) halved(o Linear) Linear {
	steps := ceilDiv(o.W.Cols, matrixColumns)
	o.In.X, o.factors = r.halfInputs(o, steps)
	o.In.Offset, o.In.Stride = 0, steps*matrixColumns
	return o
}
