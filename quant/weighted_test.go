package quant_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

// weightable is every type that QuantizeWeighted takes.
func weightable() (types []quant.Type) {
	for _, typ := range decodable {
		if typ.CanQuantizeWeighted() {
			types = append(types, typ)
		}
	}
	return types
}

func encodeWeighted(t testing.TB, typ quant.Type, values, importance []float32) []byte {
	t.Helper()
	size, err := typ.Size(int64(len(values)))
	if err != nil {
		t.Fatal(err)
	}
	blocks := make([]byte, size)
	if err := typ.QuantizeWeighted(blocks, values, importance); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// equal is the importance of n columns of which nothing is known.
func equal(n int) []float32 {
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

// weightedError is relativeError with the importance of columns.
func weightedError(got, want, importance []float32) float64 {
	var diff, norm float64
	for i := range want {
		weight := float64(importance[i%len(importance)])
		d := float64(got[i]) - float64(want[i])
		diff += weight * d * d
		norm += weight * float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(diff / norm)
}

// Errors are at most one percent over those that ggml's encoders leave on the same values with the same importance
// (testdata/make_lowbit.py --errors prints them).
func TestQuantizeWeightedIsAsGoodAsGGML(t *testing.T) {
	types := []quant.Type{
		quant.IQ2_XXS, quant.IQ2_XS, quant.IQ2_S, quant.IQ3_XXS, quant.IQ3_S, quant.IQ4_NL, quant.IQ4_XS,
		quant.IQ1_S, quant.IQ1_M,
	}
	if len(types)+2 != len(weightable()) { // Q2_K and Q3_K are compared in TestQuantizeIsAsGoodAsGGML
		t.Errorf("%d types are compared, %d can be encoded so", len(types), len(weightable()))
	}
	tests := []struct {
		spread string
		ggml   [9]float64
	}{
		{"normal", [9]float64{0.31446, 0.27494, 0.23576, 0.16335, 0.12640, 0.07330, 0.07406, 0.45988, 0.41793}},
		{"laplace", [9]float64{0.35229, 0.30377, 0.27792, 0.17588, 0.14506, 0.08380, 0.08462, 0.52005, 0.44883}},
		{"positive", [9]float64{0.30041, 0.25861, 0.23571, 0.15030, 0.12639, 0.07256, 0.07325, 0.41641, 0.38723}},
		{"uniform", [9]float64{0.30478, 0.25910, 0.21637, 0.15431, 0.11647, 0.06249, 0.06317, 0.38605, 0.35790}},
		{"offset", [9]float64{0.28000, 0.09599, 0.08376, 0.13901, 0.14459, 0.03807, 0.03919, 0.28396, 0.22592}},
	}
	importance := make([]float32, 256)
	for i := range importance {
		importance[i] = float32(i*37%101+1) / 50
	}
	for _, test := range tests {
		values := sample(test.spread)
		for i, typ := range types {
			got := weightedError(decode(t, typ, encodeWeighted(t, typ, values, importance)), values, importance)
			if got > 1.01*test.ggml[i] {
				t.Errorf("%v, %s values: relative error %.5f, ggml's is %.5f", typ, test.spread, got, test.ggml[i])
			}
			t.Logf("%v, %s values: %.4f of ggml's error", typ, test.spread, got/test.ggml[i])
		}
	}
}

// Quantize takes all columns to be equally important.
func TestQuantizeIsWeightedEqually(t *testing.T) {
	values := sample("normal")
	for _, typ := range []quant.Type{quant.IQ4_NL, quant.IQ4_XS, quant.Q2_K, quant.Q3_K} {
		if !bytes.Equal(encode(t, typ, values), encodeWeighted(t, typ, values, equal(512))) {
			t.Errorf("%v: with all columns alike it encodes otherwise", typ)
		}
	}
}

// Rows are encoded one by one, with the importance of their own columns; its scale does not matter.
func TestQuantizeWeightedByRows(t *testing.T) {
	const columns, rows = 512, 5
	values := sample("laplace")[:columns*rows]
	importance, same := make([]float32, columns), make([]float32, columns)
	for i := range importance {
		importance[i] = float32(1 + i%9)
		same[i] = importance[i] * 0x1p-100
	}
	for _, typ := range weightable() {
		var rowByRow []byte
		for r := range rows {
			rowByRow = append(rowByRow, encodeWeighted(t, typ, values[r*columns:(r+1)*columns], importance)...)
		}
		if !bytes.Equal(rowByRow, encodeWeighted(t, typ, values, importance)) {
			t.Errorf("%v: rows together differ from rows alone", typ)
		}
		if !bytes.Equal(rowByRow, encodeWeighted(t, typ, values, same)) {
			t.Errorf("%v: the scale of the importance matters", typ)
		}
	}
}

// What matters more is off by less.
func TestQuantizeWeightedFavoursTheImportant(t *testing.T) {
	values := sample("normal")
	importance, select8 := equal(256), make([]float32, 256)
	for i := 0; i < 256; i += 8 {
		importance[i], select8[i] = 100, 1
	}
	for _, typ := range weightable() {
		favoured := weightedError(decode(t, typ, encodeWeighted(t, typ, values, importance)), values, select8)
		plain := weightedError(decode(t, typ, encodeWeighted(t, typ, values, equal(256))), values, select8)
		if favoured > 0.8*plain {
			t.Errorf("%v: columns that matter are off by %.4f, by %.4f if they do not", typ, favoured, plain)
		}
	}
}

// Any finite values with any importance decode to finite ones, and zeros to zeros.
func TestQuantizeWeightedStaysFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 19))
	values := make([]float32, 256*100)
	for i := range values {
		values[i] = float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(160)-144))
	}
	clear(values[512:1024])
	values[2000] = 65504
	mixed := equal(256)
	for i := range mixed {
		mixed[i] = float32(math.Ldexp(rng.Float64(), rng.IntN(250)-125))
	}
	clear(mixed[32:96])
	for _, typ := range weightable() {
		for name, importance := range map[string][]float32{"mixed": mixed, "none": make([]float32, 256)} {
			for i, v := range decode(t, typ, encodeWeighted(t, typ, values, importance)) {
				if v != v || math.IsInf(float64(v), 0) || values[i/256*256] == 0 && i/512 == 1 && v != 0 {
					t.Fatalf("%v, importance %s: value %d, %g, became %g", typ, name, i, values[i], v)
				}
			}
		}
	}
}

func TestQuantizeWeightedRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	at77 := func(v float32) []float32 {
		values := equal(256)
		values[77] = v
		return values
	}
	for _, typ := range weightable() {
		size, _ := typ.Size(512)
		tests := []struct {
			name               string
			dst                int64
			values, importance []float32
			want               error
		}{
			{"no importance", size, equal(512), nil, quant.ErrLength},
			{"half a block", size, equal(512), equal(16), quant.ErrLength},
			{"half a row", size, equal(512), equal(1024), quant.ErrLength},
			{"a short destination", size - 1, equal(512), equal(256), quant.ErrLength},
			{"a value that is NaN", size / 2, at77(nan), equal(256), quant.ErrRange},
			{"a large value", size / 2, at77(65505), equal(256), quant.ErrRange},
			{"a negative importance", size / 2, equal(256), at77(-1), quant.ErrRange},
			{"an importance that is NaN", size / 2, equal(256), at77(nan), quant.ErrRange},
			{"an infinite importance", size / 2, equal(256), at77(inf), quant.ErrRange},
		}
		for _, test := range tests {
			dst := make([]byte, test.dst)
			if err := typ.QuantizeWeighted(dst, test.values, test.importance); !errors.Is(err, test.want) {
				t.Errorf("%v, %s: error %v, want %v", typ, test.name, err, test.want)
			}
			if !bytes.Equal(dst, make([]byte, test.dst)) {
				t.Errorf("%v, %s: something was written", typ, test.name)
			}
		}
	}
	err := quant.Q8_0.QuantizeWeighted(make([]byte, 34), equal(32), equal(32))
	if !errors.Is(err, quant.ErrUnsupported) {
		t.Errorf("Q8_0: %v", err)
	}
}
