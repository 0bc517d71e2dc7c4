package cpu

import "math"

// rotation holds cos and sin of every angle of a run of positions, for layers of
// one kind: [positions, D/2].
type rotation struct {
	half     int
	cos, sin []float32
}

// newRotation computes the angles p·θ^(−2n/D) / factor[n] of pairs n < D/2 for
// the positions p from first on; no factors means 1. The frequencies and angles
// are rounded to float32 as the model's release does.
func newRotation(headDim int, theta float32, factors []float32, positions []int) rotation {
	half := headDim / 2
	n := len(positions) * half
	r := rotation{half: half, cos: make([]float32, n), sin: make([]float32, n)}
	for n := range half {
		frequency := math.Pow(float64(theta), -float64(2*n)/float64(headDim))
		if factors != nil {
			frequency /= float64(factors[n])
		}
		for i, p := range positions {
			angle := float32(p) * float32(frequency)
			sin, cos := math.Sincos(float64(angle))
			r.cos[i*half+n], r.sin[i*half+n] = float32(cos), float32(sin)
		}
	}
	return r
}

// run is the positions from first on.
func run(first, n int) []int {
	positions := make([]int, n)
	for i := range positions {
		positions[i] = first + i
	}
	return positions
}

// last returns the rotation of the last n positions alone.
func (r rotation) last(n int) rotation {
	skip := len(r.cos) - n*r.half
	return rotation{half: r.half, cos: r.cos[skip:], sin: r.sin[skip:]}
}

// apply rotates heads of vectors [positions, heads, D] in place: pair n is the
// values n and n + D/2 of a head.
func (r rotation) apply(x []float32, heads int) {
	for i := 0; i*heads*2*r.half < len(x); i++ {
		cos, sin := r.cos[i*r.half:(i+1)*r.half], r.sin[i*r.half:(i+1)*r.half]
		for h := range heads {
			head := x[(i*heads+h)*2*r.half:]
			a, b := head[:r.half], head[r.half:2*r.half]
			for n := range a {
				a[n], b[n] = a[n]*cos[n]-b[n]*sin[n], b[n]*cos[n]+a[n]*sin[n]
			}
		}
	}
}
