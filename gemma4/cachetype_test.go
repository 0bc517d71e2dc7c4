package gemma4_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

// A session with a cache in 8 bits is saved and goes on from there, as one in f16
// does, and neither takes the other's.
func TestSavedQ8Sessions(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		c := readNanoCases(t)[1] // longer than the window
		saved := map[gemma4.CacheType][]byte{}
		models := map[gemma4.CacheType]*gemma4.Model{}
		for _, typ := range []gemma4.CacheType{gemma4.CacheF16, gemma4.CacheQ8} {
			opts.KVCache = typ
			m := open(t, nanoPath, opts)
			if got := m.Info().KVCache; got != typ {
				t.Errorf("a model opened with %s says it has %s", typ, got)
			}
			s := newSession(t, m, 0)
			greedy(t, s, c.IDs, 4)
			var file bytes.Buffer
			if err := s.Save(&file); err != nil {
				t.Fatal(err)
			}
			saved[typ], models[typ] = file.Bytes(), m
		}
		if f16, q8 := len(saved[gemma4.CacheF16]), len(saved[gemma4.CacheQ8]); q8 >= f16*3/5 {
			t.Errorf("saved in 8 bits, a session takes %d bytes, and %d otherwise", q8, f16)
		}
		for typ, m := range models {
			s := newSession(t, m, 0)
			if err := s.Restore(bytes.NewReader(saved[typ])); err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := s.Save(&again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Bytes(), saved[typ]) {
				t.Errorf("%s: a restored session is saved as other bytes", typ)
			}
			text := slices.Concat(c.IDs, c.Greedy[:4])
			if got := greedy(t, s, text, len(c.Greedy)-4); !equal(got, c.Greedy[4:]) {
				t.Errorf("%s: after a restore: %v, want %v", typ, got, c.Greedy[4:])
			}
			for other, raw := range saved {
				if other == typ {
					continue
				}
				err := s.Restore(bytes.NewReader(raw))
				if !errors.Is(err, gemma4.ErrSavedSession) ||
					!strings.Contains(err.Error(), "open the model with "+string(other)) || s.Len() != 0 {
					t.Errorf("restoring %s into %s: %v, with %d tokens left", other, typ, err, s.Len())
				}
			}
			damaged(t, s, saved[typ])
		}
	})
}

// A plan's cache is what a session allocates.
func TestCachesArePlanned(t *testing.T) {
	for _, typ := range []gemma4.CacheType{"", gemma4.CacheF16, gemma4.CacheQ8} {
		opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 777, KVCache: typ}
		m := open(t, nanoPath, opts)
		newSession(t, m, 0)
		plan := m.Info().Plan
		if got := m.GPUMemory()[wgslkit.Cache]; got != plan.Cache {
			t.Errorf("%q: %d bytes are allocated and %d planned", typ, got, plan.Cache)
		}
		source, err := gguf.OpenFile(nanoPath)
		if err != nil {
			t.Fatal(err)
		}
		file, err := gguf.Open(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		ahead, err := gemma4.PlanFor(file, opts)
		if err != nil || ahead.Cache != plan.Cache || ahead.KVCache != plan.KVCache ||
			ahead.KVCache != m.Info().KVCache {
			t.Errorf("%q: from the header alone %+v, %v", typ, ahead, err)
		}
	}
}

func TestUnknownCacheType(t *testing.T) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		source, err := gguf.OpenFile(nanoPath)
		if err != nil {
			t.Fatal(err)
		}
		_, err = gemma4.Open(context.Background(), source, gemma4.OpenOptions{Device: device, KVCache: "q4"})
		if !errors.Is(err, gemma4.ErrUnsupported) || !strings.Contains(err.Error(), "say f16 or q8") {
			t.Errorf("on the %s: %v", device, err)
		}
	}
}
