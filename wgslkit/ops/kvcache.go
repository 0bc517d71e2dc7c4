package ops

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// KVCache holds the keys and values of one layer in f16, for Slots positions:
// position p lies in slot p mod Slots, so a sliding layer's cache is a ring.
type KVCache struct {
	Slots, KVHeads, HeadDim int

	kit   *Kit
	parts []cachePart
}

// cachePart is the keys and values of neighbouring kv heads that fit one binding each.
type cachePart struct {
	keys, values *wgslkit.Buffer
	first, heads int
}

// NewKVCache makes an empty cache. slots is at least the context of a global
// layer, and at least window + width − 1 of a sliding one, where width is the
// most tokens of a program that writes it. It fails with ErrLimit where one
// head's keys are larger than a binding.
func (k *Kit) NewKVCache(label string, slots, kvHeads, headDim int) (*KVCache, error) {
	return nil, errors.New("not yet")
}

// CacheBytes is the GPU size of a cache, for plans made before it exists.
func CacheBytes(slots, kvHeads, headDim int) int64 { return 0 }

// Bytes is the cache's size on the GPU.
func (c *KVCache) Bytes() int64 { return 0 }

// PositionBytes is the size of one position in the layout of Read and Write.
func (c *KVCache) PositionBytes() int { return 2 * 2 * c.KVHeads * c.HeadDim }

// Read returns positions from to from+n−1, each PositionBytes: keys
// [KVHeads, HeadDim] then values [KVHeads, HeadDim], in f16, little endian.
func (c *KVCache) Read(ctx context.Context, from, n int) ([]byte, error) {
	return nil, errors.New("not yet")
}

// Write stores positions from on, in the layout of Read.
func (c *KVCache) Write(ctx context.Context, from int, data []byte) error {
	return errors.New("not yet")
}

// Release frees the cache. Releasing twice, or a nil cache, does nothing.
func (c *KVCache) Release() {}
