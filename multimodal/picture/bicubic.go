package picture

import (
	"math"
	"runtime"
	"sync"
)

// precision is the number of binary places of a weight: what is left of 32 bits
// after 8 for the value and 2 for what several weights add up to.
const precision = 32 - 8 - 2

const half = 1 << (precision - 1)

// Resize brings an image to width × height pixels with Pillow's bicubic filter,
// bit for bit: separable, wider when shrinking (so that it does not alias), in
// whole numbers, with the result of the horizontal pass rounded to 8 bits. A
// pass that changes nothing is left out; where both are, m itself is returned.
//
// The formulas are Pillow's, src/libImaging/Resample.c.
func (m *RGB) Resize(width, height int) *RGB {
	if width != m.Width {
		m = m.resizeRows(newTaps(m.Width, width))
	}
	if height != m.Height {
		m = m.resizeColumns(newTaps(m.Height, height))
	}
	return m
}

// A tap is what one output pixel takes from its axis: weights of the inputs from
// first on, which add up to about 1<<precision.
type tap struct {
	first   int
	weights []int32
}

// newTaps finds the weights for out pixels of in, along one axis.
func newTaps(in, out int) []tap {
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := 2 * stretch
	taps := make([]tap, out)
	weights := make([]float64, 0, int(math.Ceil(support))*2+1)
	for i := range taps {
		center := (float64(i) + 0.5) * scale
		first := max(int(center-support+0.5), 0)
		end := min(int(center+support+0.5), in)
		weights = weights[:0]
		sum := 0.0
		for j := first; j < end; j++ {
			w := cubic((float64(j) - center + 0.5) * (1 / stretch))
			weights = append(weights, w)
			sum += w
		}
		taps[i] = tap{first, fixedPoint(weights, sum)}
	}
	return taps
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

// fixedPoint scales weights to the sum 1 and rounds them, half away from zero,
// to precision binary places.
func fixedPoint(weights []float64, sum float64) []int32 {
	fixed := make([]int32, len(weights))
	for i, w := range weights {
		if sum != 0 {
			w /= sum
		}
		fixed[i] = int32(math.Round(w * (1 << precision)))
	}
	return fixed
}

// toByte ends a sum of weighted values that began with half.
func toByte(sum int32) uint8 { return uint8(min(max(sum>>precision, 0), 255)) }

// resizeRows makes len(taps) columns.
func (m *RGB) resizeRows(taps []tap) *RGB {
	out := newRGB(len(taps), m.Height)
	inParallel(m.Height, func(y, end int) {
		for ; y < end; y++ {
			weighRow(out.row(y), m.row(y), taps)
		}
	})
	return out
}

func weighRow(dst, src []uint8, taps []tap) {
	for _, t := range taps {
		var r, g, b int32 = half, half, half
		window := src[3*t.first:]
		for _, w := range t.weights {
			r += w * int32(window[0])
			g += w * int32(window[1])
			b += w * int32(window[2])
			window = window[3:]
		}
		dst[0], dst[1], dst[2] = toByte(r), toByte(g), toByte(b)
		dst = dst[3:]
	}
}

// resizeColumns makes len(taps) rows.
func (m *RGB) resizeColumns(taps []tap) *RGB {
	out := newRGB(m.Width, len(taps))
	inParallel(len(taps), func(y, end int) {
		sums := make([]int32, 3*m.Width)
		for ; y < end; y++ {
			m.weighRows(out.row(y), sums, taps[y])
		}
	})
	return out
}

func (m *RGB) weighRows(dst []uint8, sums []int32, t tap) {
	for x := range sums {
		sums[x] = half
	}
	for i, w := range t.weights {
		for x, v := range m.row(t.first + i) {
			sums[x] += w * int32(v)
		}
	}
	for x, sum := range sums {
		dst[x] = toByte(sum)
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
