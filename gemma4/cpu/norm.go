package cpu

import "github.com/gemwire/gemwire/gemma4/cpu/kernel"

// rmsNorm is y = x / √(mean(x²) + ε) ⊙ w, for vectors of len(w) that lie one
// behind the other in x. y may be x.
func rmsNorm(y, x, w []float32, eps float32) { kernel.Best.RMSNorm(y, x, w, eps) }

// rmsNormPlain is rmsNorm without weights, for vectors of length n.
func rmsNormPlain(y, x []float32, n int, eps float32) { kernel.Best.RMSNormPlain(y, x, n, eps) }

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
