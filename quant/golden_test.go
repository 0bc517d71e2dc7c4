package quant_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

// decodable is every type that Dequantize takes.
var decodable = []quant.Type{
	quant.F32, quant.F16, quant.BF16, quant.Q4_0, quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q8_0,
	quant.Q2_K, quant.Q3_K, quant.Q4_K, quant.Q5_K, quant.Q6_K, quant.Q8_K,
	quant.IQ1_S, quant.IQ1_M, quant.IQ2_XXS, quant.IQ2_XS, quant.IQ2_S, quant.IQ3_XXS, quant.IQ3_S,
	quant.IQ4_NL, quant.IQ4_XS, quant.TQ1_0, quant.TQ2_0, quant.MXFP4, quant.NVFP4,
}

// The golden files come from testdata/generate.py and testdata/make_lowbit.py.

func TestDequantizeGolden(t *testing.T) {
	for _, typ := range decodable[1:] {
		t.Run(typ.String(), func(t *testing.T) {
			want := golden(t, typ.String()+".values")
			got := make([]float32, len(want))
			if err := typ.Dequantize(got, goldenBytes(t, typ.String()+".blocks")); err != nil {
				t.Fatal(err)
			}
			checkSame(t, typ, got, want)
		})
	}
}

func TestQuantizeGolden(t *testing.T) {
	for _, typ := range []quant.Type{
		quant.F16, quant.BF16, quant.Q4_0, quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q8_0, quant.Q8_K,
		quant.IQ4_NL, quant.IQ4_XS, quant.TQ1_0, quant.TQ2_0, quant.MXFP4, quant.NVFP4,
	} {
		t.Run(typ.String(), func(t *testing.T) {
			values := golden(t, "values.f32")
			if typ == quant.NVFP4 { // whose range is smaller
				for i := range values {
					values[i] /= 16
				}
			}
			want := goldenBytes(t, typ.String()+".encoded")
			got := encode(t, typ, values)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("byte %d of block %d is %#02x, want %#02x", i%typ.BlockBytes(), i/typ.BlockBytes(), got[i],
						want[i])
				}
			}
		})
	}
}

// checkSame wants the same bits; for NaN it wants a NaN.
func checkSame(t *testing.T, typ quant.Type, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("value %d of block %d is %v, want %v", i%typ.BlockLen(), i/typ.BlockLen(), got[i], want[i])
		}
	}
}

func goldenBytes(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func golden(t testing.TB, name string) []float32 {
	t.Helper()
	data := goldenBytes(t, name)
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}

func encode(t testing.TB, typ quant.Type, values []float32) []byte {
	t.Helper()
	size, err := typ.Size(int64(len(values)))
	if err != nil {
		t.Fatal(err)
	}
	blocks := make([]byte, size)
	if err := typ.Quantize(blocks, values); err != nil {
		t.Fatal(err)
	}
	return blocks
}

func decode(t testing.TB, typ quant.Type, blocks []byte) []float32 {
	t.Helper()
	values := make([]float32, len(blocks)/typ.BlockBytes()*typ.BlockLen())
	if err := typ.Dequantize(values, blocks); err != nil {
		t.Fatal(err)
	}
	return values
}
