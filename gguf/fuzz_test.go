package gguf_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gemwire/gemwire/gguf"
)

// FuzzOpen: whatever the bytes, opening ends in a FormatError or in a file that
// can be shown, read and, if it holds nothing that cannot be decoded, written again.
func FuzzOpen(f *testing.F) {
	for _, h := range hostile {
		f.Add([]byte(h.file))
	}
	f.Add(fixture{keys: []any{"general.architecture", "gemma4", "n", []any{[]int16{-1}}},
		tensors: []string{"t"}}.bytes(f))
	f.Add([]byte(realHeader(3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := openBytes(b)
		if err != nil {
			checkFuzzError(t, err, len(b))
			return
		}
		for _, key := range file.Meta.Keys() {
			v, _ := file.Meta.Lookup(key)
			_ = v.String()
		}
		var out bytes.Buffer
		w := gguf.NewWriter(&out)
		if err := w.SetAll(file.Meta); err != nil {
			t.Fatal(err)
		}
		for _, tensor := range file.Tensors {
			readFuzzTensor(t, tensor)
			if err := w.Add(gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: tensor.Dims}); err != nil &&
				tensor.Type.Supported() {
				t.Fatal(err)
			}
		}
	})
}

func checkFuzzError(t *testing.T, err error, size int) {
	var format *gguf.FormatError
	if errors.Is(err, gguf.ErrParts) {
		return
	}
	if !errors.As(err, &format) {
		t.Fatalf("not a FormatError: %v", err)
	}
	if format.Offset < 0 || format.Offset > int64(size) || format.Where == "" {
		t.Fatalf("error without its place: %v", err)
	}
}

func readFuzzTensor(t *testing.T, tensor *gguf.Tensor) {
	raw := make([]byte, tensor.Size)
	if _, err := tensor.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	if !tensor.Type.Supported() {
		return
	}
	row := make([]float32, tensor.RowLen())
	if err := tensor.ReadRows(row, tensor.Rows()-1, 1); err != nil {
		t.Fatal(err)
	}
}

// FuzzValue: a metadata value that is read is written as the same bytes, and
// its getters agree with what Any returns.
func FuzzValue(f *testing.F) {
	for _, g := range goldenValues {
		file := fixture{keys: []any{"k", g.want}}.bytes(f)
		f.Add(file[33:])
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		b := append(header(3, 0, 1).text("k"), value...)
		file, err := openBytes(b)
		if err != nil {
			checkFuzzError(t, err, len(b))
			return
		}
		v, _ := file.Meta.Lookup("k")
		var out bytes.Buffer
		w := gguf.NewWriter(&out)
		if err := errors.Join(w.Set("k", v.Any()), w.Close()); err != nil {
			t.Fatal(err)
		}
		written := bytes.TrimRight(out.Bytes(), "\x00")
		if !bytes.HasPrefix(b, written) {
			t.Fatalf("read % x\nwrote % x", b, written)
		}
		if texts, err := file.Meta.Strings("k"); err == nil && len(texts) != v.Len() {
			t.Fatalf("%d strings of %d", len(texts), v.Len())
		}
	})
}
