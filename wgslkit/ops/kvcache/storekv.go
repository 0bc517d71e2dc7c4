package kvcache

import (
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
)

// StoreKV puts the keys and values of the program's tokens into a cache:
// k ← rope(rms(k; KNorm)), v ← rms(v), or v as it is, each head by itself.
type StoreKV struct {
	Label string
	K, V  record.Slice    // rows of KVHeads·HeadDim; V may be K where a model has no v of its own
	KNorm *wgslkit.Buffer // [HeadDim], nil for no weight
	// PlainV leaves out the norm of v.
	PlainV bool
	Eps    float32
	Rope   *rope.Rope // nil for no rotation
	Cache  *KVCache
	// Rows says that each token is of another of the texts in Cache: the program's state has
	// their places (record.StateRows).
	Rows bool
}

type storeKVParams struct {
	Heads, FirstHead, Slots, Rotated   uint32
	KOffset, KStride, VOffset, VStride uint32
	Eps                                float32
	Weighted, HeadDim, PlainV          uint32
}

// Record records the op.
func (o StoreKV) Record(r *record.Recorder) {
	c := o.Cache
	row := c.KVHeads * c.HeadDim
	for _, p := range c.Parts {
		params := storeKVParams{
			uint32(p.Heads), uint32(p.First), uint32(c.Slots), uint32(o.Rope.Dim()),
			uint32(o.K.Offset), o.K.StrideOr(row), uint32(o.V.Offset), o.V.StrideOr(row),
			o.Eps, record.Flag(o.KNorm != nil), uint32(c.HeadDim), record.Flag(o.PlainV),
		}
		file, v := "store_kv.wgsl", r.RowVariant(wgslkit.Variant{"HEAD_DIM": c.HeadDim})
		if r.Tuning().Smallest() {
			file, v = "store_kv_small.wgsl", nil
		}
		v = c.Into(v)
		if o.Rows {
			v["APART"] = true
		}
		r.Dispatch(Files, file, v, wgslkit.Call{
			Label: o.Label,
			Bind: []wgslkit.Binding{
				r.State().All(), o.K.Buffer.All(), o.V.Buffer.All(), record.OrBuffer(o.KNorm, o.K.Buffer).All(),
				o.Rope.Binding(o.K.Buffer), p.Keys.All(), p.Values.All(),
			},
			Params: params,
			Grid:   wgslkit.Grid{X: uint32(p.Heads), Y: 1, Z: 2, Tile: 1, Along: wgslkit.AlongY},
		})
	}
}
