package cpu

import "math"

// pool averages each square of pool × pool patches, row by row, into y, [soft
// tokens, n], and multiplies by √n. Where the tower standardises, y becomes
// (y − std_bias) ⊙ std_scale.
func (v *Vision) pool(image *image) []float32 {
	n, side := v.config.Width, v.config.Pool
	columns, rows := image.columns/side, image.rows/side
	factor := math.Sqrt(float64(n)) / float64(side*side)
	y := make([]float32, columns*rows*n)
	sum := make([]float64, n)
	for i := range columns * rows {
		clear(sum)
		top, left := i/columns*side, i%columns*side
		for square := range side * side {
			patch := (top+square/side)*image.columns + left + square%side
			for j, x := range image.x[patch*n : (patch+1)*n] {
				sum[j] += float64(x)
			}
		}
		for j := range sum {
			y[i*n+j] = float32(sum[j] * factor)
		}
	}
	v.standardise(y)
	return y
}

func (v *Vision) standardise(y []float32) {
	if v.stdBias == nil {
		return
	}
	for i := range y {
		j := i % v.config.Width
		y[i] = (y[i] - v.stdBias[j]) * v.stdScale[j]
	}
}
