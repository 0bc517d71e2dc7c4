package arch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// checkOpen opens a file that may say anything: the result is towers whose sizes
// agree with their tensors, or an error that a caller can tell.
func checkOpen(t *testing.T, file *gguf.File) {
	t.Helper()
	towers, err := Open(file, 0)
	if err != nil {
		checkError(t, err)
		return
	}
	var linears []*Linear
	if v := towers.Vision; v != nil {
		if v.HeadDim()*v.Heads != v.Width || v.HeadDim()%4 != 0 || v.Pool < 1 ||
			v.PatchEmbd.Elements() != v.PatchValues()*v.Width {
			t.Errorf("%+v", v)
		}
		for i := range v.Layers {
			linears = append(linears, &v.Layers[i].Q, &v.Layers[i].Down)
		}
		linears = append(linears, &v.Projection)
	}
	if a := towers.Audio; a != nil {
		if a.HeadDim()*a.Heads != a.Width || a.Width%2 != 0 || a.Kernel < 1 ||
			a.Projection.Weight.Elements() != a.OutputWidth*a.EmbeddingLength {
			t.Errorf("%+v", a)
		}
		linears = append(linears, &a.Output, &a.Projection)
	}
	if p := towers.Patches; p != nil {
		if p.Side < 1 || p.PatchEmbd.Weight.Elements() != p.PatchValues()*p.Width {
			t.Errorf("%+v", p)
		}
		linears = append(linears, &p.PatchEmbd, &p.Projection)
	}
	if f := towers.Frames; f != nil {
		linears = append(linears, &f.Projection)
	}
	for _, l := range linears {
		if _, err := l.Clamp(context.Background()); err != nil {
			checkError(t, err)
		}
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	known := []error{ErrConfig, ErrMissingTensor, ErrShape, gguf.ErrMissingKey, gguf.ErrWrongType, quant.ErrUnsupported}
	if !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		t.Errorf("an error that nobody can tell: %v", err)
	}
}

// FuzzMetadata puts other values under one or two keys of a good file.
func FuzzMetadata(f *testing.F) {
	f.Add(false, uint8(1), uint8(0), int64(4), uint8(1), uint8(0), int64(4))
	f.Add(false, uint8(2), uint8(0), int64(1<<24), uint8(3), uint8(0), int64(1<<22))
	f.Add(false, uint8(7), uint8(0), int64(1<<32), uint8(5), uint8(2), int64(-1))
	f.Add(true, uint8(3), uint8(4), int64(0), uint8(6), uint8(3), int64(0))
	f.Add(true, uint8(14), uint8(0), int64(1<<24), uint8(15), uint8(1), int64(5))
	f.Fuzz(func(t *testing.T, llama bool, key1, form1 uint8, value1 int64, key2, form2 uint8, value2 int64) {
		d := small()
		if llama {
			d = mmproj()
		}
		d.values[d.keys[int(key1)%len(d.keys)]] = formOf(form1, value1)
		d.values[d.keys[int(key2)%len(d.keys)]] = formOf(form2, value2)
		checkOpen(t, d.file(t))
	})
}

// formOf stores a number in one of the ways that a file may.
func formOf(form uint8, v int64) any {
	switch form % 6 {
	case 0:
		return uint64(v)
	case 1:
		return int32(v)
	case 2:
		return []int64{v, v + 1}
	case 3:
		return float32(v)
	case 4:
		return v&1 != 0
	}
	return "text"
}

// FuzzHeader changes the bytes of whole headers; the weights are zeros behind.
func FuzzHeader(f *testing.F) {
	for _, d := range []*draft{small(), mmproj(), small().fill("v.clamp_data", packed(60)...)} {
		f.Add(bytes.TrimRight(d.bytes(f), "\x00"))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		padded := append(slices.Clone(header), make([]byte, 32<<10)...)
		if file, err := gguf.Open(context.Background(), gguf.Memory(padded)); err == nil {
			checkOpen(t, file)
		}
	})
}
