package gguf_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

const huge = 1 << 62

var hostile = []struct {
	name  string
	file  raw
	is    error  // nil: the plain ErrFormat
	names string // what the error has to name
	at    int64  // the offset that it has to give, -1 where it does not matter
}{
	{"empty", nil, gguf.ErrNotGGUF, "header", 0},
	{"three bytes", raw("GGU"), gguf.ErrNotGGUF, "header", 0},
	{"another format", raw("PK\x03\x04 something else altogether"), gguf.ErrNotGGUF, `"PK\x03\x04"`, 0},
	{"magic alone", raw("GGUF"), gguf.ErrTruncated, "header", 4},
	{"version 1", header(1, 0, 0), gguf.ErrVersion, "version 1", 4},
	{"version 4", header(4, 0, 0), gguf.ErrVersion, "version 4", 4},
	{"version 0", header(0, 0, 0), gguf.ErrVersion, "version 0", 4},
	{"big-endian, the first version", header(1<<24, 0, 0), gguf.ErrVersion, "big-endian", 4},
	{"big-endian of no version", header(4<<24, 0, 0), gguf.ErrVersion, "version 67108864", 4},
	{"big-endian", header(3<<24, 0, 0), gguf.ErrVersion, "big-endian", 4},
	{"cut in the counts", header(3, 0, 0)[:20], gguf.ErrTruncated, "header", 16},
	{"huge tensor count", header(3, huge, 0), gguf.ErrTruncated, "tensors", 8},
	{"huge key count", header(3, 0, huge), gguf.ErrTruncated, "metadata keys", 16},
	{"empty key", header(3, 0, 1).key("", 0).data(64), nil, "key 1 of 1", 24},
	{"huge key length", header(3, 0, 1).u64(huge).data(64), nil, "key 1 of 1", 24},
	{"key length just over the rest", header(3, 0, 1).u64(40).u8(make([]byte, 30)...), gguf.ErrTruncated, "key 1 of 1",
		32},
	{"unknown kind", header(3, 0, 1).key("k", 13).data(64), nil, `key "k"`, 33},
	{"bad bool", header(3, 0, 1).key("k", 7).u8(2), nil, `key "k"`, 37},
	{"bad bool in an array", header(3, 0, 1).key("k", 9).u32(7).u64(3).u8(0, 1, 9), nil, `key "k"`, 51},
	{"cut value", header(3, 0, 1).key("k", 10).u32(1), gguf.ErrTruncated, `key "k"`, 37},
	{"huge string", header(3, 0, 1).key("k", 8).u64(huge).data(64), gguf.ErrTruncated, `key "k"`, 45},
	{"huge array of bytes", header(3, 0, 1).key("k", 9).u32(0).u64(huge).data(64), gguf.ErrTruncated, `key "k"`, 49},
	{"array whose bytes overflow", header(3, 0, 1).key("k", 9).u32(12).u64(1 << 61).data(64), gguf.ErrTruncated,
		`key "k"`, 49},
	{"huge array of strings", header(3, 0, 1).key("k", 9).u32(8).u64(huge).data(64), gguf.ErrTruncated, `key "k"`, 49},
	{"huge string in an array", header(3, 0, 1).key("k", 9).u32(8).u64(2).text("a").u64(huge).data(64),
		gguf.ErrTruncated, `key "k"`, 66},
	{"length -1 in an array", header(3, 0, 1).key("k", 9).u32(8).u64(2).text("a").u64(1<<64 - 1).data(64),
		gguf.ErrTruncated, `key "k"`, 66},
	{"huge array of arrays", header(3, 0, 1).key("k", 9).u32(9).u64(huge).data(64), gguf.ErrTruncated, `key "k"`, 49},
	{"array of an unknown kind", header(3, 0, 1).key("k", 9).u32(99).u64(0).data(64), nil, `key "k"`, 37},
	{"arrays nested without end", nested(5000), nil, `key "k"`, -1},
	{"array a little longer than the file", header(3, 0, 1).key("k", 9).u32(10).u64(9).u8(make([]byte, 64)...),
		gguf.ErrTruncated, "9 × 8 bytes", 49},
	{"a few tensors more than fit", header(3, 3, 0).data(40), gguf.ErrTruncated, "3 tensors", 8},
	{"more empty arrays than any model has", emptyArrays(1<<16 + 1), gguf.ErrTooLarge, `key "k"`, -1},
	{"more keys than any model has", header(3, 0, 1<<16+1).data(1 << 20), gguf.ErrTooLarge, "metadata keys", 16},
	{"more tensors than any model has", header(3, 1<<18+1, 0).data(8 << 20), gguf.ErrTooLarge, "tensors", 8},
	{"key twice", header(3, 0, 2).key("k", 0).u8(1).key("k", 0).u8(1), nil, `key "k"`, 38},
	{"alignment 0", header(3, 0, 1).key("general.alignment", 4).u32(0), nil, "general.alignment", -1},
	{"alignment 24", header(3, 0, 1).key("general.alignment", 4).u32(24), nil, "general.alignment", -1},
	{"alignment 2 GiB", header(3, 0, 1).key("general.alignment", 4).u32(1 << 31), nil, "general.alignment", -1},
	{"alignment a string", header(3, 0, 1).key("general.alignment", 8).text("32"), gguf.ErrWrongType,
		"general.alignment", -1},
	{"empty tensor name", header(3, 1, 0).tensor("", quant.F32, 0, 1).data(64), nil, "tensor 1 of 1", 24},
	{"5 dimensions", header(3, 1, 0).tensor("t", quant.F32, 0, 1, 1, 1, 1, 1).data(64), nil, `tensor "t"`, 33},
	{"4 billion dimensions", header(3, 1, 0).text("t").u32(1<<32 - 1).data(64), nil, `tensor "t"`, 33},
	{"dimension 0", header(3, 1, 0).tensor("t", quant.F32, 0, 4, 0).data(64), nil, `tensor "t"`, 45},
	{"dimensions overflow", header(3, 1, 0).tensor("t", quant.F32, 0, 1<<32, 1<<32).data(64), nil, `tensor "t"`, 24},
	{"elements overflow int", header(3, 1, 0).tensor("t", quant.F32, 0, 1<<32, 1<<31).data(64), nil, `tensor "t"`, 24},
	{"bytes overflow", header(3, 1, 0).tensor("t", quant.F32, 0, 1<<62).data(64), nil, `tensor "t"`, 24},
	{"bytes of int8 overflow", header(3, 1, 0).tensor("t", gguf.I8, 0, 1<<63).data(64), nil, "overflow", 24},
	{"bytes of int16 overflow", header(3, 1, 0).tensor("t", gguf.I16, 0, 1<<31, 1<<31).data(64), nil, "overflow", 24},
	{"bytes of int32 come to 0", header(3, 1, 0).tensor("t", gguf.I32, 0, 1<<62).data(64), nil, "overflow", 24},
	{"bytes of int64 come to 0", header(3, 1, 0).tensor("t", gguf.I64, 0, 1<<61).data(64), nil, "overflow", 24},
	{"bytes of int64 come to 8", header(3, 1, 0).tensor("t", gguf.I64, 0, 1<<61+1).data(64), nil, "overflow", 24},
	{"as many bytes of int64 as there can be", header(3, 1, 0).tensor("t", gguf.I64, 0, 1<<60-1).data(64),
		gguf.ErrTruncated, `tensor "t"`, 24},
	{"broken blocks", header(3, 1, 0).tensor("t", quant.Q4_K, 0, 255).data(512), nil, `tensor "t"`, 24},
	{"blocks over the end of a row", header(3, 1, 0).tensor("t", quant.Q4_K, 0, 128, 2).data(512), nil, `tensor "t"`,
		24},
	{"offset not aligned", header(3, 1, 0).tensor("t", quant.F32, 4, 4).data(64), nil, `tensor "t"`, 24},
	{"offset beyond the file", header(3, 1, 0).tensor("t", quant.F32, 1<<20, 4).data(64), gguf.ErrTruncated,
		`tensor "t"`, -1},
	{"offset overflows", header(3, 1, 0).tensor("t", quant.F32, 1<<64-32, 4).data(64), gguf.ErrTruncated, `tensor "t"`,
		-1},
	{"data cut off", header(3, 1, 0).tensor("t", quant.F32, 0, 16).data(63), gguf.ErrTruncated, `tensor "t"`, 24},
	{"data missing", header(3, 1, 0).tensor("t", quant.F32, 0, 16), gguf.ErrTruncated, `tensor "t"`, 24},
	{"unknown type beyond the file", header(3, 1, 0).tensor("t", 77, 96, 4).data(64), gguf.ErrTruncated, `tensor "t"`,
		24},
	{"tensors overlap", header(3, 2, 0).tensor("a", quant.F32, 0, 16).tensor("b", quant.F32, 32, 8).data(64), nil,
		`tensor "b"`, -1},
	{"tensors at one place", header(3, 2, 0).tensor("a", quant.F32, 0, 16).tensor("b", quant.F32, 0, 16).data(64), nil,
		`tensor "b"`, -1},
	{"tensor twice", header(3, 2, 0).tensor("a", quant.F32, 0, 8).tensor("a", quant.F32, 32, 8).data(64), nil,
		`tensor "a"`, -1},
}

// emptyArrays is a key with an array of n empty ones, which take 12 bytes each.
func emptyArrays(n int) raw {
	return header(3, 0, 1).key("k", 9).u32(9).u64(uint64(n)).data(12 * n)
}

// nested is a key with so many arrays in one another.
func nested(depth int) raw {
	b := header(3, 0, 1).key("k", 9)
	for range depth {
		b = b.u32(9).u64(1)
	}
	return b.u32(0).u64(0)
}

func TestHostileFiles(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			_, err := openBytes(test.file)
			var format *gguf.FormatError
			if !errors.As(err, &format) || !errors.Is(err, gguf.ErrFormat) {
				t.Fatalf("error %v, want a FormatError", err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v, want %v", err, test.is)
			}
			if !strings.Contains(err.Error(), test.names) {
				t.Errorf("error %q does not name %s", err, test.names)
			}
			if test.at >= 0 && format.Offset != test.at {
				t.Errorf("error %q, want byte %d", err, test.at)
			}
		})
	}
}

// A file that was cut off anywhere is refused or, in its padding, complete.
func TestEveryCutIsAnError(t *testing.T) {
	whole := fixture{
		keys: []any{"a", uint32(1), "b", "text", "c", []string{"x", "yz"}, "d", []float32{1}, "e",
			[]any{[]bool{true}}},
		tensors: []string{"t", "u"},
	}.bytes(t)
	for n := range len(whole) {
		if _, err := openBytes(whole[:n]); err == nil {
			t.Fatalf("opened with %d of %d bytes", n, len(whole))
		} else if n >= 4 && !errors.Is(err, gguf.ErrTruncated) {
			t.Errorf("%d bytes: %v is not ErrTruncated", n, err)
		}
	}
}

// What a file claims must not make the reader allocate more than a small
// multiple of what the file holds.
func TestAllocationIsBoundedByTheFile(t *testing.T) {
	fill := make([]byte, 4<<20)
	files := map[string]raw{
		"tensor count": header(3, huge, 0).u8(fill...),
		"key count":    header(3, 0, huge).u8(fill...),
		"bytes":        header(3, 0, 1).key("k", 9).u32(0).u64(huge).u8(fill...),
		"strings":      header(3, 0, 1).key("k", 9).u32(8).u64(huge).u8(fill...),
		"strings, fit": header(3, 0, 1).key("k", 9).u32(8).u64(uint64(len(fill)) / 8).u8(fill...),
		"arrays, fit":  header(3, 0, 1).key("k", 9).u32(9).u64(uint64(len(fill)) / 12).u8(fill...),
		"arrays in each other, fit": header(3, 0, 1).key("k",
			9).u32(9).u64(uint64(len(fill)) / 12).u32(9).u64(uint64(len(fill)) / 12).
			u32(9).u64(uint64(len(fill)) / 12).u8(fill...),
		"tensors, fit":  header(3, uint64(len(fill))/25, 0).tensor("t", quant.F32, 0, 1).u8(fill...),
		"dims":          header(3, 1, 0).text("t").u32(1<<32 - 1).u8(fill...),
		"string length": header(3, 0, 1).key("k", 8).u64(huge).u8(fill...),
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := openBytes(file)
			runtime.ReadMemStats(&after)
			if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(16*len(file)); used > limit {
				t.Errorf("%d bytes were allocated for a file of %d", used, len(file))
			}
			runtime.KeepAlive(f)
			runtime.KeepAlive(err)
		})
	}
}

// A source that claims to be enormous, and answers, is left at the header limit.
func TestHeaderLimit(t *testing.T) {
	src := &endless{head: header(3, 0, 1).key("k", 8).u64(1 << 40)}
	for _, limit := range []int64{-1, 0, 4, 4 << 20, 16 << 20} {
		_, err := gguf.Open(context.Background(), src, gguf.WithMaxHeader(limit))
		if !errors.Is(err, gguf.ErrTooLarge) || src.read > max(0, limit) {
			t.Errorf("limit %d: %d bytes read, error %v", limit, src.read, err)
		}
	}
}

// endless is a source of 1 TiB: head, then zeros.
type endless struct {
	head []byte
	read int64
}

func (s *endless) Size() int64  { return 1 << 40 }
func (s *endless) Close() error { return nil }

func (s *endless) ReadAt(p []byte, off int64) (int, error) {
	s.read = max(s.read, off+int64(len(p)))
	clear(p)
	if off < int64(len(s.head)) {
		copy(p, s.head[off:])
	}
	return len(p), nil
}

// A source that breaks off says so, with its own error.
func TestSourceErrorIsKept(t *testing.T) {
	whole := fixture{keys: []any{"a", "text"}}.bytes(t)
	for _, err := range []error{errors.New("disk on fire"), nil, io.EOF} {
		_, got := gguf.Open(context.Background(),
			&failing{size: int64(len(whole)), r: bytes.NewReader(whole[:10]), err: err})
		want := err
		if err == nil || err == io.EOF {
			want = io.ErrUnexpectedEOF
		}
		if !errors.Is(got, want) {
			t.Errorf("error %v, want %v", got, want)
		}
	}
}

// failing gives what r has and then its error.
type failing struct {
	size int64
	r    io.ReaderAt
	err  error
}

func (s *failing) Size() int64  { return s.size }
func (s *failing) Close() error { return nil }

func (s *failing) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(p, off)
	if err != nil {
		err = s.err
	}
	return n, err
}
