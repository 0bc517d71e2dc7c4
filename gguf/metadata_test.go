package gguf_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/google/go-cmp/cmp"
)

func get[T any](get func(string) (T, error)) func(string) (any, error) {
	return func(key string) (any, error) { return get(key) }
}

func TestTypedGetters(t *testing.T) {
	m := openGolden(t).Meta
	wrong, missing := gguf.ErrWrongType, gguf.ErrMissingKey
	tests := []struct {
		name string
		get  func(string) (any, error)
		key  string
		want any // or an error
	}{
		{"Uint32", get(m.Uint32), "k.uint8", uint32(250)},
		{"Uint32", get(m.Uint32), "k.uint32", uint32(4000000000)},
		{"Uint32", get(m.Uint32), "k.int8", wrong},
		{"Uint32", get(m.Uint32), "k.uint64", wrong},
		{"Uint32", get(m.Uint32), "k.float32", wrong},
		{"Uint32", get(m.Uint32), "k.ints", wrong},
		{"Uint32", get(m.Uint32), "k.none", missing},
		{"Int32", get(m.Int32), "k.int8", int32(-120)},
		{"Int32", get(m.Int32), "k.int32", int32(-2000000000)},
		{"Int32", get(m.Int32), "k.uint32", wrong},
		{"Int32", get(m.Int32), "k.int64", wrong},
		{"Uint64", get(m.Uint64), "k.uint64", uint64(18000000000000000000)},
		{"Uint64", get(m.Uint64), "k.int64", wrong},
		{"Float32", get(m.Float32), "k.float32", float32(0.1)},
		{"Float32", get(m.Float32), "k.float64", float32(0.1)},
		{"Float32", get(m.Float32), "k.uint8", wrong},
		{"Float64", get(m.Float64), "k.float64", 0.1},
		{"Bool", get(m.Bool), "k.true", true},
		{"Bool", get(m.Bool), "k.uint8", wrong},
		{"String", get(m.String), "k.string", "naïve café 😺"},
		{"String", get(m.String), "k.strings", wrong},
		{"Strings", get(m.Strings), "k.strings", []string{"a", "bc", "▁the"}},
		{"Strings", get(m.Strings), "k.string", []string{"naïve café 😺"}},
		{"Strings", get(m.Strings), "k.ints", wrong},
		{"Strings", get(m.Strings), "k.none", missing},
		{"Uint32s", get(m.Uint32s), "k.ints", wrong}, // one is negative
		{"Uint32s", get(m.Uint32s), "k.uint16", []uint32{65000}},
		{"Int32s", get(m.Int32s), "k.ints", []int32{1, -2, 3}},
		{"Float32s", get(m.Float32s), "k.floats", []float32{0.5, -1.5}},
		{"Float32s", get(m.Float32s), "k.float32", []float32{0.1}},
		{"Bools", get(m.Bools), "k.bools", []bool{true, false, true}},
		{"Bools", get(m.Bools), "k.false", []bool{false}},
		{"Bools", get(m.Bools), "k.nested", wrong},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.key, func(t *testing.T) {
			got, err := test.get(test.key)
			if want, ok := test.want.(error); ok {
				if !errors.Is(err, want) || !strings.Contains(err.Error(), test.key) {
					t.Errorf("error %v, want %v that names the key", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestJoined(t *testing.T) {
	m := openGolden(t).Meta
	for key, want := range map[string]string{"k.strings": "abc▁the", "k.string": "", "k.ints": "", "k.none": ""} {
		if got := m.Joined(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestNewValueRoundTrip(t *testing.T) {
	for _, want := range []any{
		uint8(255), int8(-128), uint16(65535), int16(-32768), uint32(math.MaxUint32), int32(math.MinInt32),
		uint64(math.MaxUint64), int64(math.MinInt64), float32(-0.5), math.Pi, true, false, "", "text",
		[]uint8{0, 255}, []int8{-1, 1}, []uint16{1}, []int16{-1}, []uint32{7, 8}, []int32{-7, 8}, []uint64{1 << 63},
		[]int64{-1}, []float32{1.5}, []float64{-2.5}, []bool{true, false}, []string{"", "a", ""},
		[]any{[]uint8{1}, []string{"x"}, []any{[]bool{true}}},
	} {
		v, err := gguf.NewValue(want)
		if err != nil {
			t.Errorf("%T: %v", want, err)
			continue
		}
		if diff := cmp.Diff(want, v.Any()); diff != "" {
			t.Errorf("%T (-want +got)\n%s", want, diff)
		}
	}
}

func TestNewValueRefuses(t *testing.T) {
	for _, bad := range []any{1, uint(1), nil, struct{}{}, []int{1}, []any{uint8(1)}, []any{"x"}, map[string]int{}} {
		if v, err := gguf.NewValue(bad); err == nil {
			t.Errorf("%T became %v", bad, v)
		}
	}
}

func TestValueString(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{uint8(7), "7"},
		{float32(0.1), "0.1"},
		{true, "true"},
		{"a\nb", `"a\nb"`},
		{[]string{"a", "b"}, `[2]string{"a", "b"}`},
		{make([]int32, 100), "[100]int32{0, 0, 0, 0, 0, 0, 0, 0, …}"},
		{[]any{[]bool{true}}, "[1]array{[1]bool{true}}"},
		{make([]int8, 8), "[8]int8{0, 0, 0, 0, 0, 0, 0, 0}"},
		{strings.Repeat("x", 120), `"` + strings.Repeat("x", 120) + `"`},
		{strings.Repeat("x", 200), `"` + strings.Repeat("x", 120) + `"…`},
	}
	for _, test := range tests {
		v, err := gguf.NewValue(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// Numbers fit or do not, whatever type the file has them in.
func TestNumbersAtTheirLimits(t *testing.T) {
	tests := []struct {
		value         any
		uint32, int32 bool
	}{
		{uint64(math.MaxInt32), true, true},
		{uint64(math.MaxInt32 + 1), true, false},
		{uint64(math.MaxUint32), true, false},
		{uint64(math.MaxUint32 + 1), false, false},
		{int64(0), true, true},
		{int64(-1), false, true},
		{int64(math.MinInt32), false, true},
		{int64(math.MinInt32 - 1), false, false},
	}
	for _, test := range tests {
		file, err := openBytes(fixture{keys: []any{"k", test.value}}.bytes(t))
		must(t, err)
		if _, err := file.Meta.Uint32("k"); (err == nil) != test.uint32 {
			t.Errorf("%T %v as a uint32: %v", test.value, test.value, err)
		}
		if _, err := file.Meta.Int32("k"); (err == nil) != test.int32 {
			t.Errorf("%T %v as an int32: %v", test.value, test.value, err)
		}
	}
}
