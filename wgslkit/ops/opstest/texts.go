package opstest

import (
	"context"
	"encoding/binary"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
)

// text is one of those in a cache that holds several, and its tokens in a program: one token,
// where each is of another text.
type text struct {
	stream, position, tokens int
	keys, values             history // what the cache holds of it
}

// mostTexts is how many texts a case's program has rows of, at most.
const mostTexts = 64

// spareStreams are those of a case's cache that no text is in: they come first and are
// zeros, so that a row of the wrong text is wrong.
const spareStreams = 2

// textsOf are the texts of a program of so many tokens from a position on: a single one, or,
// apart, one for each token, which stand at other positions down to the first.
func textsOf(position, tokens int, apart bool) []text {
	if !apart {
		return []text{{stream: spareStreams, position: position, tokens: tokens}}
	}
	texts := make([]text, tokens)
	for t := range texts {
		// In another order than the rows'.
		stream := spareStreams + (t+tokens/2)%tokens
		texts[t] = text{stream: stream, position: position * (t + 1) / tokens, tokens: 1}
	}
	return texts
}

// streamsOf is how many texts a cache has for them, 0 for a cache of one.
func streamsOf(tokens int, streams, apart bool) int {
	switch {
	case apart:
		return spareStreams + tokens
	case streams:
		return spareStreams + 1
	}
	return 0
}

// placeTexts tells a program's state where the rig's texts are.
func (r *rig) placeTexts(raw []byte) {
	put := func(word, value int) { binary.LittleEndian.PutUint32(raw[4*word:], uint32(value)) }
	for t, at := range r.texts {
		put(ops.StateRows+2*t, at.position)
		put(ops.StateRows+2*t+1, at.stream)
		if len(r.texts) == 1 { // also as a program of one text has it
			put(ops.StateStream, at.stream)
		}
		put(ops.StateStreams, len(r.texts)+spareStreams)
	}
}

// single is an empty cache of one text, as each of c's.
func (r *rig) single(c *ops.KVCache) *ops.KVCache {
	shape := c.CacheShape
	shape.Streams = 0
	return r.cache(shape)
}

// fillTexts fills each of the texts as fill does, by way of a cache of one text.
func (r *rig) fillTexts(ctx context.Context, c *ops.KVCache, texts []text) {
	if c.Streams == 0 {
		at := &texts[0]
		at.keys, at.values = r.fill(ctx, c, at.position+at.tokens)
		return
	}
	one := r.single(c)
	for t := range texts {
		at := &texts[t]
		at.keys, at.values = r.fill(ctx, one, at.position+at.tokens)
		r.copyText(one, c, at.stream, true)
	}
}

// textIn is a cache of one text that holds what c has of a text.
func (r *rig) textIn(c *ops.KVCache, stream int) *ops.KVCache {
	if c.Streams == 0 {
		return c
	}
	one := r.single(c)
	r.copyText(one, c, stream, false)
	return one
}

// copyText brings a text from a cache of one into a stream of c, or back.
func (r *rig) copyText(one, c *ops.KVCache, stream int, in bool) {
	if r.err != nil {
		return
	}
	p := r.kit.Device().NewProgram("copy of a text")
	move := func(one, of *wgslkit.Buffer, at, stands, size int64) {
		if in {
			p.Copy(one, of, at, stands, size)
		} else {
			p.Copy(of, one, stands, at, size)
		}
	}
	for head := range c.KVHeads {
		from, local := partOf(one, head)
		to, place := partOf(c, head)
		at, size := one.Stream(local, 0)
		stands, _ := c.Stream(place, stream)
		move(from.Keys, to.Keys, at, stands, size)
		move(from.Values, to.Values, at, stands, size)
	}
	r.keep(p.Finish())
	defer p.Release()
	if r.err == nil {
		r.keep(p.Submit(1))
		r.keep(r.kit.Device().Wait())
	}
}

// partOf is the part of a cache that a kv head is in, and which of its heads that is.
func partOf(c *ops.KVCache, head int) (kvcache.CachePart, int) {
	for _, p := range c.Parts {
		if head < p.First+p.Heads {
			return p, head - p.First
		}
	}
	return kvcache.CachePart{}, 0
}
