package gguf_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// Rows that are read in several pieces are those that are decoded in one go, wherever they begin.
func TestReadRowsInPieces(t *testing.T) {
	const rows, length = 9001, 64
	data := make([]byte, rows*length/32*34)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(random.IntN(256))
		if i%34 == 1 {
			data[i] &= 0x3f // neither an infinity nor NaN
		}
	}
	file, err := openBytes(append(header(3, 1, 0).tensor("t", quant.Q8_0, 0, length, rows).data(0), data...))
	must(t, err)
	want := make([]float32, rows*length)
	must(t, quant.Q8_0.Dequantize(want, data))
	tensor := file.Tensors[0]
	if tensor.Elements() != rows*length || tensor.Rows() != rows || tensor.RowLen() != length {
		t.Errorf("%d values in %d rows of %d", tensor.Elements(), tensor.Rows(), tensor.RowLen())
	}
	for _, r := range [][2]int{{0, rows}, {1, rows - 1}, {rows - 1, 1}, {4321, 4000}, {rows, 0}} {
		got := make([]float32, r[1]*length)
		must(t, tensor.ReadRows(got, r[0], r[1]))
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[r[0]*length+i]) {
				t.Fatalf("rows %v: value %d is %v, want %v", r, i, got[i], want[r[0]*length+i])
			}
		}
	}
	for _, r := range [][2]int{{-1, 1}, {rows, 1}, {rows - 1, 2}, {2, -1}} {
		err := tensor.ReadRows(make([]float32, max(0, r[1])*length), r[0], r[1])
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rows %d … %d into", r[0], r[0]+r[1])) {
			t.Errorf("rows %v: %v", r, err)
		}
	}
}

// Limits are reached before they are passed.
func TestLimitsAreReached(t *testing.T) {
	const maxName, maxNested = 1<<16 - 1, 1 << 16
	half := func(n int) raw { return raw{}.u32(9).u64(uint64(n)) }
	arrays := func(counts ...int) raw {
		b := header(3, 0, uint64(len(counts)))
		for i, n := range counts {
			b = append(b.key(fmt.Sprint("k", i), 9), half(n)...)
			for range n {
				b = b.u32(0).u64(0)
			}
		}
		return b
	}
	keys := func(n int) raw {
		b := header(3, 0, uint64(n))
		for i := range n {
			b = b.key(fmt.Sprint(i), 0).u8(1)
		}
		return b
	}
	alignment := func(v uint32) raw { return header(3, 0, 1).key("general.alignment", 4).u32(v) }
	for name, tt := range map[string]struct {
		file raw
		is   error // nil where it opens
	}{
		"most keys":            {keys(1 << 16), nil},
		"longest name":         {header(3, 0, 1).key(strings.Repeat("k", maxName), 4).u32(1), nil},
		"too long a name":      {header(3, 0, 1).key(strings.Repeat("k", maxName+1), 4).u32(1), gguf.ErrFormat},
		"no name":              {header(3, 0, 1).key("", 4).u32(1), gguf.ErrFormat},
		"deepest arrays":       {nested(3), nil},
		"too deep arrays":      {nested(4), gguf.ErrFormat},
		"most arrays":          {arrays(maxNested), nil},
		"most arrays, twice":   {arrays(maxNested/2, maxNested/2), nil},
		"too many arrays":      {arrays(maxNested + 1), gguf.ErrTooLarge},
		"too many in two keys": {arrays(maxNested/2, maxNested/2+1), gguf.ErrTooLarge},
		"largest alignment":    {alignment(1 << 30), nil},
		"too large alignment":  {alignment(1 << 31), gguf.ErrFormat},
		"alignment of three":   {alignment(3), gguf.ErrFormat},
		"alignment of nothing": {alignment(0), gguf.ErrFormat},
	} {
		if _, err := openBytes(tt.file); !errors.Is(err, tt.is) || (err == nil) != (tt.is == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.is)
		}
	}
	var b bytes.Buffer
	w := gguf.NewWriter(&b)
	must(t, w.Set(strings.Repeat("k", maxName), uint32(1)))
	if err := w.Set(strings.Repeat("k", maxName+1), uint32(1)); err == nil {
		t.Error("a name that no reader takes was written")
	}
	must(t, w.Add(gguf.TensorInfo{Name: strings.Repeat("t", maxName), Type: quant.F32, Dims: []uint64{1}}))
	tooLong := gguf.TensorInfo{Name: strings.Repeat("t", maxName+1), Type: quant.F32, Dims: []uint64{1}}
	if err := w.Add(tooLong); err == nil {
		t.Error("a tensor's name that no reader takes was written")
	}
	must(t, w.Add(gguf.TensorInfo{Name: "most", Type: gguf.I8, Dims: []uint64{math.MaxInt64}}))
	if err := w.Add(gguf.TensorInfo{Name: "more", Type: gguf.I8, Dims: []uint64{math.MaxInt64 + 1}}); err == nil {
		t.Error("a tensor of 2⁶³ values was declared")
	}
}

// A tensor of integers has the bytes of its values; one of a type that nobody knows has all up to the next.
func TestSizesOfTypesThatAreNotDecoded(t *testing.T) {
	const unknown = 77
	file, err := openBytes(header(3, 4, 0).tensor("a", gguf.I32, 0, 3).tensor("b", unknown, 32, 5).
		tensor("c", gguf.I16, 96, 3).tensor("d", unknown, 128, 2).data(128 + 7))
	must(t, err)
	for i, want := range []int64{12, 64, 6, 7} {
		if got := file.Tensors[i]; got.Size != want {
			t.Errorf("tensor %q has %d bytes, want %d", got.Name, got.Size, want)
		}
	}
}

// Padding may be larger than what is written at once.
func TestLargeAlignment(t *testing.T) {
	const alignment = 1 << 14
	written := fixture{keys: []any{"general.alignment", uint32(alignment)}, tensors: []string{"a", "b"}}.bytes(t)
	file, err := openBytes(written)
	must(t, err)
	for i, tensor := range file.Tensors {
		if tensor.Offset != int64(i+1)*alignment {
			t.Errorf("tensor %q begins at byte %d", tensor.Name, tensor.Offset)
		}
		got := make([]float32, 8)
		must(t, tensor.ReadRows(got, 0, 2))
		checkRamp(t, got)
	}
}

// An index outside of a value is a mistake in a program.
func TestIndexOutside(t *testing.T) {
	file, err := openBytes(fixture{keys: []any{"list", []uint32{4, 5}, "one", uint32(6),
		"most", uint64(math.MaxInt64), "more", uint64(math.MaxInt64 + 1)}}.bytes(t))
	must(t, err)
	for _, key := range []string{"list", "one"} {
		v, _ := file.Meta.Lookup(key)
		for _, i := range []int{-1, v.Len()} {
			func() {
				defer func() {
					if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "gguf: index") {
						t.Errorf("%s[%d]: %s", key, i, said)
					}
				}()
				v.Index(i)
			}()
		}
		if last, ok := v.Index(v.Len() - 1).Uint64(); !ok || last < 5 {
			t.Errorf("%s: the last is %d", key, last)
		}
	}
	most, _ := file.Meta.Lookup("most")
	more, _ := file.Meta.Lookup("more")
	if v, ok := most.Int64(); !ok || v != math.MaxInt64 {
		t.Errorf("%d, %t", v, ok)
	}
	if _, ok := more.Int64(); ok {
		t.Error("2⁶³ is no int64")
	}
}
