package ops_test

import (
	"errors"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// A cache of several heads that no binding holds together is bound head by head.
func TestCacheInParts(t *testing.T) {
	for _, test := range []struct {
		name    string
		binding int64
	}{
		{"Attention few cores/odd heads", 14 << 10},
		{"Attention many cores/odd heads", 14 << 10},
		{"Attention few cores/wide sliding", 300 << 10},
		{"Attention few cores/prompt odd heads", 20 << 10},
		{"Attention many cores/prompt odd heads", 20 << 10},
		{"StoreKV odd", 2 << 10},
		{"KVCache 2x40_131060+31of31", 10 << 10},
	} {
		kit := openKit(t, wgslkit.Options{MaxBindingSize: test.binding})
		found := false
		runCases(t, kit, func(c opstest.Case) bool {
			wanted := c.Op+" "+c.Name == test.name
			found = found || wanted
			return wanted
		})
		if !found {
			t.Errorf("no case is called %q", test.name)
		}
	}
}

func TestCacheRefusals(t *testing.T) {
	kit := openKit(t, wgslkit.Options{MaxBindingSize: 1 << 20})
	for _, test := range []struct {
		name                    string
		slots, kvHeads, headDim int
		want                    error
	}{
		{"one head over a binding", 1<<20/(2*64) + 1, 1, 64, wgslkit.ErrLimit},
		{"no positions", 0, 1, 64, wgslkit.ErrValidation},
		{"no heads", 10, 0, 64, wgslkit.ErrValidation},
		{"odd head dimension", 10, 1, 63, wgslkit.ErrValidation},
		{"long head dimension", 10, 1, 514, wgslkit.ErrLimit},
		{"positions beyond counting", 1 << 40, 1, 64, wgslkit.ErrValidation},
	} {
		c, err := kit.NewKVCache(test.name, ops.CacheShape{Slots: test.slots, KVHeads: test.kvHeads,
			HeadDim: test.headDim, Type: quant.F16})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		c.Release()
	}
}

func TestAttentionRefusals(t *testing.T) {
	kit := openKit(t, wgslkit.Options{MaxBindingSize: 1 << 20})
	state, err := kit.Words("state", wgslkit.Activations, make([]uint32, ops.StateWords))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Release()
	cache, err := kit.NewKVCache("cache", ops.CacheShape{Slots: 20, KVHeads: 2, HeadDim: 64, Type: quant.F16})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Release()
	x := ops.All(state)
	for name, o := range map[string]ops.Attention{
		"heads that the kv heads do not divide":         {Q: x, Heads: 3, Cache: cache, Out: state},
		"a ring too small for the window and the width": {Q: x, Heads: 2, Cache: cache, Window: 16, Out: state},
	} {
		r := kit.Record(name, 6, state)
		r.Attention(o)
		if _, err := r.Finish(); !errors.Is(err, wgslkit.ErrValidation) {
			t.Errorf("%s: error %v, want ErrValidation", name, err)
		}
	}
}
