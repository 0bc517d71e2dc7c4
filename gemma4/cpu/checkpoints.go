package cpu

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
)

// checkpoints are copies of a cache's rings, which a session goes back to where it has
// overwritten what it needs. A copy's memory is taken when it is first made, and kept.
type checkpoints struct {
	cache  *Cache
	kept   *engine.Checkpoints
	ring   int      // slots of the rings that were copied
	copies [][]rows // by slot, the keys and values of each sliding layer
}

func newCheckpoints(c *Cache, n int) *checkpoints {
	return &checkpoints{cache: c, ring: c.ring, copies: make([][]rows, n),
		kept: engine.NewCheckpoints(n, engine.Ring{Window: c.config.SlidingWindow, Slots: c.ring})}
}

// checkpointSlots is how many a session of context tokens keeps, and the bytes of each, of a
// model whose weights take so many.
func checkpointSlots(c *arch.Config, context, ring int, cache quant.Type, weights int64) (n int, bytes int64) {
	for i := range c.Blocks {
		if c.HasOwnKV(i) && c.IsSliding(i) {
			bytes += int64(ring) * CacheBytes(cache, c.KVHeads(i), c.HeadDim(i))
		}
	}
	return engine.CheckpointSlots(context, engine.Ring{Window: c.SlidingWindow, Slots: ring}, bytes, weights), bytes
}

// rings are the keys and values of the sliding layers.
func (c *checkpoints) rings(each func(i int, r *rows)) {
	i := 0
	for _, l := range c.cache.layers {
		if l != nil && l.sliding {
			each(i, &l.k)
			each(i+1, &l.v)
			i += 2
		}
	}
}

// begin is called before n more positions are computed: what follows goes on from there alone.
// Where the rings will not reach back to there, they are copied first.
func (c *checkpoints) begin(n int) {
	c.kept.Cut(c.cache.length)
	if n > c.cache.ring-c.cache.config.SlidingWindow {
		c.add(true)
	}
}

// add copies the rings, where the account wants that.
func (c *checkpoints) add(turn bool) {
	if c.ring != c.cache.ring { // they were widened
		*c = *newCheckpoints(c.cache, len(c.copies))
	}
	if !turn && !c.kept.Due(c.cache.length) {
		return
	}
	slot, ok := c.kept.Add(c.cache.length, c.cache.written, turn)
	if !ok {
		return
	}
	c.rings(func(i int, r *rows) {
		if i == len(c.copies[slot]) {
			c.copies[slot] = append(c.copies[slot], r.empty())
		}
		c.copies[slot][i].copyFrom(r)
	})
}

// back goes back to position n or as little before it as it can, and forgets what was behind.
func (c *checkpoints) back(n int) {
	defer func() { c.kept.Cut(c.cache.length) }()
	if c.cache.Truncate(n) == nil {
		return
	}
	point, to := c.kept.Back(n)
	if to == 0 || c.ring != c.cache.ring {
		_ = c.cache.Truncate(0) // which always succeeds
		return
	}
	c.rings(func(i int, r *rows) { r.copyFrom(&c.copies[point.Slot][i]) })
	c.cache.length, c.cache.written = to, point.Written
}
