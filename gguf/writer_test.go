package gguf_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
	"github.com/google/go-cmp/cmp"
)

// copyFile writes all of f anew.
func copyFile(t testing.TB, f *gguf.File) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	must(t, w.SetAll(f.Meta))
	for _, tensor := range f.Tensors {
		must(t, w.Add(gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: tensor.Dims}))
	}
	for _, tensor := range f.Tensors {
		must(t, w.Begin(tensor.Name))
		if n, err := io.Copy(w, tensor.Section()); err != nil || n != tensor.Size {
			t.Fatalf("%d of %d bytes: %v", n, tensor.Size, err)
		}
	}
	must(t, w.Close())
	return out.Bytes()
}

// A file of another writer, copied, is the same file byte for byte.
func TestCopyEqualsOriginal(t *testing.T) {
	for _, name := range []string{"f32.gguf", "e2b.gguf"} {
		t.Run(name, func(t *testing.T) {
			f := openCase(t, name)
			src, err := gguf.OpenFile(conformance.Path(t, name))
			must(t, err)
			defer src.Close()
			want := make([]byte, src.Size())
			if _, err := src.ReadAt(want, 0); err != nil {
				t.Fatal(err)
			}
			if got := copyFile(t, f); !bytes.Equal(got, want) {
				t.Errorf("the copy has %d bytes and differs, the original %d", len(got), len(want))
			}
		})
	}
}

// Random files come back as they were written, whatever the alignment.
func TestWriteReadRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		align := uint32(1) << rng.IntN(13)
		var out bytes.Buffer
		w := gguf.NewWriter(&out)
		must(t, w.Set("general.alignment", align))
		must(t, w.Set("text", strings.Repeat("x", rng.IntN(100))))
		data := map[string][]byte{}
		var names []string
		for i := range rng.IntN(10) {
			name := strings.Repeat("t", i+1)
			typ := []quant.Type{quant.F32, quant.F16, quant.Q4_K, quant.Q6_K}[rng.IntN(4)]
			dims := []uint64{256 * (1 + rng.Uint64N(3)), 1 + rng.Uint64N(5), 1 + rng.Uint64N(3)}[:1+rng.IntN(3)]
			must(t, w.Add(gguf.TensorInfo{Name: name, Type: typ, Dims: dims}))
			elements := int64(1)
			for _, d := range dims {
				elements *= int64(d)
			}
			size, err := typ.Size(elements)
			must(t, err)
			data[name] = make([]byte, size)
			for j := range data[name] {
				data[name][j] = byte(rng.Uint32())
			}
			names = append(names, name)
		}
		for _, name := range names {
			must(t, w.WriteTensor(name, data[name]))
		}
		must(t, w.Close())
		f, err := openBytes(out.Bytes())
		must(t, err)
		for _, tensor := range f.Tensors {
			got := make([]byte, tensor.Size)
			if _, err := tensor.ReadAt(got, 0); err != nil || !bytes.Equal(got, data[tensor.Name]) {
				t.Fatalf("tensor %s, alignment %d: wrong bytes, %v", tensor.Name, align, err)
			}
			if tensor.Offset%int64(align) != 0 {
				t.Errorf("tensor %s at byte %d is not aligned to %d", tensor.Name, tensor.Offset, align)
			}
		}
		if len(f.Tensors) != len(names) {
			t.Errorf("%d tensors, want %d", len(f.Tensors), len(names))
		}
		if !bytes.Equal(copyFile(t, f), out.Bytes()) {
			t.Error("written again it is another file")
		}
	}
}

func TestWriteRowsEncodes(t *testing.T) {
	values := make([]float32, 512*200) // more than a chunk
	for i := range values {
		values[i] = float32(i%97) / 64
	}
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	must(t, w.Add(gguf.TensorInfo{Name: "t", Type: quant.F16, Dims: []uint64{512, 200}}))
	must(t, w.Begin("t"))
	must(t, w.WriteRows(values[:512*3]))
	must(t, w.WriteRows(values[512*3:]))
	must(t, w.Close())
	f, err := openBytes(out.Bytes())
	must(t, err)
	got := make([]float32, len(values))
	must(t, f.Tensors[0].ReadRows(got, 0, 200))
	if diff := cmp.Diff(values, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSetReplaces(t *testing.T) {
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	must(t, w.Set("a", uint32(1)))
	must(t, w.Set("b", "x"))
	must(t, w.Set("a", "new"))
	must(t, w.Close())
	must(t, w.Close())
	f, err := openBytes(out.Bytes())
	must(t, err)
	if s, err := f.Meta.String("a"); err != nil || s != "new" || !cmp.Equal(f.Meta.Keys(), []string{"a", "b"}) {
		t.Errorf("keys %q, a is %q, %v", f.Meta.Keys(), s, err)
	}
}

func TestWriterMistakes(t *testing.T) {
	good := gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{4}}
	add := func(info gguf.TensorInfo) func(*gguf.Writer) error {
		return func(w *gguf.Writer) error { return w.Add(info) }
	}
	begun := func(then func(*gguf.Writer) error) func(*gguf.Writer) error {
		return func(w *gguf.Writer) error {
			return errors.Join(w.Add(good), w.Add(gguf.TensorInfo{Name: "u", Type: quant.Q4_K, Dims: []uint64{256}}),
				w.Begin("t"), then(w))
		}
	}
	write := func(n int) func(*gguf.Writer) error {
		return func(w *gguf.Writer) error { _, err := w.Write(make([]byte, n)); return err }
	}
	tests := map[string]func(*gguf.Writer) error{
		"empty key":          func(w *gguf.Writer) error { return w.Set("", "x") },
		"int":                func(w *gguf.Writer) error { return w.Set("k", 1) },
		"odd alignment":      func(w *gguf.Writer) error { return w.Set("general.alignment", uint32(3)) },
		"alignment as int64": func(w *gguf.Writer) error { return w.Set("general.alignment", int64(32)) },
		"no name":            add(gguf.TensorInfo{Type: quant.F32, Dims: []uint64{4}}),
		"5 dimensions":       add(gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{1, 1, 1, 1, 1}}),
		"dimension 0":        add(gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{0}}),
		"broken block":       add(gguf.TensorInfo{Name: "t", Type: quant.Q4_K, Dims: []uint64{255}}),
		"unknown type":       add(gguf.TensorInfo{Name: "t", Type: 99, Dims: []uint64{4}}),
		"overflow":           add(gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{1 << 40, 1 << 40}}),
		"twice":              func(w *gguf.Writer) error { return errors.Join(w.Add(good), w.Add(good)) },
		"not begun":          write(1),
		"rows, not begun":    func(w *gguf.Writer) error { return w.WriteRows(nil) },
		"unknown tensor":     func(w *gguf.Writer) error { return w.Begin("t") },
		"too much":           begun(write(17)),
		"too little":         begun(func(w *gguf.Writer) error { return errors.Join(write(15)(w), w.Begin("u")) }),
		"wrong order":        func(w *gguf.Writer) error { return errors.Join(w.Add(good), w.Begin("u")) },
		"not all written":    begun(func(w *gguf.Writer) error { return errors.Join(write(16)(w), w.Close()) }),
		"no whole rows":      begun(func(w *gguf.Writer) error { return w.WriteRows(make([]float32, 3)) }),
		"key too late":       begun(func(w *gguf.Writer) error { return w.Set("k", "v") }),
		"tensor too late":    begun(add(gguf.TensorInfo{Name: "v", Type: quant.F32})),
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			if err := run(gguf.NewWriter(io.Discard)); err == nil {
				t.Error("no error")
			}
		})
	}
}

type fullDisk struct{ left int }

var errFull = errors.New("disk full")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.left)
	d.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriterReportsFullDisk(t *testing.T) {
	for _, room := range []int{0, 10, 100, 130} {
		w := gguf.NewWriter(&fullDisk{left: room})
		must(t, w.Add(gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{20}}))
		err := errors.Join(w.WriteTensor("t", make([]byte, 80)), w.Close())
		if !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// A file larger than memory is written in pieces: nothing is kept.
func TestWriterStreams(t *testing.T) {
	const size = 1 << 30
	w := gguf.NewWriter(io.Discard)
	must(t, w.Add(gguf.TensorInfo{Name: "t", Type: quant.F32, Dims: []uint64{size / 4}}))
	must(t, w.Begin("t"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := w.ReadFrom(io.LimitReader(zeros{}, size))
	runtime.ReadMemStats(&after)
	must(t, errors.Join(err, w.Close()))
	if used := after.TotalAlloc - before.TotalAlloc; n != size || used > 1<<20 {
		t.Errorf("%d bytes written, %d allocated", n, used)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestOpenContextOfClosedIsKept(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("user left")
	cancel(cause)
	if _, err := gguf.Open(ctx, gguf.Memory(fixture{}.bytes(t))); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
