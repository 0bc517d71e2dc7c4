package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/google/go-cmp/cmp"
)

// assemble makes a file of a header, as it is, and n bytes of data.
func assemble(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

func read(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestReadConformance(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "conformance", "f32.safetensors")
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("the case is not there: %v", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	logits, ok := f.Tensor("0.logits")
	if !ok || len(logits.Shape) != 2 || logits.DType != F32 {
		t.Fatalf("0.logits: %+v", logits)
	}
	all, err := f.Floats("0.logits")
	if err != nil || len(all) != logits.Elements() {
		t.Fatalf("%d values of %d, %v", len(all), logits.Elements(), err)
	}
	raw := make([]byte, 4)
	if _, err := logits.Section().ReadAt(raw, logits.Size-4); err != nil {
		t.Fatal(err)
	}
	if want := math.Float32frombits(binary.LittleEndian.Uint32(raw)); all[len(all)-1] != want {
		t.Errorf("last value %v, want %v", all[len(all)-1], want)
	}
	last := make([]float32, logits.Shape[1])
	if err := logits.ReadFloats(last, len(all)-len(last)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all[len(all)-len(last):], last); diff != "" {
		t.Errorf("last row (-want +got)\n%s", diff)
	}
}

// The file that the format's own package writes for the same tensors and metadata.
func TestWriteEqualsReference(t *testing.T) {
	want := "\xc8\x00\x00\x00\x00\x00\x00\x00" +
		`{"__metadata__":{"format":"pt"},` +
		`"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},` +
		`"c":{"dtype":"BF16","shape":[0],"data_offsets":[8,8]},` +
		`"b.half":{"dtype":"F16","shape":[],"data_offsets":[8,10]}} ` +
		"\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x00\x3c"
	tensors := []Values{
		{Name: "c", DType: BF16, Shape: []int{0}},
		{Name: "b.half", DType: F16, Values: []float32{1}},
		{Name: "a", Shape: []int{2, 1}, Values: []float32{1, -2}},
	}
	var got bytes.Buffer
	if err := Write(&got, map[string]string{"format": "pt"}, tensors); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	f, err := read(got.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"format": "pt"}, f.Metadata); diff != "" {
		t.Errorf("metadata (-want +got)\n%s", diff)
	}
	for _, want := range tensors {
		values, err := f.Floats(want.Name)
		if err != nil || len(values) != len(want.Values) || len(values) > 0 && !cmp.Equal(values, want.Values) {
			t.Errorf("%s: %v, %v, want %v", want.Name, values, err, want.Values)
		}
	}
}

func TestWriteReadManyValues(t *testing.T) {
	values := make([]float32, 200_001)
	for i := range values {
		values[i] = float32(i%2048) / 16
	}
	for _, dtype := range []DType{F32, F16} {
		var b bytes.Buffer
		if err := Write(&b, nil, []Values{{Name: "x", DType: dtype, Shape: []int{len(values)},
			Values: values}}); err != nil {
			t.Fatal(err)
		}
		f, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Floats("x")
		if err != nil || !cmp.Equal(got, values) {
			t.Errorf("%s: %v or other values", dtype, err)
		}
		if start := f.Tensors[0].Offset; start%8 != 0 {
			t.Errorf("data begins at byte %d", start)
		}
	}
}

func TestOtherTypesAreListed(t *testing.T) {
	f, err := read(assemble(`{"x":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"y":{"dtype":"F4","shape":[4],`+
		`"data_offsets":[16,18]}}`, 18))
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := f.Tensor("x"); !ok || x.DType != "I64" || x.Size != 16 {
		t.Errorf("%+v", x)
	}
	if _, err := f.Floats("x"); !errors.Is(err, quant.ErrUnsupported) {
		t.Errorf("values: %v", err)
	}
	if _, err := f.Floats("none"); !errors.Is(err, ErrMissing) {
		t.Errorf("no tensor: %v", err)
	}
}

var hostileHeaders = []struct {
	name, header string
	data         int
	says         string
}{
	{"no JSON", `hello`, 0, "invalid"},
	{"no object", `[]`, 0, "belongs"},
	{"cut off", `{"x":{"dtype":"F32"`, 0, "byte"},
	{"more behind", `{} {}`, 0, "after the JSON object"},
	{"tensor twice", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],` +
		`"data_offsets":[4,8]}}`, 8, `"x" stands twice`},
	{"dtype twice", `{"x":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}}`, 4, `"dtype"`},
	{"metadata twice", `{"__metadata__":{},"__metadata__":{}}`, 0, "twice"},
	{"metadata key twice", `{"__metadata__":{"a":"1","a":"2"}}`, 0, "twice"},
	{"metadata of numbers", `{"__metadata__":{"a":1}}`, 0, "no string"},
	{"metadata nested", `{"__metadata__":{"a":{"b":"c"}}}`, 0, "no string"},
	{"no dtype", `{"x":{"shape":[1],"data_offsets":[0,4]}}`, 4, "lacks"},
	{"no shape", `{"x":{"dtype":"F32","data_offsets":[0,4]}}`, 4, "lacks"},
	{"null shape", `{"x":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, 4, "lacks"},
	{"one offset", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, 4, "lacks"},
	{"unknown member", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"y":1}}`, 4, `"y"`},
	{"unknown dtype", `{"x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}`, 4, "F33"},
	{"fraction", `{"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, 4, "x"},
	{"number over int64", `{"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}`, 4, "x"},
	{"negative dimension", `{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4, "shape"},
	{"shape overflows", `{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0, "overflows"},
	{"empty shape overflows", `{"x":{"dtype":"F32","shape":[0,9223372036854775807,9],"data_offsets":[0,0]}}`, 0,
		"overflows"},
	{"size and shape differ", `{"x":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}}`, 8, "8 bytes"},
	{"half a byte", `{"x":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}}`, 1, "bytes"},
	{"9 dimensions", `{"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, 4, "9 dimensions"},
	{"backwards", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4, "data_offsets"},
	{"negative offset", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, 4, "data_offsets"},
	{"beyond the file", `{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4, "cut off"},
	{"far beyond the file", `{"x":{"dtype":"U8","shape":[9223372036854775],"data_offsets":[0,9223372036854775]}}`, 4,
		"cut off"},
	{"overlap", `{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[1],` +
		`"data_offsets":[4,8]}}`, 8, `"y"`},
	{"gap", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8, "begins at byte 4"},
	{"data left over", `{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 8, "has 8"},
	{"deep", `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 0, "x"},
}

func TestHostileHeaders(t *testing.T) {
	for _, test := range hostileHeaders {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(assemble(test.header, test.data))
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want ErrFormat that says %q", err, test.says)
			}
		})
	}
	for _, b := range [][]byte{nil, {1, 2, 3}, {255, 255, 255, 255, 255, 255, 255, 255}, assemble("{}  ", 0)[:10]} {
		if _, err := read(b); !errors.Is(err, ErrFormat) {
			t.Errorf("% x: %v", b, err)
		}
	}
}

func TestHeaderLengthBoundsAllocation(t *testing.T) {
	b := assemble("{}", 0)
	binary.LittleEndian.PutUint64(b, 90_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(b)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 1<<20 {
		t.Errorf("%d bytes allocated, error %v", used, err)
	}
}

func TestWriteMistakes(t *testing.T) {
	one := []float32{1}
	tests := map[string][]Values{
		"twice":          {{Name: "x", Values: one}, {Name: "x", Values: one}},
		"metadata":       {{Name: "__metadata__", Values: one}},
		"wrong count":    {{Name: "x", Shape: []int{2}, Values: one}},
		"negative":       {{Name: "x", Shape: []int{-1, -1}, Values: one}},
		"unknown type":   {{Name: "x", DType: "I32", Values: one}},
		"name not UTF-8": {{Name: "\xff", Values: one}},
	}
	for name, tensors := range tests {
		if err := Write(&bytes.Buffer{}, nil, tensors); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	full := errors.New("disk full")
	for _, room := range []int{0, 100} {
		if err := Write(&limited{room, full}, nil,
			[]Values{{Name: "x", Shape: []int{100}, Values: make([]float32, 100)}}); !errors.Is(err, full) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

type limited struct {
	room int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		return l.room, l.err
	}
	l.room -= len(p)
	return len(p), nil
}

// FuzzHeader: whatever the bytes, reading ends in an error or in tensors that
// can be read and, if their types can be, written again.
func FuzzHeader(f *testing.F) {
	for _, h := range hostileHeaders {
		if len(h.header) < 1000 {
			f.Add(assemble(h.header, h.data))
		}
	}
	f.Add(assemble(`{"__metadata__":{"r":"4"},"x":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}`, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := read(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("not ErrFormat: %v", err)
			}
			return
		}
		var values []Values
		for _, tensor := range file.Tensors {
			floats, err := tensor.Floats()
			if errors.Is(err, quant.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, Values{Name: tensor.Name, DType: tensor.DType, Shape: tensor.Shape, Values: floats})
		}
		var out bytes.Buffer
		if err := Write(&out, file.Metadata, values); err != nil {
			t.Fatal(err)
		}
		if _, err := read(out.Bytes()); err != nil {
			t.Fatalf("written again: %v", err)
		}
	})
}
