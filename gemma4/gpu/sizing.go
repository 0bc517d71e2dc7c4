package gpu

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// sizing is how large a session's caches and programs are.
type sizing struct {
	context int        // tokens a session holds
	cache   quant.Type // of keys and values
	chunk   int        // prompt tokens computed together
	streams int        // texts that the caches hold; 0 for one
	rows    int        // positions whose logits are computed together when all are wanted
}

func newSizing(c *arch.Config, context int, cache quant.Type, kit *ops.Kit) sizing {
	s := sizing{context: context, cache: cache, chunk: 512}
	limits := kit.Device().Limits()
	if kit.Device().Info().Kind == wgslkit.CPU {
		s.chunk = 128
	}
	s.chunk = min(s.chunk, context)
	s.chunk = max(min(s.chunk, int(limits.MaxStorageBindingSize/int64(4*widestRow(c)))), 1)
	const logitBytes = 64 << 20
	s.rows = max(min(s.chunk, 64, logitBytes/(4*max(c.Vocab, 1))), 1)
	return s
}

// leastChunk is as small as chunks become for want of memory: what they work in is a
// small part of a model then, and products of fewer tokens take hardly less time.
const leastChunk = 64

// inChunks is s with at most n tokens of a prompt computed together.
func (s sizing) inChunks(n int) sizing {
	s.chunk = min(s.chunk, n)
	s.rows = min(s.rows, s.chunk)
	return s
}

// widestRow is the float32 values of a token in the largest buffer of a chunk.
func widestRow(c *arch.Config) int {
	s := sizesOf(c)
	return max(s.ff, s.perLayer, s.qkv, s.expertHidden, 1)
}

// slots is how many positions layer i's cache holds: all of the context, or,
// for a sliding layer, the window with a chunk's new positions beside it, which
// is what the attention over a ring wants even where the context is shorter.
func (s sizing) slots(c *arch.Config, i int) int {
	if !c.IsSliding(i) {
		return s.context
	}
	return c.SlidingWindow + s.chunk
}

// cacheShape is layer i's cache, where it owns one.
func (s sizing) cacheShape(c *arch.Config, i int) ops.CacheShape {
	return ops.CacheShape{Slots: s.slots(c, i), KVHeads: c.KVHeads(i), HeadDim: c.HeadDim(i), Type: s.cache,
		Streams: s.streams}
}
