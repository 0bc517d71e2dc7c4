package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/quant"
)

// The set that the program was built with is compared with formulas in float64.
// In a browser that set is WebAssembly SIMD.
var set = kernel.Best

var lengths = []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257, 1000}

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func newRand(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }

// near allows errors of limit times the value, or times size where that is more:
// what the terms of a sum come to.
func near(t *testing.T, what string, got []float32, want []float64, size, limit float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= limit*max(size, math.Abs(w))) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// guarded returns a slice of n values with a value on either side that must stay.
func guarded(n int) (x []float32, check func(*testing.T, string)) {
	const guard = 12345
	all := make([]float32, n+2)
	all[0], all[n+1] = guard, guard
	return all[1 : n+1 : n+1], func(t *testing.T, what string) {
		t.Helper()
		if all[0] != guard || all[n+1] != guard {
			t.Fatalf("%s: wrote beside its result", what)
		}
	}
}

func dotTwin(a, b []float32) (sum, size float64) {
	for i := range a {
		p := float64(a[i]) * float64(b[i])
		sum, size = sum+p, size+p*p
	}
	return sum, math.Sqrt(size)
}

func TestDotAndAxpy(t *testing.T) {
	for _, n := range lengths {
		rng := newRand(n)
		a, b := random(rng, n), random(rng, n)
		sum, size := dotTwin(a, b)
		near(t, fmt.Sprintf("dot of %d", n), []float32{set.Dot(a, b)}, []float64{sum}, size, 2e-6)

		y, check := guarded(n)
		want := make([]float64, n)
		for i := range y {
			y[i] = b[i]
			want[i] = float64(b[i]) + 0.7*float64(a[i])
		}
		set.Axpy(0.7, a, y)
		near(t, fmt.Sprintf("axpy of %d", n), y, want, 1, 5e-7)
		check(t, "axpy")
	}
}

func TestMul(t *testing.T) {
	for _, shape := range [][4]int{{1, 1, 1, 1}, {4, 4, 1, 4}, {5, 7, 3, 9}, {8, 33, 2, 8}, {16, 257, 5, 20},
		{31, 100, 8, 31}, {3, 64, 4, 3}} {
		rows, cols, tokens, stride := shape[0], shape[1], shape[2], shape[3]
		rng := newRand(rows)
		w, x := random(rng, rows*cols), random(rng, tokens*cols)
		y, check := guarded((tokens-1)*stride + rows)
		set.Mul(y, stride, w, x, cols)
		for tok := range tokens {
			for r := range rows {
				sum, size := dotTwin(w[r*cols:(r+1)*cols], x[tok*cols:(tok+1)*cols])
				near(t, fmt.Sprintf("%v: token %d, row %d", shape, tok, r), y[tok*stride+r:][:1], []float64{sum}, size,
					2e-6)
			}
			for gap := tok*stride + rows; gap < min((tok+1)*stride, len(y)); gap++ {
				if y[gap] != 0 {
					t.Fatalf("%v: wrote between two tokens' results", shape)
				}
			}
		}
		check(t, "mul")
	}
}

// types are all that can be quantized, with what only the kernels' decoding of
// float16 could get wrong beside them.
var types = []quant.Type{
	quant.F32, quant.F16, quant.BF16, quant.Q4_0, quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q8_0, quant.Q4_K,
	quant.Q5_K, quant.Q6_K, quant.Q8_K,
}

func quantized(t *testing.T, typ quant.Type, values []float32) []byte {
	t.Helper()
	size, err := typ.Size(int64(len(values)))
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, size)
	if err := typ.Quantize(raw, values); err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded(t *testing.T, typ quant.Type, raw []byte, n int) []float32 {
	t.Helper()
	values := make([]float32, n)
	if err := typ.Dequantize(values, raw); err != nil {
		t.Fatal(err)
	}
	return values
}

func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if g, w := math.Float32bits(got[i]), math.Float32bits(w); g != w {
			t.Fatalf("%s: value %d is %#x, want %#x", what, i, g, w)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, typ := range types {
		for _, blocks := range []int{1, 2, 5} {
			n := blocks * typ.BlockLen()
			raw := quantized(t, typ, random(newRand(n), n))
			got, check := guarded(n)
			if err := set.Decode(got, typ, raw); err != nil {
				t.Fatal(err)
			}
			equalBits(t, typ.String(), got, decoded(t, typ, raw, n))
			check(t, typ.String())
		}
		if err := set.Decode(make([]float32, typ.BlockLen()), typ, nil); err == nil {
			t.Errorf("%v: decoded nothing at all", typ)
		}
	}
}

// Every pattern of bits is a float16 or bfloat16. NaN only has to stay one.
func TestDecodeAllHalves(t *testing.T) {
	for _, typ := range []quant.Type{quant.F16, quant.BF16} {
		raw := make([]byte, 2<<16)
		for i := range 1 << 16 {
			raw[2*i], raw[2*i+1] = byte(i), byte(i>>8)
		}
		got, want := make([]float32, 1<<16), decoded(t, typ, raw, 1<<16)
		if err := set.Decode(got, typ, raw); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if want[i] != want[i] && got[i] != got[i] {
				want[i] = got[i]
			}
		}
		equalBits(t, typ.String(), got, want)
	}
}

// Blocks of random bytes have every scale and level that there are. Their
// float16 are replaced by moderate ones.
func randomBlocks(typ quant.Type, blocks int) []byte {
	rng := newRand(blocks)
	raw := make([]byte, blocks*typ.BlockBytes())
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	halves := map[quant.Type][]int{quant.Q8_0: {0}, quant.Q4_K: {0, 2}, quant.Q6_K: {208}}
	for b := 0; b < len(raw); b += typ.BlockBytes() {
		for _, at := range halves[typ] {
			raw[b+at+1] = raw[b+at+1]&0x83 | 0x28 // 2⁻⁵ to 2⁻⁴, of either sign
		}
	}
	return raw
}

func TestDecodeRandomBlocks(t *testing.T) {
	for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_K, quant.Q6_K} {
		raw := randomBlocks(typ, 40)
		got := make([]float32, 40*typ.BlockLen())
		if err := set.Decode(got, typ, raw); err != nil {
			t.Fatal(err)
		}
		equalBits(t, typ.String(), got, decoded(t, typ, raw, len(got)))
	}
}

func TestMulRows(t *testing.T) {
	for _, typ := range types {
		for _, cols := range []int{1, 3, 31, 32, 64, 96, 256, 288, 512, 1280} {
			if cols%typ.BlockLen() != 0 {
				continue
			}
			for _, rows := range []int{1, 3, 9} {
				rng := newRand(cols)
				raw := quantized(t, typ, random(rng, rows*cols))
				for what, x := range inputs(rng, cols) {
					name := fmt.Sprintf("%v [%d, %d], %s", typ, rows, cols, what)
					testRows(t, name, typ, raw, rows, x)
				}
			}
		}
	}
}

// The largest levels and scales with inputs all of one size are what sums of
// integers could overflow with.
func TestMulRowsOfExtremeBlocks(t *testing.T) {
	const blocks = 16
	for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_K, quant.Q6_K} {
		cols := 2 * 256
		rows := blocks * typ.BlockLen() / cols * max(1, 256/typ.BlockLen())
		n := rows * cols / typ.BlockLen()
		for what, fill := range map[string]byte{"ones": 0xff, "top bits": 0x80, "all but": 0x7f} {
			raw := randomBlocks(typ, n)
			for i := range raw {
				if at := i % typ.BlockBytes(); !isHalf(typ, at) {
					raw[i] = fill
				}
			}
			for sign, x := range inputs(newRand(1), cols) {
				testRows(t, fmt.Sprintf("%v %s, %s", typ, what, sign), typ, raw, rows, x)
			}
		}
		for what, x := range inputs(newRand(2), cols) {
			testRows(t, fmt.Sprintf("%v random, %s", typ, what), typ, randomBlocks(typ, n), rows, x)
		}
	}
}

func isHalf(typ quant.Type, at int) bool {
	return typ == quant.Q8_0 && at < 2 || typ == quant.Q4_K && at < 4 || typ == quant.Q6_K && at >= 208
}

// inputs are vectors that fixed point could be bad at.
func inputs(rng *rand.Rand, n int) map[string][]float32 {
	spread := random(rng, n)
	for i := range spread {
		spread[i] *= float32(math.Pow(10, float64(rng.IntN(6)-3)))
	}
	ones, small, zeros, outlier := make([]float32, n), random(rng, n), make([]float32, n), random(rng, n)
	for i := range ones {
		ones[i] = 3
		small[i] *= 1e-20
	}
	outlier[n/2] = 3000
	return map[string][]float32{"normal": random(rng, n), "spread": spread, "equal": ones, "small": small,
		"zero": zeros, "outlier": outlier}
}

// rowTolerance is what 128 additions in a row, rounded the same way, come to: as
// many as the fewest lanes make of the longest rows here.
const rowTolerance = 8e-6

func testRows(t *testing.T, name string, typ quant.Type, raw []byte, rows int, x []float32) {
	t.Helper()
	cols := len(x)
	weights := decoded(t, typ, raw, rows*cols)
	y, check := guarded(rows)
	set.MulRows(y, typ, raw, x)
	for r := range rows {
		row := weights[r*cols : (r+1)*cols]
		sum, _ := dotTwin(row, x)
		near(t, fmt.Sprintf("%s, row %d", name, r), y[r:r+1], []float64{sum}, largest(row)*norm(x), rowTolerance)
	}
	check(t, name)
}

// largest is max |xᵢ|: a weight is the difference of a level and a low, either
// of which may be so large.
func largest(x []float32) (top float64) {
	for _, v := range x {
		top = max(top, math.Abs(float64(v)))
	}
	return top
}

func norm(x []float32) float64 {
	_, size := dotTwin(x, slices.Repeat([]float32{1}, len(x)))
	return size
}

func TestScoresAndWeightedSum(t *testing.T) {
	for _, dim := range []int{1, 6, 16, 31, 64, 100} {
		for _, n := range []int{1, 2, 17} {
			rng := newRand(dim)
			stride := dim + 3
			q, k := random(rng, dim), random(rng, (n-1)*stride+dim)
			y, check := guarded(n)
			set.Scores(y, q, k, stride)
			sum, want := random(rng, dim), make([]float64, dim)
			for i, v := range sum {
				want[i] = float64(v)
			}
			for j := range n {
				score, size := dotTwin(q, k[j*stride:][:dim])
				near(t, "scores", y[j:j+1], []float64{score}, size, 2e-6)
				for i := range want {
					want[i] += float64(y[j]) * float64(k[j*stride+i])
				}
			}
			check(t, "scores")
			before := slices.Clone(y)
			set.WeightedSum(sum, y, k, stride)
			near(t, "weighted sum", sum, want, float64(dim), 2e-6)
			if !slices.Equal(before, y) {
				t.Fatal("weighted sum changed the weights")
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	for _, n := range lengths {
		rng := newRand(n)
		x, check := guarded(n)
		top, sum := math.Inf(-1), 0.0
		for i := range x {
			x[i] = float32(20*rng.NormFloat64()) - 50
			top = max(top, float64(x[i]))
		}
		want := make([]float64, n)
		for i, v := range x {
			want[i] = math.Exp(float64(v - float32(top)))
			sum += want[i]
		}
		got := set.Softmax(x)
		near(t, "softmax", x, want, 1e-30, 3e-7)
		near(t, "softmax's sum", []float32{float32(got)}, []float64{sum}, 0, 3e-7)
		check(t, "softmax")
	}
}

func TestNorms(t *testing.T) {
	for _, n := range lengths {
		rng := newRand(n)
		x, w := random(rng, 3*n), random(rng, n)
		for i := range n {
			x[i] *= 1e-4 // where ε counts
		}
		const eps = 1e-6
		var want, plain []float64
		for v := 0; v < 3*n; v += n {
			var sum float64
			for _, v := range x[v : v+n] {
				sum += float64(v) * float64(v)
			}
			factor := 1 / math.Sqrt(sum/float64(n)+float64(float32(eps)))
			for j, v := range x[v : v+n] {
				plain = append(plain, float64(v)*factor)
				want = append(want, float64(v)*factor*float64(w[j]))
			}
		}
		y, check := guarded(3 * n)
		set.RMSNorm(y, x, w, eps)
		near(t, "with weights", y, want, 0, 2e-7)
		set.RMSNormPlain(y, x, n, eps)
		near(t, "without", y, plain, 0, 2e-7)
		set.RMSNormPlain(x, x, n, eps)
		near(t, "in place", x, plain, 0, 2e-7)
		check(t, "norm")
	}
}

func TestActivations(t *testing.T) {
	const c = 0.7978845608028654 // √(2/π)
	for _, n := range append(lengths, 4001) {
		gate, check := guarded(n)
		up, logits := random(newRand(n), n), make([]float32, n)
		want, capped := make([]float64, n), make([]float64, n)
		for i := range gate {
			v := -20 + 40*float64(i)/float64(n)
			gate[i], logits[i] = float32(v), float32(5*v)
			v = float64(gate[i])
			want[i] = 0.5 * v * (1 + math.Tanh(c*(v+0.044715*v*v*v))) * float64(up[i])
			capped[i] = 30 * math.Tanh(float64(logits[i])/30)
		}
		set.GatedGelu(gate, up)
		near(t, "gelu", gate, want, 1e-3, 2e-6)
		check(t, "gelu")
		set.Softcap(logits, 30)
		near(t, "softcap", logits, capped, 1e-3, 5e-7)
	}
}
