package quant_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

// encodable is every type that Quantize takes.
func encodable() (types []quant.Type) {
	for _, typ := range decodable {
		if typ.CanQuantize() {
			types = append(types, typ)
		}
	}
	return types
}

func TestNamesAndBlocks(t *testing.T) {
	tests := []struct {
		typ                  quant.Type
		id                   uint32
		name                 string
		blockLen, blockBytes int
		canQuantize          bool
	}{
		{quant.F32, 0, "F32", 1, 4, true},
		{quant.F16, 1, "F16", 1, 2, true},
		{quant.Q4_0, 2, "Q4_0", 32, 18, true},
		{quant.Q4_1, 3, "Q4_1", 32, 20, true},
		{quant.Q5_0, 6, "Q5_0", 32, 22, true},
		{quant.Q5_1, 7, "Q5_1", 32, 24, true},
		{quant.Q8_0, 8, "Q8_0", 32, 34, true},
		{quant.Q2_K, 10, "Q2_K", 256, 84, true},
		{quant.Q3_K, 11, "Q3_K", 256, 110, true},
		{quant.Q4_K, 12, "Q4_K", 256, 144, true},
		{quant.Q5_K, 13, "Q5_K", 256, 176, true},
		{quant.Q6_K, 14, "Q6_K", 256, 210, true},
		{quant.Q8_K, 15, "Q8_K", 256, 292, true},
		{quant.BF16, 30, "BF16", 1, 2, true},
		{quant.IQ2_XXS, 16, "IQ2_XXS", 256, 66, false},
		{quant.IQ2_XS, 17, "IQ2_XS", 256, 74, false},
		{quant.IQ3_XXS, 18, "IQ3_XXS", 256, 98, false},
		{quant.IQ1_S, 19, "IQ1_S", 256, 50, false},
		{quant.IQ4_NL, 20, "IQ4_NL", 32, 18, true},
		{quant.IQ3_S, 21, "IQ3_S", 256, 110, false},
		{quant.IQ2_S, 22, "IQ2_S", 256, 82, false},
		{quant.IQ4_XS, 23, "IQ4_XS", 256, 136, true},
		{quant.IQ1_M, 29, "IQ1_M", 256, 56, false},
		{quant.TQ1_0, 34, "TQ1_0", 256, 54, true},
		{quant.TQ2_0, 35, "TQ2_0", 256, 66, true},
		{quant.MXFP4, 39, "MXFP4", 32, 17, true},
		{quant.NVFP4, 40, "NVFP4", 64, 36, true},
	}
	if len(tests) != len(decodable) {
		t.Errorf("%d types are listed here, %d in decodable", len(tests), len(decodable))
	}
	for _, test := range tests {
		typ := test.typ
		if uint32(typ) != test.id || typ.String() != test.name || typ.BlockLen() != test.blockLen ||
			typ.BlockBytes() != test.blockBytes {
			t.Errorf("%v is number %d with %d values in %d bytes", typ, typ, typ.BlockLen(), typ.BlockBytes())
		}
		if !typ.Supported() || typ.CanQuantize() != test.canQuantize {
			t.Errorf("%v: Supported %v, CanQuantize %v", typ, typ.Supported(), typ.CanQuantize())
		}
		for _, name := range []string{test.name, strings.ToLower(test.name)} {
			if got, err := quant.Parse(name); got != typ || err != nil {
				t.Errorf("Parse(%q) is %v, %v", name, got, err)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	names := map[quant.Type]string{
		9: "Q8_1", 26: "I32", 28: "F64", 41: "Q1_0", 4: "Type(4)", 31: "Type(31)", 38: "Type(38)", 42: "Type(42)",
		1000: "Type(1000)", math.MaxUint32: "Type(4294967295)",
	}
	for typ, name := range names {
		if typ.String() != name {
			t.Errorf("type %d is named %q, want %q", uint32(typ), typ, name)
		}
		if typ.Supported() || typ.CanQuantize() || typ.BlockLen() != 0 || typ.BlockBytes() != 0 {
			t.Errorf("%v is supported", typ)
		}
		_, sizeErr := typ.Size(256)
		for _, err := range []error{sizeErr, typ.Dequantize(nil, nil), typ.Quantize(nil, nil)} {
			if !errors.Is(err, quant.ErrUnsupported) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: error is %v", typ, err)
			}
		}
	}
	if err := quant.IQ1_S.Quantize(make([]byte, 50), make([]float32, 256)); !errors.Is(err, quant.ErrUnsupported) {
		t.Errorf("IQ1_S: error is %v", err)
	}
	for _, name := range []string{"", "Q4", "type(4)", "Q4_K_M"} {
		if typ, err := quant.Parse(name); !errors.Is(err, quant.ErrUnsupported) {
			t.Errorf("Parse(%q) is %v, %v", name, typ, err)
		}
	}
	if typ, err := quant.Parse("q8_1"); typ != 9 || err != nil {
		t.Errorf("Parse of a type known by name alone is %v, %v", typ, err)
	}
}

func TestSize(t *testing.T) {
	for _, typ := range decodable {
		blockLen, blockBytes := int64(typ.BlockLen()), int64(typ.BlockBytes())
		for _, blocks := range []int64{0, 1, 3, 1 << 30, math.MaxInt64 / max(blockLen, blockBytes)} {
			if size, err := typ.Size(blocks * blockLen); size != blocks*blockBytes || err != nil {
				t.Errorf("%d blocks of %v take %d, %v", blocks, typ, size, err)
			}
		}
		bad := []int64{-1, -blockLen, math.MinInt64}
		if blockLen > 1 {
			bad = append(bad, 1, blockLen-1, blockLen+1)
		}
		if blockBytes > blockLen {
			bad = append(bad, math.MaxInt64/blockLen*blockLen)
		}
		for _, n := range bad {
			if size, err := typ.Size(n); !errors.Is(err, quant.ErrLength) {
				t.Errorf("%d values of %v take %d, %v", n, typ, size, err)
			}
		}
	}
}

func TestWrongLengths(t *testing.T) {
	for _, typ := range decodable {
		n, size := 2*typ.BlockLen(), 2*typ.BlockBytes()
		for _, wrong := range [][2]int{{n, size - 1}, {n, size + 1}, {n, size / 2}, {n / 2, size},
			{n + typ.BlockLen(), size}, {n, 0}, {0, size}, {n + 1, size}} {
			values, blocks := make([]float32, wrong[0]), make([]byte, wrong[1])
			if err := typ.Dequantize(values, blocks); !errors.Is(err, quant.ErrLength) {
				t.Errorf("%v: dequantize of %d bytes to %d values: %v", typ, wrong[1], wrong[0], err)
			}
			if !typ.CanQuantize() {
				continue
			}
			if err := typ.Quantize(blocks, values); !errors.Is(err, quant.ErrLength) {
				t.Errorf("%v: quantize of %d values to %d bytes: %v", typ, wrong[0], wrong[1], err)
			}
		}
		if err := typ.Dequantize(nil, nil); err != nil {
			t.Errorf("%v: nothing to dequantize: %v", typ, err)
		}
	}
}
