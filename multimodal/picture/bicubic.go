package picture

import (
	"math"
	"runtime"
	"sync"
)

// pillowPrecision is the number of binary places of Pillow's weights: what is left of 32
// bits after 8 for the value and 2 for what several weights add up to.
const pillowPrecision = 32 - 8 - 2

// torchPrecision is the number of binary places of torchvision's weights, which are 16
// bits: as many as the largest of them has room for.
func torchPrecision(largest float64) int {
	p := 0
	for p < pillowPrecision && int(0.5+largest*float64(int(1)<<(p+1))) < 1<<15 {
		p++
	}
	return p
}

// Resize brings an image to width × height pixels with Pillow's bicubic filter,
// bit for bit: separable, wider when shrinking (so that it does not alias), in
// whole numbers, with the result of the horizontal pass rounded to 8 bits. A
// pass that changes nothing is left out; where both are, m itself is returned.
//
// The formulas are Pillow's, src/libImaging/Resample.c.
func (m *RGB) Resize(width, height int) *RGB {
	return m.resize(width, height, func(float64) int { return pillowPrecision })
}

// ResizeLikeTorch is Resize with torchvision's weights, bit for bit: the same filter in
// coarser numbers, so that some pixels are a level off. The references of videos and of
// models without an image tower resize with it.
//
// The formulas are those of ATen/native/cpu/UpSampleKernel.cpp for uint8.
func (m *RGB) ResizeLikeTorch(width, height int) *RGB { return m.resize(width, height, torchPrecision) }

func (m *RGB) resize(width, height int, precision func(largest float64) int) *RGB {
	if width != m.Width {
		m = m.resizeRows(newTaps(m.Width, width, precision))
	}
	if height != m.Height {
		m = m.resizeColumns(newTaps(m.Height, height, precision))
	}
	return m
}

// taps are what the output pixels take from their axis.
type taps struct {
	precision int // binary places of the weights
	each      []tap
}

// A tap is what one output pixel takes from its axis: weights of the inputs from
// first on, which add up to about 1<<precision.
type tap struct {
	first   int
	weights []int32
}

// newTaps finds the weights for out pixels of in, along one axis. How precise they are
// depends on the largest of them.
func newTaps(in, out int, precision func(largest float64) int) taps {
	exact, largest := exactTaps(in, out)
	t := taps{precision(largest), make([]tap, out)}
	for i, e := range exact {
		t.each[i] = tap{e.first, fixedPoint(e.weights, t.precision)}
	}
	return t
}

// An exactTap is a tap before its weights, whose sum is 1, are rounded.
type exactTap struct {
	first   int
	weights []float64
}

func exactTaps(in, out int) (list []exactTap, largest float64) {
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := 2 * stretch
	list = make([]exactTap, out)
	for i := range list {
		center := (float64(i) + 0.5) * scale
		first := max(int(center-support+0.5), 0)
		end := min(int(center+support+0.5), in)
		weights := make([]float64, 0, max(end-first, 0))
		sum := 0.0
		for j := first; j < end; j++ {
			w := cubic((float64(j) - center + 0.5) * (1 / stretch))
			weights = append(weights, w)
			sum += w
		}
		for j := range weights {
			if sum != 0 {
				weights[j] /= sum
			}
			largest = max(largest, weights[j])
		}
		list[i] = exactTap{first, weights}
	}
	return list, largest
}

// cubic is the interpolation kernel of Keys with a = −0.5. The conversions keep
// a compiler from fusing products and sums, which would round otherwise.
func cubic(x float64) float64 {
	const a = -0.5
	switch x = math.Abs(x); {
	case x < 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return (float64((float64((x-5)*x)+8)*x) - 4) * a
	}
	return 0
}

// fixedPoint rounds weights, half away from zero, to precision binary places.
func fixedPoint(weights []float64, precision int) []int32 {
	fixed := make([]int32, len(weights))
	for i, w := range weights {
		fixed[i] = int32(math.Round(w * float64(int(1)<<precision)))
	}
	return fixed
}

// toByte ends a sum of weighted values that began with half.
func toByte(sum int32, precision int) uint8 { return uint8(min(max(sum>>precision, 0), 255)) }

// resizeRows makes as many columns as there are taps.
func (m *RGB) resizeRows(t taps) *RGB {
	out := newRGB(len(t.each), m.Height)
	inParallel(m.Height, func(y, end int) {
		for ; y < end; y++ {
			weighRow(out.row(y), m.row(y), t)
		}
	})
	return out
}

func weighRow(dst, src []uint8, taps taps) {
	half := int32(1) << taps.precision >> 1
	for _, t := range taps.each {
		r, g, b := half, half, half
		window := src[3*t.first:]
		for _, w := range t.weights {
			r += w * int32(window[0])
			g += w * int32(window[1])
			b += w * int32(window[2])
			window = window[3:]
		}
		dst[0], dst[1], dst[2] = toByte(r, taps.precision), toByte(g, taps.precision), toByte(b, taps.precision)
		dst = dst[3:]
	}
}

// resizeColumns makes as many rows as there are taps.
func (m *RGB) resizeColumns(t taps) *RGB {
	out := newRGB(m.Width, len(t.each))
	inParallel(len(t.each), func(y, end int) {
		sums := make([]int32, 3*m.Width)
		for ; y < end; y++ {
			m.weighRows(out.row(y), sums, t.each[y], t.precision)
		}
	})
	return out
}

func (m *RGB) weighRows(dst []uint8, sums []int32, t tap, precision int) {
	for x := range sums {
		sums[x] = 1 << precision >> 1
	}
	for i, w := range t.weights {
		for x, v := range m.row(t.first + i) {
			sums[x] += w * int32(v)
		}
	}
	for x, sum := range sums {
		dst[x] = toByte(sum, precision)
	}
}

// inParallel splits n rows among the processors.
func inParallel(n int, do func(first, end int)) {
	var all sync.WaitGroup
	parts := min(runtime.GOMAXPROCS(0), n)
	for p := range parts {
		all.Go(func() { do(n*p/parts, n*(p+1)/parts) })
	}
	all.Wait()
}
