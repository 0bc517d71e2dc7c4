package ops_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// TestMergedLastIsEmptied asks that what the workgroups of a dispatch leave each other
// is zeros behind it, whatever number of splits was filled, and of values that are
// numbers and of such that are not.
func TestMergedLastIsEmptied(t *testing.T) {
	const heads, kvHeads, headDim, slots, width = 6, 2, 64, 600, 2
	dev := openKit(t, wgslkit.Options{}).Device()
	kit := ops.NewTuned(dev, ops.TuningOf(dev, wgslkit.DiscreteGPU))
	cache, err := kit.NewKVCache("cache", ops.CacheShape{Slots: slots, KVHeads: kvHeads, HeadDim: headDim,
		Type: quant.F16})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Release()
	words := func(n int, fill uint32) *wgslkit.Buffer {
		w := make([]uint32, n)
		for i := range w {
			w[i] = fill
		}
		b, err := kit.Words("words", wgslkit.Activations, w)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Release)
		return b
	}
	state, out := words(ops.StateWords, 0), words(width*heads*headDim, 0)
	for name, value := range map[string]uint32{"numbers": 0x3f800000, "no numbers": 0x7fc00000,
		"the mark": 0x7fa5c3d1} {
		rec := kit.Record("case", width, state)
		rec.Attention(ops.Attention{
			Label: "attention", Q: ops.Slice{Buffer: words(width*heads*headDim, value)}, Heads: heads, Cache: cache,
			Out: out,
		})
		recording, err := rec.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer recording.Release()
		for _, position := range []uint32{0, 63, 64, 130, 560, 597} {
			raw := binary.LittleEndian.AppendUint32(nil, position)
			if err := state.Write(0, binary.LittleEndian.AppendUint32(raw, width)); err != nil {
				t.Fatal(err)
			}
			if err := recording.Submit(width); err != nil {
				t.Fatal(err)
			}
			checkEmpty(t, recording, name, position)
		}
	}
}

func checkEmpty(t *testing.T, recording *ops.Recording, name string, position uint32) {
	t.Helper()
	found := false
	for key, b := range recording.Scratch() {
		if !strings.HasPrefix(key, "attention partials merged last/") {
			continue
		}
		found = true
		raw, err := b.Read(0, b.Size())
		if err != nil {
			t.Fatal(err)
		}
		if left := len(bytes.Trim(raw, "\x00")); left > 0 {
			t.Errorf("%s, position %d: %d of %d bytes are left", name, position, left, len(raw))
		}
	}
	if !found {
		t.Fatal("nothing is merged by the last workgroup")
	}
}
