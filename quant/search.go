package quant

import "math"

// Encoders look for the scale of a sub-block as ggml's do: try a few scales around the obvious one, solve for
// the best scale given the levels that each leads to, and keep what leaves the least squared error. Errors
// count more where values are large: these matter more to a dot product. Products are rounded before they are
// summed (no fused multiply-add), so that the same values give the same bytes on every machine.

// negligible is the magnitude below which a sub-block counts as zero: no float16 scale could hold it.
const negligible = 1e-15

// affineTrials are what the span of the values is divided by, less the top level. Denser trials gain less
// than 0.2% of the error.
var affineTrials = [...]float32{0, -0.8, -0.4, 0.4, 0.8}

// fitAffine finds scale, low ≥ 0 such that x ≈ scale·q − low for levels q in 0 … top.
func fitAffine(x *[32]float32, top int32) (scale, low float32) {
	var squares float32
	for _, v := range x {
		squares += float32(v * v)
	}
	rms := float32(math.Sqrt(float64(squares / 32)))
	var weight [32]float32
	for i, v := range x {
		weight[i] = rms + abs(v)
	}
	return newAffineFit(x[:], weight[:], top).search(affineTrials[:])
}

// affineFit is a weighted least squares problem over scale and low, with the levels fixed by each trial.
type affineFit struct {
	x, weight []float32
	top       int32
	low, span float32 // −low is the smallest value (or 0), span reaches from there to the largest
	// Sums of weight, weight·x.
	sumW, sumX float32

	bestGain, bestScale, bestLow float32
}

func newAffineFit(x, weight []float32, top int32) *affineFit {
	f := &affineFit{x: x, weight: weight, top: top}
	var smallest float32
	largest := x[0]
	for i, v := range x {
		smallest, largest = min(smallest, v), max(largest, v)
		f.sumW += weight[i]
		f.sumX += float32(weight[i] * v)
	}
	f.low, f.span = -smallest, largest-smallest
	f.bestLow = f.low
	return f
}

// search tries some scales and returns the best one with its low.
func (f *affineFit) search(trials []float32) (scale, low float32) {
	if f.span < negligible {
		return 0, f.low
	}
	for _, trial := range trials {
		f.try((float32(f.top)+trial)/f.span, f.low)
	}
	for range 2 { // levels for the solution may be better than those that led to it
		f.try(inverse(f.bestScale), f.bestLow)
	}
	return f.bestScale, f.bestLow
}

// try picks the levels for an inverse scale and a low, solves for the best scale and low given these levels,
// and keeps them if they are the best so far.
//
// With a = scale and b = −low the error is Σ w·(a·q + b − x)²; what it lies below Σ w·x² is
// 2a·Σwqx + 2b·Σwx − a²·Σwq² − 2ab·Σwq − b²·Σw, the gain.
func (f *affineFit) try(inverse, low float32) {
	var q1, q2, qx float32
	top := float32(f.top)
	x, weight := f.x, f.weight[:len(f.x)]
	for i, v := range x {
		q := clamp(roundToEven((v+low)*inverse), 0, top)
		wq := float32(weight[i] * q)
		q1 += wq
		q2 += float32(wq * q)
		qx += float32(wq * v)
	}
	if q2 == 0 {
		return
	}
	a, b := qx/q2, float32(0) // the best scale without a low
	// Where all levels are alike nothing tells scale and low apart, and det is 0 but for rounding.
	if det := float32(f.sumW*q2) - float32(q1*q1); det > 1e-5*q1*q1 {
		if low := (float32(q2*f.sumX) - float32(q1*qx)) / det; low < 0 {
			a, b = (float32(f.sumW*qx)-float32(q1*f.sumX))/det, low
		}
	}
	gain := float32(a*(qx+qx-float32(a*q2)-float32(2*b*q1))) + float32(b*(f.sumX+f.sumX-float32(b*f.sumW)))
	if a > 0 && gain > f.bestGain {
		f.bestGain, f.bestScale, f.bestLow = gain, a, -b
	}
}

// symmetricTrials are what the value of largest magnitude is divided by, less 32.
var symmetricTrials = [...]float32{0, -0.9, -0.6, -0.3, 0.3, 0.6, 0.9}

// fitSymmetric finds the scale, of either sign, such that x ≈ scale·q for levels q in −32 … 31.
// The value of largest magnitude decides the sign: it gets a negative level, where there is one more.
func fitSymmetric(x *[16]float32) (scale float32) {
	var largest float32
	for _, v := range x {
		if abs(v) > abs(largest) {
			largest = v
		}
	}
	if abs(largest) < negligible {
		return 0
	}
	var bestGain float32
	for _, trial := range symmetricTrials {
		inverse := -(32 + trial) / largest
		var qx, q2 float32 // Σ w·q·x and Σ w·q², with w = x²
		for _, v := range x {
			q := clamp(roundToEven(v*inverse), -32, 31)
			wq := float32(v*v) * q
			qx += float32(wq * v)
			q2 += float32(wq * q)
		}
		// The best scale is qx/q2; it takes qx²/q2 off the error.
		if gain := qx * qx; q2 > 0 && gain > float32(bestGain*q2) {
			bestGain, scale = gain/q2, qx/q2
		}
	}
	return scale
}

// unevenTrials is how many steps to either side the level of the value of largest magnitude is tried at.
const unevenTrials = 7

// fitUneven finds the scale, of either sign, such that x ≈ scale·level for levels of unevenLevels. Errors weigh
// importance·√(twice + x²), twice being twice the mean square of the block. These are ggml's trials in ggml's
// order, so that the same scale comes out.
func fitUneven(x, importance *[32]float32, twice float32) (scale float32) {
	largest := furthest(x)
	if abs(largest) < negligible {
		return 0
	}
	var weight [32]float32
	for i, v := range x {
		weight[i] = importance[i] * float32(math.Sqrt(float64(twice+float32(v*v))))
	}
	qx, q2 := sumUneven(x, &weight, 1/(largest/127))
	if q2 > 0 {
		scale = qx / q2
	}
	bestGain := scale * qx
	for trial := range 2*unevenTrials + 1 {
		qx, q2 := sumUneven(x, &weight, float32(trial-unevenTrials-127)/largest)
		// The best scale is qx/q2; it takes qx²/q2 off the error.
		if q2 > 0 && qx*qx > float32(bestGain*q2) {
			scale = qx / q2
			bestGain = scale * qx
		}
	}
	return scale
}

// sumUneven returns Σ w·q·x and Σ w·q² with the levels q that are closest to x·inverse.
func sumUneven(x, weight *[32]float32, inverse float32) (qx, q2 float32) {
	for i, v := range x {
		q := float32(unevenLevels[closestUneven(v*inverse)])
		wq := weight[i] * q
		qx += float32(wq * v)
		q2 += float32(wq * q)
	}
	return qx, q2
}

// twiceMeanSquare returns 2·Σx²/n.
func twiceMeanSquare(x []float32) (twice float32) {
	for _, v := range x {
		twice += float32(v * v)
	}
	return twice * (2 / float32(len(x)))
}

// inverse returns 1/v, or 0 where that is not finite.
func inverse(v float32) float32 {
	if r := 1 / v; abs(r) <= math.MaxFloat32 {
		return r
	}
	return 0
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// roundToInt rounds to the nearest integer, ties to even, for magnitudes below 2^22. The conversion of v
// keeps a product that the caller passes from being fused with the sum.
func roundToInt(v float32) int32 {
	// Added to 1.5·2^23, a value has its last bit at the ones.
	const shift = 3 << 22
	return int32(math.Float32bits(float32(v)+shift)&(1<<23-1)) - 1<<22
}

// roundToEven rounds to the nearest integer, ties to even, for magnitudes below 2^22; larger ones stay about
// as they are. The conversion of v is for what it is in roundToInt.
func roundToEven(v float32) float32 {
	const shift = 3 << 22 // a sum has its last bit at the ones
	return float32(float32(v)+shift) - shift
}

// clamp is faster than min and max, which order zeros and keep NaN.
func clamp(v, low, high float32) float32 {
	if v < low {
		return low
	}
	if v > high {
		return high
	}
	return v
}
