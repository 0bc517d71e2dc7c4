package ops

import (
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

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

// StoreKV records the op.
func (r *Recorder) StoreKV(o StoreKV) { r.fail(o.Label, errors.New("not yet")) }
