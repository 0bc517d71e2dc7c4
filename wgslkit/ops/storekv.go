package ops

import "github.com/gemwire/gemwire/wgslkit"

// StoreKV puts the keys and values of the program's tokens into a cache:
// k ← rope(rms(k; KNorm)), v ← rms(v), each head by itself.
type StoreKV struct {
	Label string
	K, V  Slice           // rows of KVHeads·HeadDim; V may be K where a model has no v of its own
	KNorm *wgslkit.Buffer // [HeadDim], nil for no weight
	Eps   float32
	Rope  *Rope // nil for no rotation
	Cache *KVCache
}

type storeKVParams struct {
	Heads, FirstHead, Slots, Rotated   uint32
	KOffset, KStride, VOffset, VStride uint32
	Eps                                float32
	Weighted, HeadDim                  uint32
}

// StoreKV records the op.
func (r *Recorder) StoreKV(o StoreKV) {
	c := o.Cache
	row := c.KVHeads * c.HeadDim
	for _, p := range c.parts {
		params := storeKVParams{
			uint32(p.heads), uint32(p.first), uint32(c.Slots), uint32(o.Rope.Dim()),
			uint32(o.K.Offset), o.K.stride(row), uint32(o.V.Offset), o.V.stride(row),
			o.Eps, flag(o.KNorm != nil), uint32(c.HeadDim),
		}
		file, v := "store_kv.wgsl", r.rowVariant(wgslkit.Variant{"HEAD_DIM": c.HeadDim})
		if r.kit.tuning.smallest() {
			file, v = "store_kv_small.wgsl", nil
		}
		r.dispatch(file, c.into(v), wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.state.All(), o.K.Buffer.All(), o.V.Buffer.All(), orBuffer(o.KNorm, o.K.Buffer).All(),
				o.Rope.binding(o.K.Buffer), p.keys.All(), p.values.All(),
			},
			Params: params,
			Grid:   wgslkit.Grid{X: uint32(p.heads), Y: 1, Z: 2, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}

// flag is a truth as kernels read it.
func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
