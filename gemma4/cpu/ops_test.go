package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/quant"
)

// The twins here are the formulas in float64, as slow and plain as they come.

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func decoded(rng *rand.Rand, rows, cols int) *matrix {
	return &matrix{rows: rows, cols: cols, values: random(rng, rows*cols)}
}

func near(t *testing.T, what string, got []float32, want []float64, limit float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, wanted %d", what, len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= limit*(1+math.Abs(w))) {
			t.Fatalf("%s: value %d is %v, wanted %v", what, i, got[i], w)
		}
	}
}

func rmsTwin(x []float32, eps float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v) / math.Sqrt(sum/float64(len(x))+eps)
	}
	return y
}

func TestRMSNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 31, 257} {
		x, w := random(rng, 3*n), random(rng, n)
		scale(x[:n], 1e-4) // where ε counts
		const eps = 1e-6
		var want, plain []float64
		for i := 0; i < len(x); i += n {
			for j, v := range rmsTwin(x[i:i+n], float64(float32(eps))) {
				plain = append(plain, v)
				want = append(want, v*float64(w[j]))
			}
		}
		y := make([]float32, len(x))
		rmsNorm(y, x, w, eps)
		near(t, "with weights", y, want, 2e-7)
		rmsNormPlain(y, x, n, eps)
		near(t, "without", y, plain, 2e-7)
	}
}

// Values of the tanh form, which differ from the exact gelu in the fourth digit.
func TestGelu(t *testing.T) {
	for x, want := range map[float32]float64{0: 0, 1: 0.8411919906, -1: -0.1588080094, 3: 2.9963627, -3: -0.0036373,
		10: 10, -10: 0, 0.5: 0.3457140} {
		if got := float64(kernel.Gelu(x)); math.Abs(got-want) > 1e-6 {
			t.Errorf("gelu(%v) = %v, wanted %v", x, got, want)
		}
	}
}

func TestMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, threads := range []int{1, 4} {
		m := &Model{threads: newThreads(threads)}
		for _, tokens := range []int{1, 3, 31} {
			for _, shape := range [][2]int{{1, 1}, {31, 7}, {257, 33}, {1000, 129}} {
				rows, cols := shape[0], shape[1]
				a, b := decoded(rng, rows, cols), decoded(rng, rows+5, cols)
				x := random(rng, tokens*cols)
				ya, yb := make([]float32, tokens*rows), make([]float32, tokens*3)
				part := product{w: b, first: rows, rows: 3, x: x, y: yb}
				if err := m.mul(tokens, whole(a, x, ya), part); err != nil {
					t.Fatal(err)
				}
				near(t, "whole matrix", ya, mulTwin(a, 0, rows, x), 1e-5)
				near(t, "some rows", yb, mulTwin(b, rows, 3, x), 1e-5)
			}
		}
		m.Close()
	}
}

func mulTwin(w *matrix, first, rows int, x []float32) []float64 {
	var y []float64
	for ; len(x) > 0; x = x[w.cols:] {
		for r := first; r < first+rows; r++ {
			var sum float64
			for c := range w.cols {
				sum += float64(w.values[r*w.cols+c]) * float64(x[c])
			}
			y = append(y, sum)
		}
	}
	return y
}

func TestRotation(t *testing.T) {
	const headDim, heads, theta, first, positions = 6, 3, 100, 5, 2
	factors := []float32{1, 2, 1e30}
	rng := rand.New(rand.NewPCG(3, 3))
	x := random(rng, positions*heads*headDim)
	var want []float64
	for i := range positions * heads {
		head := x[i*headDim : (i+1)*headDim]
		y := make([]float64, headDim)
		for n := range headDim / 2 {
			angle := float64(first+i/heads) * math.Pow(theta, -2*float64(n)/headDim) / float64(factors[n])
			sin, cos := math.Sincos(angle)
			a, b := float64(head[n]), float64(head[n+headDim/2])
			y[n], y[n+headDim/2] = a*cos-b*sin, b*cos+a*sin
		}
		want = append(want, y...)
	}
	r := newRotation(headDim, theta, factors, run(first, positions))
	last := slices.Clone(x[heads*headDim:])
	r.apply(x, heads)
	near(t, "all positions", x, want, 1e-6)
	r.last(1).apply(last, heads)
	near(t, "the last position", last, want[heads*headDim:], 1e-6)
	if x[2] != float32(want[2]) {
		t.Error("a factor of 1e30 should leave a pair as it is, to the bit")
	}
}

func TestAttentionHead(t *testing.T) {
	for _, typ := range []quant.Type{quant.F32, quant.Q8_0} {
		for _, headDim := range []int{7, 64} {
			testAttentionHead(t, typ, headDim)
		}
	}
}

// Two queries of one head, of which each sees what the other does not, over a ring
// that has been round.
func testAttentionHead(t *testing.T, typ quant.Type, headDim int) {
	rng := rand.New(rand.NewPCG(4, uint64(headDim)))
	const kvHeads, limit, end = 2, 130, 200
	empty := rows{typ: typ, heads: kvHeads, headDim: headDim}
	c := &layerCache{dim: kvHeads * headDim, limit: limit, k: empty, v: empty}
	c.grow(end)
	c.put(0, random(rng, end*c.dim), random(rng, end*c.dim))
	k, v := c.take(end-limit, end) // as they are kept
	windows := [][2]int{{end - limit, end - 3}, {end - 70, end}}
	for kvHead := range kvHeads {
		var a attention
		var want [][]float64
		for _, w := range windows {
			q := random(rng, headDim)
			weights, sum := make([]float64, end), 0.0
			out := make([]float64, headDim)
			row := func(x []float32, j int) []float32 { return x[(j-end+limit)*c.dim+kvHead*headDim:][:headDim] }
			for j := w[0]; j < w[1]; j++ {
				var score float64
				for n, x := range row(k, j) {
					score += float64(q[n]) * float64(x)
				}
				weights[j] = math.Exp(score)
				sum += weights[j]
			}
			for j := w[0]; j < w[1]; j++ {
				for n, x := range row(v, j) {
					out[n] += weights[j] / sum * float64(x)
				}
			}
			a.add(q, w[0], w[1])
			want = append(want, out)
		}
		a.run(c, kvHead)
		for i, o := range a.queries {
			near(t, fmt.Sprintf("%v, head %d, query %d", typ, kvHead, i), o.q, want[i], 5e-6)
		}
	}
}

// What a cache in 8 bits gives back is what quant.Q8_0 makes of a head, and stays the
// same when it is put again.
func TestRowsInQ8(t *testing.T) {
	const heads, headDim, slots = 3, 40, 5
	rng := rand.New(rand.NewPCG(8, 8))
	r := rows{typ: quant.Q8_0, heads: heads, headDim: headDim}
	r.grow(slots)
	if want := slots * heads * 2 * 34; r.slots() != slots || r.bytes() != int64(want) {
		t.Fatalf("%d slots of %d bytes, want %d of %d", r.slots(), r.bytes(), slots, want)
	}
	values := random(rng, heads*headDim)
	r.put(3, values)
	var want []float32
	for h := range heads {
		padded := make([]float32, 64)
		copy(padded, values[h*headDim:(h+1)*headDim])
		raw := make([]byte, 68)
		if err := errors.Join(quant.Q8_0.Quantize(raw, padded), quant.Q8_0.Dequantize(padded, raw)); err != nil {
			t.Fatal(err)
		}
		want = append(want, padded[:headDim]...)
	}
	kept := r.take(nil, 3)
	if !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	r.put(0, kept)
	if again := r.take(nil, 0); !slices.Equal(again, kept) {
		t.Errorf("put again, %v became %v", kept, again)
	}
}

// The router against the formula, with scores large enough that a softmax without
// renormalising, or another norm, gives other weights.
func TestRoute(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const tokens, d, n, used = 4, 12, 9, 3
	m := &Model{threads: newThreads(1), config: &arch.Config{EmbeddingLength: d, Experts: n, ExpertsUsed: used,
		Eps: 1e-6}}
	defer m.Close()
	e := &experts{router: decoded(rng, n, d), routerScale: random(rng, d), downScale: random(rng, n)}
	x := random(rng, tokens*d)
	chosen, err := m.route(e, tokens, x)
	if err != nil {
		t.Fatal(err)
	}
	for token := range tokens {
		h := rmsTwin(x[token*d:(token+1)*d], 1e-6)
		r := make([]float64, n)
		for i := range r {
			for j, v := range h {
				r[i] += float64(e.router.values[i*d+j]) * v / math.Sqrt(d) * float64(e.routerScale[j])
			}
			r[i] = math.Exp(r[i])
		}
		best := slices.Clone(r)
		slices.Sort(best)
		best = best[n-used:]
		sum := best[0] + best[1] + best[2]
		for expert := range n {
			i := slices.IndexFunc(chosen[expert], func(c choice) bool { return c.token == token })
			if (i >= 0) != (r[expert] >= best[0]) {
				t.Errorf("token %d, expert %d: chosen %t, score %v of %v", token, expert, i >= 0, r[expert], best)
			} else if i >= 0 {
				near(t, "weight", []float32{chosen[expert][i].weight},
					[]float64{r[expert] / sum * float64(e.downScale[expert])}, 1e-6)
			}
		}
	}
}

func TestRouteTakesLowestOfEquals(t *testing.T) {
	if got := topK([]float32{0, 1, 2, 1, 1}, 3); !slices.Equal(got, []int{2, 1, 3}) {
		t.Errorf("largest = %v, wanted [2 1 3]", got)
	}
}

func TestThreadsCoverEveryPart(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1000} {
		for _, grain := range []int{0, 1, 7, 5000} {
			threads := newThreads(3)
			var sum atomic.Int64
			if err := threads.each(n, grain, func(from, to int) error {
				for i := from; i < to; i++ {
					sum.Add(int64(i) + 1)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			threads.close()
			threads.close() // a second time does nothing
			if want := int64(n) * int64(n+1) / 2; sum.Load() != want {
				t.Errorf("%d in parts of %d: sum %d, wanted %d", n, grain, sum.Load(), want)
			}
		}
	}
	threads := newThreads(3)
	defer threads.close()
	failure := errors.New("failure")
	if err := threads.each(100, 1, func(from, _ int) error {
		if from == 50 {
			return failure
		}
		return nil
	}); err != failure {
		t.Errorf("got %v, wanted the failure of a part", err)
	}
}
