package sound

import (
	"fmt"
	"math"
)

// The low-pass filter: a sinc with a Kaiser window, 64 zero crossings to each
// side. With beta 9 what lies above half the lower of the two rates is damped by 90 dB;
// 91 % of what lies below is passed unchanged.
const (
	crossings  = 64
	kaiserBeta = 9
	// rolloff puts the end of the filter's slope, 5.7 crossings⁻¹ wide, at half the rate.
	rolloff = 1 - 2.85/crossings
	// maxWeights bounds the table of a filter. Above it, fewer places are tabled,
	// but tabledPlaces where there is room, and others interpolated.
	maxWeights   = 1 << 17
	tabledPlaces = 512
)

// Mono16k brings the recording to [Rate] with a low-pass filter, so that what lies
// above 8 kHz vanishes instead of turning up below. The result begins at the same
// instant and is as long, rounded up to a sample. A recording that has the rate is
// returned as it is.
func (s *Samples) Mono16k() ([]float32, error) {
	if s.Rate < minRate || s.Rate > maxRate {
		return nil, fmt.Errorf("sound: %d samples in a second, want %d to %d: %w", s.Rate, minRate, maxRate, ErrSamples)
	}
	if s.Rate == Rate {
		return s.Data, nil
	}
	f := newFilter(s.Rate, Rate)
	out := make([]float32, (len(s.Data)*f.up+f.down-1)/f.down)
	for i := range out {
		out[i] = f.at(s.Data, i)
	}
	return out, nil
}

// A filter computes samples at another rate: output i lies at input i·down/up.
type filter struct {
	up, down int // the rates without their common divisor
	reach    int // inputs to each side of an output
	places   int // tabled between two inputs
	weights  []float64
}

// newFilter tables the weights for each place that an output can have between two
// inputs, of which there are up, or for fewer where that is too large a table: between
// rates with a small common divisor.
func newFilter(from, to int) *filter {
	common := gcd(from, to)
	f := &filter{up: to / common, down: from / common}
	cutoff := rolloff * min(1, float64(to)/float64(from)) // of half the input's rate
	half := crossings / cutoff                            // of the window, in inputs
	f.reach = int(math.Ceil(half))
	f.places = f.up
	if room := maxWeights / (2 * f.reach); f.up > room {
		f.places = min(max(room, 16), tabledPlaces)
	}
	f.weights = make([]float64, (f.places+1)*2*f.reach)
	for p := range f.places + 1 {
		w := f.place(p)
		sum := 0.0
		for i := range w {
			x := float64(i-f.reach+1) - float64(p)/float64(f.places)
			w[i] = sinc(cutoff*x) * kaiser(x/half)
			sum += w[i]
		}
		for i := range w {
			w[i] /= sum // a constant keeps its value
		}
	}
	return f
}

// place is the weights of an output that lies p/places behind input k, for the
// inputs k−reach+1 … k+reach.
func (f *filter) place(p int) []float64 {
	return f.weights[p*2*f.reach : (p+1)*2*f.reach]
}

// at is output i; there is silence before and behind the input.
func (f *filter) at(in []float32, i int) float32 {
	k, rest := i*f.down/f.up, i*f.down%f.up
	p, between := rest*f.places/f.up, rest*f.places%f.up
	first := k - f.reach + 1
	sum := dot(in, first, f.place(p))
	if between > 0 {
		sum += (dot(in, first, f.place(p+1)) - sum) * float64(between) / float64(f.up)
	}
	return float32(sum)
}

// dot weighs what there is of in from first on, which may lie before its beginning.
func dot(in []float32, first int, weights []float64) float64 {
	if first < 0 {
		weights, first = weights[min(-first, len(weights)):], 0
	}
	in = in[min(first, len(in)):min(first+len(weights), len(in))]
	// Four sums, since each addition waits for the one before.
	var sums [4]float64
	for ; len(in) >= 4 && len(weights) >= 4; in, weights = in[4:], weights[4:] {
		sums[0] += float64(in[0]) * weights[0]
		sums[1] += float64(in[1]) * weights[1]
		sums[2] += float64(in[2]) * weights[2]
		sums[3] += float64(in[3]) * weights[3]
	}
	for j, v := range in {
		sums[j] += float64(v) * weights[j]
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window I₀(β·√(1 − x²)) for −1 ≤ x ≤ 1, up to a factor.
func kaiser(x float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return bessel0(kaiserBeta * math.Sqrt(1-x*x))
}

// bessel0 is the modified Bessel function of the first kind and order 0:
// Σ ((x/2)ᵏ / k!)².
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= (x / 2) / k * (x / 2) / k
		sum += term
	}
	return sum
}
