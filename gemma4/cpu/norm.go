package cpu

import "math"

// rmsNorm is y = x / √(mean(x²) + ε) ⊙ w, for vectors of len(w) that lie one
// behind the other in x. y may be x.
func rmsNorm(y, x, w []float32, eps float32) {
	n := len(w)
	for i := 0; i+n <= len(x); i += n {
		scale := rmsScale(x[i:i+n], eps)
		for j, v := range x[i : i+n] {
			y[i+j] = float32(float64(v)*scale) * w[j]
		}
	}
}

// rmsNormPlain is rmsNorm without weights, for vectors of length n.
func rmsNormPlain(y, x []float32, n int, eps float32) {
	for i := 0; i+n <= len(x); i += n {
		scale := rmsScale(x[i:i+n], eps)
		for j, v := range x[i : i+n] {
			y[i+j] = float32(float64(v) * scale)
		}
	}
}

func rmsScale(x []float32, eps float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return 1 / math.Sqrt(sum/float64(len(x))+float64(eps))
}

// add is y = y + x.
func add(y, x []float32) {
	for i, v := range x {
		y[i] += v
	}
}

// scale is x = x · factor.
func scale(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}
