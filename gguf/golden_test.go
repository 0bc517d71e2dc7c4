package gguf_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
	"github.com/google/go-cmp/cmp"
)

// golden.gguf was written by another implementation, see testdata/golden.py.
func openGolden(t testing.TB) *gguf.File {
	t.Helper()
	f, err := gguf.OpenPath(context.Background(), "testdata/golden.gguf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var goldenValues = []struct {
	key  string
	want any
}{
	{"general.architecture", "golden"},
	{"k.uint8", uint8(250)},
	{"k.int8", int8(-120)},
	{"k.uint16", uint16(65000)},
	{"k.int16", int16(-32000)},
	{"k.uint32", uint32(4000000000)},
	{"k.int32", int32(-2000000000)},
	{"k.uint64", uint64(18000000000000000000)},
	{"k.int64", int64(-9000000000000000000)},
	{"k.float32", float32(0.1)},
	{"k.float64", 0.1},
	{"k.true", true},
	{"k.false", false},
	{"k.string", "naïve café 😺"},
	{"k.strings", []string{"a", "bc", "▁the"}},
	{"k.ints", []int32{1, -2, 3}},
	{"k.floats", []float32{0.5, -1.5}},
	{"k.bools", []bool{true, false, true}},
	{"k.nested", []any{[]int32{1, 2}, []int32{3}}},
	{"general.alignment", uint32(64)},
}

func TestGoldenValues(t *testing.T) {
	f := openGolden(t)
	var keys []string
	for _, g := range goldenValues {
		keys = append(keys, g.key)
		v, ok := f.Meta.Lookup(g.key)
		if !ok {
			t.Errorf("%s is missing", g.key)
			continue
		}
		if diff := cmp.Diff(g.want, v.Any()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", g.key, diff)
		}
	}
	if diff := cmp.Diff(keys, f.Meta.Keys()); diff != "" {
		t.Errorf("keys (-want +got)\n%s", diff)
	}
}

func TestGoldenTensors(t *testing.T) {
	f := openGolden(t)
	ramp := make([]float32, 3*64)
	for i := range ramp {
		ramp[i] = float32(i)/8 - 10
	}
	three := make([]float32, 24)
	for i := range three {
		three[i] = float32(i)
	}
	tests := []struct {
		name      string
		typ       quant.Type
		dims      []uint64
		want      []float32
		tolerance float32
	}{
		{"t.f32", quant.F32, []uint64{64, 3}, ramp, 0},
		{"t.f16", quant.F16, []uint64{64, 3}, ramp, 0},
		{"t.three", quant.F32, []uint64{4, 3, 2}, three, 0},
		{"t.q8_0", quant.Q8_0, []uint64{64, 3}, ramp, 0.06}, // half a step of 14/127
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tensor, ok := f.Tensor(test.name)
			if !ok {
				t.Fatal("missing")
			}
			if tensor.Type != test.typ || !cmp.Equal(tensor.Dims, test.dims) {
				t.Errorf("is %v %v, want %v %v", tensor.Type, tensor.Dims, test.typ, test.dims)
			}
			rowLen, rows := tensor.RowLen(), tensor.Rows()
			for first := range rows {
				for n := 0; first+n <= rows; n++ {
					got := make([]float32, n*rowLen)
					if err := tensor.ReadRows(got, first, n); err != nil {
						t.Fatal(err)
					}
					checkNear(t, got, test.want[first*rowLen:(first+n)*rowLen], test.tolerance)
				}
			}
		})
	}
}

func checkNear(t *testing.T, got, want []float32, tolerance float32) {
	t.Helper()
	for i := range want {
		if d := got[i] - want[i]; d > tolerance || d < -tolerance {
			t.Fatalf("value %d is %v, want %v ± %v", i, got[i], want[i], tolerance)
		}
	}
}

// A type that cannot be decoded is listed, with its bytes, but not read.
func TestUnsupportedTypeIsListed(t *testing.T) {
	tensor, ok := openGolden(t).Tensor("t.i32")
	if !ok {
		t.Fatal("missing")
	}
	if tensor.Type.Supported() {
		t.Skipf("%v is supported now", tensor.Type)
	}
	raw := make([]byte, 8)
	if _, err := tensor.ReadAt(raw, 0); err != nil {
		t.Error(err)
	}
	if want := []byte{7, 0, 0, 0, 0xf9, 0xff, 0xff, 0xff}; !cmp.Equal(raw, want) {
		t.Errorf("bytes % x, want % x", raw, want)
	}
	if err := tensor.ReadRows(make([]float32, 2), 0, 1); !errors.Is(err, quant.ErrUnsupported) {
		t.Errorf("reading values: %v", err)
	}
}

func TestReadRowsRefusesWrongRanges(t *testing.T) {
	tensor, _ := openGolden(t).Tensor("t.f32")
	maxInt := int(^uint(0) >> 1)
	for _, test := range []struct{ values, first, n int }{
		{64, 3, 1}, {64, -1, 1}, {128, 2, 2}, {63, 0, 1}, {0, 0, 1}, {0, 4, 0}, {64, maxInt, 1}, {64, 1, maxInt},
		{64, 1, -1},
	} {
		if err := tensor.ReadRows(make([]float32, test.values), test.first, test.n); err == nil {
			t.Errorf("%+v: no error", test)
		}
	}
}
