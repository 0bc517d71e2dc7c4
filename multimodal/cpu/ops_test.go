package cpu

import (
	"context"
	"math"
	"math/cmplx"
	"testing"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// Each op is compared with another way to compute it, in float64.

func normal(n int, seed uint64) []float32 {
	values := uniform(n, -1.7, 1.7, seed) // deviation about 1
	return values
}

func closeTo(t *testing.T, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, wanted %d", len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tolerance*math.Max(1, math.Abs(w))) {
			t.Fatalf("value %d is %v, wanted %v", i, got[i], w)
		}
	}
}

// A pair of values is a complex number, which a rotation multiplies by e^(i·angle).
func TestRotation2D(t *testing.T) {
	const columns, rows, heads, headDim, first = 7, 5, 3, 12, 4
	patches := columns*rows - first
	x := normal(patches*heads*headDim, 1)
	want := make([]float64, len(x))
	for i := range x {
		patch, j := first+i/(heads*headDim), i%headDim
		position, pair := patch%columns, j%(headDim/2)%(headDim/4)
		if j >= headDim/2 {
			position = patch / columns
		}
		start := i - j + j/(headDim/2)*headDim/2 // of this half of the head
		z := complex(float64(x[start+pair]), float64(x[start+pair+headDim/4]))
		angle := float64(position) / math.Pow(100, float64(pair)/(headDim/4))
		z *= cmplx.Exp(complex(0, angle))
		want[i] = real(z)
		if j%(headDim/2) >= headDim/4 {
			want[i] = imag(z)
		}
	}
	newRotation2D(headDim, columns, rows).apply(x, first, heads)
	closeTo(t, x, want, 1e-5)
}

func TestFullAttention(t *testing.T) {
	const patches, heads, headDim = 23, 3, 8
	const width = heads * headDim
	v := &Vision{config: &arch.Vision{Width: width, Heads: heads}, cores: newCores(t)}
	q, keys, values := normal(patches*width, 1), normal(patches*width, 2), normal(patches*width, 3)
	kv := newKeysValues(patches, width)
	for _, batch := range [][2]int{{0, 9}, {9, patches}} {
		kv.put(kv.k, keys[batch[0]*width:batch[1]*width], batch[0], width)
		kv.put(kv.v, values[batch[0]*width:batch[1]*width], batch[0], width)
	}
	want := make([]float64, len(q))
	for i := range patches {
		for h := range heads {
			var weights [patches]float64
			var sum float64
			for j := range patches {
				var score float64
				for d := range headDim {
					score += float64(q[(i*heads+h)*headDim+d]) * float64(keys[(j*heads+h)*headDim+d])
				}
				weights[j] = math.Exp(score)
				sum += weights[j]
			}
			for j, w := range weights {
				for d := range headDim {
					want[(i*heads+h)*headDim+d] += w / sum * float64(values[(j*heads+h)*headDim+d])
				}
			}
		}
	}
	if err := v.attend(context.Background(), q, kv); err != nil {
		t.Fatal(err)
	}
	closeTo(t, q, want, 1e-5)
}

func newCores(t *testing.T) *cpu.Cores {
	cores := cpu.NewCores(2)
	t.Cleanup(cores.Close)
	return cores
}

func TestPool(t *testing.T) {
	const columns, rows, side, n = 9, 6, 3, 5
	v := &Vision{config: &arch.Vision{Width: n, Pool: side}, stdBias: normal(n, 1), stdScale: normal(n, 2)}
	image := &image{columns: columns, rows: rows, x: normal(columns*rows*n, 3)}
	want := make([]float64, columns*rows/(side*side)*n)
	for i, x := range image.x {
		patch, j := i/n, i%n
		square := patch/columns/side*(columns/side) + patch%columns/side
		want[square*n+j] += float64(x) * math.Sqrt(n) / (side * side)
	}
	for i := range want {
		want[i] = (want[i] - float64(v.stdBias[i%n])) * float64(v.stdScale[i%n])
	}
	closeTo(t, v.pool(image), want, 1e-5)
}

// The convolution is a sum over the window of each output, for images of 3 × 3
// values and more.
func TestConvolution(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {37, 12}} { // times, bins
		times, bins, in, out := size[0], size[1], 3, 4
		w, norm := normal(out*in*9, 1), normal(out, 2)
		x := normal(times*bins*in, 3)
		c := &conv{in: in, out: out, w: matrixOf(t, w, 9*in), norm: norm}
		got, err := c.apply(context.Background(), newCores(t), x, bins, 1e-3)
		if err != nil {
			t.Fatal(err)
		}
		width := (bins + 1) / 2
		var want []float64
		for i := range (times + 1) / 2 * width {
			sums := make([]float64, out)
			for o := range sums {
				for c := range in {
					for tap := range 9 {
						time, bin := 2*(i/width)+tap/3-1, 2*(i%width)+tap%3-1
						if time >= 0 && time < times && bin >= 0 && bin < bins {
							sums[o] += float64(w[(o*in+c)*9+tap]) * float64(x[(time*bins+bin)*in+c])
						}
					}
				}
			}
			want = append(want, layerNormReLUTwin(sums, norm, 1e-3)...)
		}
		closeTo(t, got, want, 1e-4)
	}
}

func layerNormReLUTwin(x []float64, w []float32, eps float64) []float64 {
	n := float64(len(x))
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	variance := squares/n - sum/n*sum/n
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Max(0, (v-sum/n)/math.Sqrt(variance+eps)*float64(w[i]))
	}
	return y
}

func TestGLU(t *testing.T) {
	const n = 5
	x := normal(3*2*n, 1)
	want := make([]float64, 3*n)
	for i := range want {
		a, b := x[i/n*2*n+i%n], x[i/n*2*n+n+i%n]
		want[i] = float64(a) / (1 + math.Exp(-float64(b)))
	}
	y := make([]float32, 3*n)
	glu(y, x, n)
	closeTo(t, y, want, 1e-6)
}

func TestDepthwise(t *testing.T) {
	const n, taps = 3, 4
	x, w := normal(7*n, 1), normal(n*taps, 2)
	want := make([]float64, len(x))
	for i := range want {
		for back := range taps { // how many positions back
			if from := i - back*n; from >= 0 {
				want[i] += float64(w[i%n*taps+taps-1-back]) * float64(x[from])
			}
		}
	}
	y := make([]float32, len(x))
	depthwise(y, x, w, n)
	closeTo(t, y, want, 1e-5)
}

func TestClip(t *testing.T) {
	x := []float32{-3, -2, 0, 1, 4, float32(math.Inf(1))}
	clip(x, -2, 1.5)
	closeTo(t, x, []float64{-2, -2, 0, 1, 1.5, 1.5}, 0)
}
