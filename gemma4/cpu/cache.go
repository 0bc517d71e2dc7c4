package cpu

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
)

// ErrTruncate says that the cache no longer holds what an earlier length needs.
var ErrTruncate = errors.New("cannot go back that far")

// Cache holds the keys and values of the positions that went through a model, as
// Options.CacheType says. Global layers keep all of them; sliding layers keep those that the
// window reaches and, so that a batch can be written at once and taken back, as
// many more as a batch has. Memory grows with the positions in use.
//
// A Cache belongs to the Model that made it, and to one goroutine at a time.
type Cache struct {
	config  *arch.Config
	context int  // positions there may be
	length  int  // positions there are
	written int  // the most there were since sliding layers last held all of them
	ring    int  // positions that a sliding layer keeps
	slides  bool // whether there are sliding layers
	layers  []*layerCache
}

// layerCache is the keys and values of one layer, rotated and normed: position
// p lies at slot p mod limit, of which so many exist as were needed.
type layerCache struct {
	dim     int // Hk·D
	limit   int
	sliding bool
	k, v    rows
}

// NewCache returns an empty cache for a context of so many tokens; 0 means as
// many as the model was made for, which is also the most there may be.
func (m *Model) NewCache(context int) (*Cache, error) {
	if context == 0 {
		context = m.config.ContextLength
	}
	if context < 0 || context > m.config.ContextLength {
		return nil, fmt.Errorf("a context of %d tokens: the model was made for 1 to %d: %w", context,
			m.config.ContextLength, ErrInput)
	}
	c := &Cache{config: m.config, context: context, ring: min(context, m.config.SlidingWindow+m.batch)}
	c.layers = make([]*layerCache, m.config.Blocks)
	for i := range c.layers {
		if !m.config.HasOwnKV(i) {
			continue
		}
		limit, sliding := context, m.config.IsSliding(i)
		if sliding {
			limit, c.slides = c.ring, true
		}
		empty := rows{typ: m.cacheType, heads: m.config.KVHeads(i), headDim: m.config.HeadDim(i)}
		c.layers[i] = &layerCache{dim: m.config.KVDim(i), limit: limit, sliding: sliding, k: empty, v: empty}
	}
	return c, nil
}

// Len is the number of positions in the cache.
func (c *Cache) Len() int { return c.length }

// Context is the number of positions there may be.
func (c *Cache) Context() int { return c.context }

// Bytes is the memory in use for keys and values.
func (c *Cache) Bytes() int64 {
	var n int64
	for _, l := range c.layers {
		if l != nil {
			n += l.k.bytes() + l.v.bytes()
		}
	}
	return n
}

// Clone returns a copy that shares nothing with c.
func (c *Cache) Clone() *Cache {
	clone := *c
	clone.layers = make([]*layerCache, len(c.layers))
	for i, l := range c.layers {
		if l != nil {
			copied := *l
			copied.k, copied.v = l.k.clone(), l.v.clone()
			clone.layers[i] = &copied
		}
	}
	return &clone
}

// oldest is the first position that every layer still holds.
func (c *Cache) oldest() int {
	if !c.slides {
		return 0
	}
	return max(0, c.written-c.ring)
}

// CanTruncate says whether Truncate(n) would succeed.
func (c *Cache) CanTruncate(n int) bool {
	return n == 0 || n > 0 && n <= c.length && max(0, n-c.config.SlidingWindow+1) >= c.oldest()
}

// Truncate forgets all positions but the first n. Going back to 0 always
// succeeds; otherwise, an error wrapping ErrTruncate says that sliding layers
// have already overwritten keys that position n would see.
func (c *Cache) Truncate(n int) error {
	if n < 0 || n > c.length {
		return fmt.Errorf("truncating %d positions to %d: %w", c.length, n, ErrInput)
	}
	if !c.CanTruncate(n) {
		return fmt.Errorf("truncating %d positions to %d: the sliding layers hold positions from %d on: clear the "+
			"cache and run the tokens again: %w",
			c.length, n, c.oldest(), ErrTruncate)
	}
	c.length = n
	if n == 0 {
		c.written = 0
	}
	return nil
}

// reserve makes room for n more positions, which may be more than a batch: the
// ring must hold all that the first of them sees until the last one is written.
func (c *Cache) reserve(n int) {
	if wanted := min(c.context, c.config.SlidingWindow+n); wanted > c.ring {
		c.widen(wanted)
	}
	c.written = max(c.written, c.length+n)
	for _, l := range c.layers {
		if l != nil {
			l.grow(c.length + n)
		}
	}
}

// widen moves the sliding layers' positions into larger rings.
func (c *Cache) widen(ring int) {
	first := c.oldest()
	for _, l := range c.layers {
		if l == nil || !l.sliding {
			continue
		}
		k, v := l.take(first, c.length)
		l.limit, l.k, l.v = ring, l.k.empty(), l.v.empty()
		l.grow(c.length)
		l.put(first, k, v)
	}
	// Positions before first are not in the larger ring either: written stays so
	// far ahead that oldest is still first.
	c.ring, c.written = ring, first+ring
	if first == 0 {
		c.written = c.length
	}
}

func (l *layerCache) slot(position int) int { return position % l.limit }

// run is how many of the positions j … end − 1 lie side by side from j's slot on.
func (l *layerCache) run(j, end int) int { return min(end-j, l.limit-l.slot(j)) }

// grow makes slots for positions before end, doubling so that memory is not
// moved for each.
func (l *layerCache) grow(end int) {
	wanted, slots := min(end, l.limit), l.k.slots()
	if wanted <= slots {
		return
	}
	slots = min(max(wanted, 2*slots), l.limit)
	l.k.grow(slots)
	l.v.grow(slots)
}

// put writes keys and values, [positions, dim], from a position on.
func (l *layerCache) put(first int, k, v []float32) {
	for i := 0; i*l.dim < len(k); i++ {
		slot := l.slot(first + i)
		l.k.put(slot, k[i*l.dim:(i+1)*l.dim])
		l.v.put(slot, v[i*l.dim:(i+1)*l.dim])
	}
}

// take copies the keys and values of positions first ≤ j < end.
func (l *layerCache) take(first, end int) (k, v []float32) {
	for j := first; j < end; j++ {
		k, v = l.k.take(k, l.slot(j)), l.v.take(v, l.slot(j))
	}
	return k, v
}
