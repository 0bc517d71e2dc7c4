package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

// extremes are blocks of random bytes, in which every scale, low and level is there, with scales in float16 that
// vanish or are as large as there are among them.
func extremes(t quant.Type, rng *rand.Rand, blocks int) []byte {
	raw := make([]byte, blocks*t.BlockBytes())
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	halves := map[quant.Type][]int{quant.Q4_0: {0}, quant.Q8_0: {0}, quant.Q4_K: {0, 2}, quant.Q5_K: {0, 2},
		quant.Q6_K: {208}, quant.F16: {0}, quant.Q4_1: {0, 2}, quant.Q5_0: {0}, quant.Q5_1: {0, 2}, quant.Q2_K: {80, 82},
		quant.Q3_K: {108}, quant.IQ4_NL: {0}, quant.IQ4_XS: {0}, quant.TQ2_0: {64}}
	for b := 0; b < len(raw); b += t.BlockBytes() {
		for _, at := range halves[t] {
			switch exponent := &raw[b+at+1]; rng.IntN(4) {
			case 0:
				*exponent &= 0x83 // zero or subnormal
			case 1:
				*exponent = *exponent&0x83 | 0x78 // the largest there are
			default:
				*exponent = *exponent&0x83 | 0x28
			}
		}
		switch {
		case t == quant.BF16:
			raw[b+1] = raw[b+1]&0x83 | 0x3c
		case t == quant.MXFP4 && raw[b] >= 2: // the others are subnormal
			raw[b] = raw[b]&31 | 0x70
		}
	}
	return raw
}

var fused = []quant.Type{quant.Q4_0, quant.Q8_0, quant.Q4_K, quant.Q5_K, quant.Q6_K, quant.F16, quant.BF16,
	quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q2_K, quant.Q3_K, quant.IQ4_NL, quant.IQ4_XS, quant.TQ2_0, quant.MXFP4,
	quant.NVFP4}

func newRand(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// eachSet runs a test on every set that the processor has the instructions for.
func eachSet(t *testing.T, test func(t *testing.T, s Set)) {
	for _, s := range simdSets() {
		t.Run(s.String(), func(t *testing.T) { test(t, s) })
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// What is decoded has quant's bits, whatever the block.
func TestSIMDDecodesEveryBlock(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		for _, typ := range fused {
			for _, blocks := range []int{1, 2, 3, 17, 300} {
				raw := extremes(typ, newRand(blocks), blocks)
				n := blocks * typ.BlockLen()
				got, want := make([]float32, n+1), make([]float32, n)
				got[n] = 5
				if err := s.Decode(got[:n], typ, raw); err != nil {
					t.Fatal(err)
				}
				if err := typ.Dequantize(want, raw); err != nil {
					t.Fatal(err)
				}
				sameBits(t, typ.String(), got, append(want, 5))
			}
		}
	})
}

// A product is the same to the last bit from the file's form and decoded, alone and among others, and the plain
// set's but for rounding.
func TestSIMDProductsOfEveryForm(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		for _, typ := range fused {
			for _, shape := range [][3]int{{1, 256, 1}, {3, 256, 2}, {4, 512, 3}, {7, 1536, 4}, {17, 768, 5}, {33, 512, 9}} {
				testForms(t, s, typ, shape[0], shape[1], shape[2])
			}
		}
	})
}

func testForms(t *testing.T, s Set, typ quant.Type, rows, cols, tokens int) {
	t.Helper()
	rng := newRand(rows)
	raw, x := extremes(typ, rng, rows*cols/typ.BlockLen()), normal(rng, tokens*cols)
	w := make([]float32, rows*cols)
	if err := typ.Dequantize(w, raw); err != nil {
		t.Fatal(err)
	}
	all, plain := make([]float32, rows*tokens), make([]float32, rows*tokens)
	s.Mul(all, rows, w, x, cols)
	Plain{}.Mul(plain, rows, w, x, cols)
	for tok := range tokens {
		x, want := x[tok*cols:(tok+1)*cols], all[tok*rows:(tok+1)*rows]
		stored, one := make([]float32, rows), make([]float32, rows)
		s.MulRows(stored, typ, raw, x)
		sameBits(t, typ.String()+" as stored", stored, want)
		for r := range rows {
			row := w[r*cols : (r+1)*cols]
			one[r] = s.Dot(row, x)
			nearDot(t, typ.String(), want[r], plain[tok*rows+r], row, x)
		}
		sameBits(t, typ.String()+" row by row", one, want)
	}
}

// nearDot allows two orders of a sum what they can differ by.
func nearDot(t *testing.T, what string, got, want float32, w, x []float32) {
	t.Helper()
	var size float64
	for i := range w {
		size += math.Abs(float64(w[i]) * float64(x[i]))
	}
	if d := math.Abs(float64(got) - float64(want)); !(d <= 1e-5*size) {
		t.Fatalf("%s: %v, the plain set has %v", what, got, want)
	}
}

// Rows of plain numbers need not fill whole registers.
func TestSIMDProductsOfRaggedRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		for _, typ := range []quant.Type{quant.F16, quant.BF16, quant.F32} {
			for cols := 1; cols < 70; cols++ {
				rng := newRand(cols)
				w, x := normal(rng, 5*cols), normal(rng, cols)
				raw := make([]byte, len(w)*typ.BlockBytes())
				if err := typ.Quantize(raw, w); err != nil {
					t.Fatal(err)
				}
				if err := s.Decode(w, typ, raw); err != nil {
					t.Fatal(err)
				}
				got, want := make([]float32, 5), make([]float32, 5)
				s.MulRows(got, typ, raw, x)
				s.Mul(want, 5, w, x, cols)
				sameBits(t, typ.String(), got, want)
			}
		}
	})
}

// AVX2 and AVX-512 add up in the same order.
func TestSIMDSetsAgree(t *testing.T) {
	const rows, cols, tokens = 11, 770, 7
	rng := newRand(3)
	w, x := normal(rng, rows*cols), normal(rng, tokens*cols)
	var want, wantSum []float32
	for _, s := range simdSets() {
		y, sum := make([]float32, tokens*rows), make([]float32, cols)
		s.Mul(y, rows, w, x, cols)
		s.WeightedSum(sum, x[:rows], w, cols)
		if want == nil {
			want, wantSum = y, sum
		}
		sameBits(t, s.String(), y, want)
		sameBits(t, s.String(), sum, wantSum)
	}
}

// Values of every size, and what is no number, go through the activation as they do in Go, in whole registers and
// behind them. Only −∞ is nearer to what is meant: 0, not NaN.
func TestSIMDGatedGelu(t *testing.T) {
	rng := newRand(9)
	for n := 1; n < 40; n++ {
		gate, up := normal(rng, n), normal(rng, n)
		for i := range gate {
			gate[i] *= float32(math.Exp2(float64(rng.IntN(60) - 30)))
		}
		gate[n/2] = []float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -9}[n%5]
		want, gelu := slices.Clone(gate), slices.Clone(gate)
		Plain{}.GatedGelu(want, up)
		(&SIMD{}).GatedGelu(gelu, up)
		for i, w := range want {
			g, size := float64(gelu[i]), math.Abs(float64(w))
			negative := math.IsInf(float64(gate[i]), -1) && g == 0
			if negative || math.IsNaN(float64(w)) && math.IsNaN(g) || gelu[i] == w {
				continue
			}
			if d := math.Abs(g - float64(w)); !(d <= 2e-6*max(1e-3, size)) {
				t.Fatalf("gelu(%v)·%v is %v, the plain set has %v", gate[i], up[i], g, w)
			}
		}
	}
}

func BenchmarkSIMD(b *testing.B) {
	for _, s := range append([]Set{Plain{}}, simdSets()...) {
		for _, typ := range fused {
			const rows, cols, tokens = 256, 1536, 16
			raw, x := extremes(typ, newRand(1), rows*cols/typ.BlockLen()), normal(newRand(2), tokens*cols)
			w, y := make([]float32, rows*cols), make([]float32, rows*tokens)
			perWeight := func(b *testing.B) {
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*rows*cols), "ns/weight")
			}
			b.Run(s.String()+"/rows/"+typ.String(), func(b *testing.B) {
				for b.Loop() {
					s.MulRows(y[:rows], typ, raw, x[:cols])
				}
				perWeight(b)
			})
			b.Run(s.String()+"/decode/"+typ.String(), func(b *testing.B) {
				for b.Loop() {
					_ = s.Decode(w, typ, raw)
				}
				perWeight(b)
			})
			if typ == quant.F16 {
				b.Run(s.String()+"/mul of 16", func(b *testing.B) {
					for b.Loop() {
						s.Mul(y, rows, w, x, cols)
					}
					perWeight(b)
				})
			}
		}
	}
}
