package attention

import (
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// A browser may offer no more storage buffers than WebGPU promises, 8: attention is
// merged by the last workgroup there too, without storing the token's own key.
func TestBuffersOfMergedLast(t *testing.T) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	kit := record.NewTuned(dev, record.TuningOf(dev, wgslkit.DiscreteGPU))
	for _, typ := range []quant.Type{quant.F16, quant.Q8_0} {
		cache, err := kvcache.NewKVCache(kit, "cache",
			kvcache.CacheShape{Slots: 600, KVHeads: 1, HeadDim: 64, Type: typ})
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Release()
		for want, store := range map[int]*kvcache.StoreKV{8: nil, storingBuffers: {}} {
			o := Attention{Heads: 4, Cache: cache, Store: store}
			plan := planToken(kit, o, 1)
			v := cache.Into(tokenVariant(kit.Tuning().Attention, plan, o))
			v["MANY"] = false
			wgsl, err := Files.Shaders().Compose("attention_decode.wgsl", v)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(wgsl, "var<storage"); !plan.last || n != want {
				t.Errorf("merged last: %v, with %d buffers, want %d", plan.last, n, want)
			}
		}
	}
}
