package quant_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

// spreads are how sampled values are distributed.
var spreads = map[string]func(rng *rand.Rand) float64{
	"normal":   func(rng *rand.Rand) float64 { return rng.NormFloat64() * 0.02 },
	"laplace":  func(rng *rand.Rand) float64 { return rng.ExpFloat64() * 0.02 * float64(1-2*rng.IntN(2)) },
	"positive": func(rng *rand.Rand) float64 { return math.Abs(rng.NormFloat64()) },
	"uniform":  func(rng *rand.Rand) float64 { return rng.Float64() - 0.5 },
	"offset":   func(rng *rand.Rand) float64 { return rng.NormFloat64()*0.02 - 0.5 },
}

func sample(spread string) []float32 {
	rng := rand.New(rand.NewPCG(11, 12))
	values := make([]float32, 256*128)
	for i := range values {
		values[i] = float32(spreads[spread](rng))
	}
	return values
}

// Encoders must not do worse than ggml's, which left these errors (root mean square over that of the values) on
// the same values: quantize_row_*_ref for Q4_K to Q6_K, and what testdata/make_lowbit.py --errors prints for the
// others, all built without fused multiply-add. One percent is for ties of a heuristic search.
func TestQuantizeIsAsGoodAsGGML(t *testing.T) {
	types := []quant.Type{
		quant.Q4_K, quant.Q5_K, quant.Q6_K, quant.IQ4_NL, quant.IQ4_XS, quant.TQ1_0, quant.TQ2_0, quant.MXFP4,
		quant.NVFP4, quant.Q2_K, quant.Q3_K,
	}
	tests := []struct {
		spread string
		ggml   [11]float64
	}{
		{"normal", [11]float64{0.07120, 0.03606, 0.01772, 0.07506, 0.07580, 0.80871, 0.80871, 0.11558, 0.10421,
			0.26602, 0.14433}},
		{"laplace", [11]float64{0.08401, 0.04251, 0.02159, 0.08560, 0.08644, 0.82946, 0.82946, 0.12536, 0.09649,
			0.29866, 0.16951}},
		{"positive", [11]float64{0.04252, 0.02079, 0.01768, 0.07414, 0.07481, 0.80870, 0.80870, 0.11523, 0.09558,
			0.17913, 0.13774}},
		{"uniform", [11]float64{0.05453, 0.02773, 0.01324, 0.06365, 0.06428, 0.49763, 0.49763, 0.14437, 0.10154,
			0.21877, 0.11857}},
		{"offset", [11]float64{0.00333, 0.00179, 0.00836, 0.03834, 0.03954, 0.11885, 0.11885, 0.03978, 0.08304,
			0.01401, 0.03933}},
	}
	for _, test := range tests {
		values := sample(test.spread)
		for i, typ := range types {
			got := relativeError(decode(t, typ, encode(t, typ, values)), values)
			if got > 1.01*test.ggml[i] {
				t.Errorf("%v, %s values: relative error %.5f, ggml's is %.5f", typ, test.spread, got, test.ggml[i])
			}
		}
	}
}

// The error of a value is at most half a step, a step being the range of a block over the levels of its type,
// and a little for the rounding of scales. Encoders that search may give up as much again on a value, where
// it helps the others.
func TestQuantizeErrorBound(t *testing.T) {
	steps := map[quant.Type]float64{ // of the largest magnitude of 256 values of either sign
		quant.F16: 1.0 / 1024, quant.BF16: 1.0 / 128,
		quant.Q4_0: 2.0 / 8, quant.Q4_1: 2.0 / 15, quant.Q5_0: 2.0 / 16, quant.Q5_1: 2.0 / 31, quant.Q8_0: 1.0 / 127,
		quant.Q4_K: 2.0 / 15 * 2, quant.Q5_K: 2.0 / 31 * 2, quant.Q6_K: 1.0 / 31 * 2, quant.Q8_K: 1.0 / 127,
		quant.Q2_K: 2.0 / 3 * 2, quant.Q3_K: 1.0 / 3 * 2,
		quant.IQ4_NL: 24.0 / 113 * 2, quant.IQ4_XS: 24.0 / 113 * 2, quant.TQ1_0: 1, quant.TQ2_0: 1,
		// The steps from 4 to 6 of 6. A scale is off by a factor of two or by a sixteenth.
		quant.MXFP4: 2.0 / 4, quant.NVFP4: 2.0 / 6 * 17 / 16,
	}
	for typ, step := range steps {
		for _, spread := range []string{"normal", "laplace", "uniform"} {
			values := sample(spread)
			decoded := decode(t, typ, encode(t, typ, values))
			for start := 0; start < len(values); start += 256 {
				var most, worst float64
				for i := start; i < start+256; i++ {
					most = max(most, math.Abs(float64(values[i])))
					worst = max(worst, math.Abs(float64(values[i]-decoded[i])))
				}
				if worst > most*(step/2+1.0/1024) {
					t.Fatalf("%v, %s values: block %d is off by %g, its largest magnitude is %g", typ, spread,
						start/256, worst, most)
				}
			}
		}
	}
}

// What was decoded encodes to itself: exactly where the block's end tells the scale, but for the scale's
// rounding where that comes from a difference or a reciprocal, and with less than the first encoding's error
// where it is searched or, as NVFP4's small ones are, coarse.
func TestQuantizeAgain(t *testing.T) {
	for _, typ := range encodable() {
		for spread := range spreads {
			values := sample(spread)
			once := decode(t, typ, encode(t, typ, values))
			twice := decode(t, typ, encode(t, typ, once))
			switch typ {
			case quant.Q4_K, quant.Q5_K, quant.Q6_K, quant.IQ4_NL, quant.IQ4_XS, quant.NVFP4,
				quant.Q2_K, quant.Q3_K:
				if again, first := relativeError(twice, once), relativeError(once, values); again > first/2 {
					t.Errorf("%v, %s values: error %g, after %g the first time", typ, spread, again, first)
				}
			case quant.Q4_1, quant.Q5_1, quant.Q8_K:
				if again := relativeError(twice, once); again > 1.0/1024 {
					t.Errorf("%v, %s values: error %g", typ, spread, again)
				}
			default:
				checkSame(t, typ, twice, once)
			}
		}
	}
}

// mostOf is the largest magnitude that an encoder of blocks takes.
func mostOf(typ quant.Type) float32 {
	if typ == quant.NVFP4 {
		return 2688
	}
	return 65504
}

func TestQuantizeZerosAndConstants(t *testing.T) {
	// The levels that a rounded float16 is multiplied by: below the normal float16 its error is 2^-25.
	stretch := map[quant.Type]float64{
		quant.F16: 1, quant.BF16: 0x1p-109, quant.Q4_0: 8, quant.Q4_1: 16, quant.Q5_0: 16, quant.Q5_1: 32,
		quant.Q8_0: 127,
		quant.Q4_K: 63 * 16, quant.Q5_K: 63 * 32, quant.Q6_K: 128 * 32,
		quant.Q2_K: 15 * 4, quant.Q3_K: 32 * 4,
		quant.IQ4_NL: 127, quant.IQ4_XS: 32 * 127, quant.TQ1_0: 1, quant.TQ2_0: 1,
		quant.MXFP4: 0x1p-100,   // its smallest scale is 2^-127
		quant.NVFP4: 6 * 0x1p15, // its smallest scale is 2^-9, of which a half is rounded
	}
	// What a constant is off by where its scale does not adapt to it: half of E2M1's step from 4 to 6, of 4,
	// or a scale's last bit.
	coarse := map[quant.Type]float64{quant.MXFP4: 1.0 / 4, quant.NVFP4: 1.0 / 16}
	for _, typ := range encodable() {
		most := mostOf(typ)
		for _, v := range []float32{0, 1, -1, 0.75, -0.3, 1e-3, most, -most, 1e-6, -1e-7, 1e-20, 1e-45} {
			values := make([]float32, 512)
			for i := range values {
				values[i] = v
			}
			relative := max(coarse[typ], 1.0/256) // BF16 has eight bits
			tolerance := max(math.Abs(float64(v))*relative, stretch[typ]*0x1p-25)
			if typ == quant.Q8_K && v != 0 {
				tolerance = max(tolerance, 1e-15) // its encoder takes less for zero
			}
			for i, got := range decode(t, typ, encode(t, typ, values)) {
				if diff := math.Abs(float64(got - v)); !(diff <= tolerance) || v == 0 && got != 0 {
					t.Errorf("%v: value %d of constant %g became %g", typ, i, v, got)
					break
				}
			}
		}
	}
}

// Any finite values that are accepted decode to finite ones, however odd their mixture.
func TestQuantizeStaysFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, typ := range encodable() {
		values := make([]float32, 256*200)
		for i := range values {
			exponent := rng.IntN(160) - 145 + rng.IntN(2)
			values[i] = min(mostOf(typ), max(-mostOf(typ), float32(math.Ldexp(rng.Float64()*2-1, exponent))))
		}
		for i, v := range decode(t, typ, encode(t, typ, values)) {
			if v != v || math.IsInf(float64(v), 0) {
				t.Fatalf("%v: value %d, %g, became %g", typ, i, values[i], v)
			}
		}
	}
}

func TestQuantizeRange(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, typ := range encodable() {
		for _, v := range []float32{float32(math.NaN()), inf, -inf, math.Nextafter32(mostOf(typ), inf), -1e30} {
			values := make([]float32, 256)
			values[77] = v
			blocks := make([]byte, 256/typ.BlockLen()*typ.BlockBytes())
			err := typ.Quantize(blocks, values)
			switch {
			case typ.BlockLen() > 1 && !errors.Is(err, quant.ErrRange):
				t.Errorf("%v of %g: error is %v", typ, v, err)
			case typ.BlockLen() == 1 && err != nil:
				t.Errorf("%v of %g: %v", typ, v, err)
			}
		}
	}
}

func TestPlainSpecials(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := []struct {
		typ      quant.Type
		in, want float32
	}{
		{quant.F16, inf, inf}, {quant.F16, -inf, -inf}, {quant.F16, nan, nan}, {quant.F16, -nan, nan},
		{quant.F16, 65519, 65504}, {quant.F16, 65520, inf}, {quant.F16, -1e9, -inf},
		{quant.F16, 1 + 1.0/2048, 1}, {quant.F16, 1 + 3.0/2048, 1 + 1.0/512}, // ties to even
		{quant.F16, 0x1p-25, 0}, {quant.F16, 0x1.8p-24, 0x1p-23}, {quant.F16, -0x1p-24, -0x1p-24},
		{quant.BF16, inf, inf}, {quant.BF16, -inf, -inf}, {quant.BF16, nan, nan},
		{quant.BF16, math.Float32frombits(0x7f800001), nan}, {quant.BF16, math.Float32frombits(0xffffffff), nan},
		{quant.BF16, math.MaxFloat32, inf}, {quant.BF16, 1 + 1.0/256, 1}, {quant.BF16, 1 + 3.0/256, 1 + 1.0/64},
		{quant.BF16, 0x1p-133, 0x1p-133}, {quant.BF16, 0x1p-134, 0},
		{quant.F32, nan, nan}, {quant.F32, inf, inf}, {quant.F32, 0x1p-149, 0x1p-149},
	}
	for _, test := range tests {
		got := decode(t, test.typ, encode(t, test.typ, []float32{test.in}))
		if got[0] != test.want && !(got[0] != got[0] && test.want != test.want) {
			t.Errorf("%v of %g is %g, want %g", test.typ, test.in, got[0], test.want)
		}
	}
}

// relativeError is |got − want| / |want| over all values.
func relativeError(got, want []float32) float64 {
	var diff, norm float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		diff += d * d
		norm += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(diff / norm)
}
