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

// checkOpen opens a file that may say anything: the result is a model whose every
// question has an answer, or an error that a caller can tell.
func checkOpen(t *testing.T, file *gguf.File) {
	t.Helper()
	m, err := Open(file)
	if err != nil {
		known := []error{ErrArchitecture, ErrConfig, ErrMissingTensor, ErrShape, gguf.ErrMissingKey, gguf.ErrWrongType,
			quant.ErrUnsupported}
		if !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
			t.Errorf("an error that nobody can tell: %v", err)
		}
		return
	}
	c := m.Config
	for i := range c.Blocks {
		donor := c.KVDonor(i)
		if donor > i || !c.HasOwnKV(donor) || c.IsSliding(donor) != c.IsSliding(i) || c.KVDim(donor) != c.KVDim(i) ||
			c.Heads%c.KVHeads(i) != 0 {
			t.Errorf("layer %d reads the cache of layer %d", i, donor)
		}
	}
	describe(c)
}

// FuzzMetadata puts other values under one or two keys of a good file.
func FuzzMetadata(f *testing.F) {
	f.Add(false, uint8(1), uint8(0), int64(4), uint8(1), uint8(0), int64(4))
	f.Add(false, uint8(1), uint8(0), int64(1<<32), uint8(5), uint8(2), int64(-1))
	f.Add(false, uint8(13), uint8(0), int64(4), uint8(6), uint8(3), int64(0))
	f.Add(false, uint8(12), uint8(4), int64(1), uint8(11), uint8(5), int64(3))
	f.Add(true, uint8(19), uint8(0), int64(1<<24), uint8(20), uint8(1), int64(5))
	f.Add(true, uint8(10), uint8(6), int64(0), uint8(14), uint8(6), int64(-1))
	f.Fuzz(func(t *testing.T, experts bool, key1, form1 uint8, value1 int64, key2, form2 uint8, value2 int64) {
		d := small()
		if experts {
			d = mixture()
		}
		for _, change := range []struct {
			key, form uint8
			value     int64
		}{{key1, form1, value1}, {key2, form2, value2}} {
			d.values[d.keys[int(change.key)%len(d.keys)]] = formOf(change.form, change.value)
		}
		checkOpen(t, d.file(t))
	})
}

// formOf stores a number in one of the ways that a file may.
func formOf(form uint8, v int64) any {
	n := int(form/8)%7 + 1 // the length of an array
	switch form % 8 {
	case 0:
		return uint64(v)
	case 1:
		return int32(v)
	case 2:
		return slices.Repeat([]int64{v}, n)
	case 3:
		return append(slices.Repeat([]uint8{uint8(v >> 8)}, n), uint8(v))
	case 4:
		return slices.Repeat([]bool{v&1 != 0, v&2 != 0}, n)
	case 5:
		return v&1 != 0
	case 6:
		return float32(v)
	}
	return "text"
}

// FuzzHeader changes the bytes of whole headers; the weights are zeros behind.
func FuzzHeader(f *testing.F) {
	for _, d := range []*draft{small(), mixture()} {
		f.Add(bytes.TrimRight(d.bytes(f), "\x00"))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		padded := append(slices.Clone(header), make([]byte, 32<<10)...)
		if file, err := gguf.Open(context.Background(), gguf.Memory(padded)); err == nil {
			checkOpen(t, file)
		}
	})
}

func openBytes(t testing.TB, raw []byte) *gguf.File {
	t.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(raw))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// FuzzAssistant changes the bytes of an assistant's header.
func FuzzAssistant(f *testing.F) {
	target := smallTarget(f)
	f.Add(bytes.TrimRight(smallAssistant(AssistantName).bytes(f), "\x00"))
	f.Fuzz(func(t *testing.T, header []byte) {
		padded := append(slices.Clone(header), make([]byte, 32<<10)...)
		file, err := gguf.Open(context.Background(), gguf.Memory(padded))
		if err != nil {
			return
		}
		a, err := OpenAssistant(file, target)
		if err != nil {
			return
		}
		for i := range a.Decoder.Config.Blocks {
			donor := a.Decoder.Config.KVDonor(i)
			if !target.Config.HasOwnKV(donor) || a.Decoder.Config.KVDim(i) != target.Config.KVDim(donor) {
				t.Errorf("layer %d reads the cache of layer %d", i, donor)
			}
		}
	})
}
