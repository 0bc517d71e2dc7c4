package arch

import (
	"fmt"
	"slices"
)

// layerConfig is what is known of one layer.
type layerConfig struct {
	sliding     bool
	headDim     int
	kvHeads     int
	donor       int // the layer whose cache is read; the layer itself where it owns one
	feedForward int
	ropeTheta   float32
	ropeFactor  float32 // positions are divided by it
	keyIsValue  bool
	moe         bool
}

// kind holds what all sliding layers, or all global ones, have in common.
type kind struct {
	headDim    int
	ropeTheta  float32
	ropeFactor float32
}

func (c *Config) parseLayers(r *reader) error {
	sliding := c.slidingLayers(r)
	feedForward := r.each("feed_forward_length", 1, maxSize)
	kvHeads := perLayer{uint32(c.Heads)} // absent: as many as query heads
	if r.has("attention.head_count_kv") && !c.borrowed {
		kvHeads = r.each("attention.head_count_kv", 0, c.Heads)
	}
	if r.err != nil {
		return r.err
	}
	global, local := c.kinds(r, sliding)
	if r.err != nil {
		return r.err
	}
	if !c.borrowed && c.SharedKVLayers >= c.Blocks {
		r.fail("attention.shared_kv_layers", "is %d of %d layers: no layer is left to share from", c.SharedKVLayers,
			c.Blocks)
		return r.err
	}
	c.layers = make([]layerConfig, c.Blocks)
	for i := range c.layers {
		l := layerConfig{sliding: sliding.at(i) != 0, donor: i, kvHeads: kvHeads.at(i), feedForward: feedForward.at(i)}
		of := global
		if l.sliding {
			of = local
		}
		l.headDim, l.ropeTheta, l.ropeFactor = of.headDim, of.ropeTheta, of.ropeFactor
		c.layers[i] = l
	}
	return nil
}

// slidingLayers reads the pattern. A model without a sliding window has no
// sliding layers and needs no pattern.
func (c *Config) slidingLayers(r *reader) perLayer {
	c.SlidingWindow = r.optionalCount("attention.sliding_window", 0, maxTokens)
	switch {
	case c.SlidingWindow == 0 && (c.Family == Gemma3 || !r.has(slidingPattern)):
		return perLayer{0}
	case c.Family == Gemma3:
		return r.gemma3Pattern()
	}
	return r.flags(slidingPattern)
}

const slidingPattern = "attention.sliding_window_pattern"

// kinds reads the sizes of the two kinds of layers; those of a kind that no
// layer is of are not asked for.
func (c *Config) kinds(r *reader, sliding perLayer) (global, local kind) {
	var hasGlobal, hasSliding bool
	for i := range c.Blocks {
		isSliding := sliding.at(i) != 0
		hasSliding = hasSliding || isSliding
		hasGlobal = hasGlobal || !isSliding
	}
	if c.Family == Gemma3 {
		return c.gemma3Kinds(r)
	}
	if hasGlobal {
		global = r.kind("")
	}
	if hasSliding {
		local = r.kind("_swa")
		if !r.has("attention.sliding_window") {
			r.keep(r.missing("attention.sliding_window"))
		} else if c.SlidingWindow == 0 {
			r.fail("attention.sliding_window", "is 0, but there are sliding layers")
		}
	}
	return global, local
}

// missing returns gguf's own error for a key that is not there.
func (r *reader) missing(key string) error {
	_, err := r.meta.Uint32s(r.fullKey(key))
	return err
}

func (r *reader) kind(suffix string) kind {
	k := kind{headDim: r.headDim(suffix), ropeFactor: 1}
	if r.err == nil {
		k.ropeTheta = r.ropeTheta("rope.freq_base" + suffix)
	}
	return k
}

// headDim is the size of a head, which keys, values and their rotation have in common.
func (r *reader) headDim(suffix string) int {
	keyLength, valueLength := "attention.key_length"+suffix, "attention.value_length"+suffix
	n := r.uniform(keyLength, maxSize)
	if r.err != nil {
		return n
	}
	if r.has(valueLength) && r.uniform(valueLength, maxSize) != n {
		r.fail(valueLength, "differs from %s (%d), which no Gemma does", r.fullKey(keyLength), n)
	}
	if n%2 != 0 {
		r.fail(keyLength, "is %d: heads are rotated in pairs and need an even dimension", n)
	}
	if dims := "rope.dimension_count" + suffix; r.has(dims) && r.uniform(dims, maxSize) != n {
		r.fail(dims, "differs from %s (%d): Gemma rotates whole heads", r.fullKey(keyLength), n)
	}
	return n
}

// ropeTheta is the base of a rotation.
func (r *reader) ropeTheta(key string) float32 {
	theta := r.float(key)
	if r.err == nil && theta < 1 {
		r.fail(key, "is %v, wanted 1 or more", theta)
	}
	return theta
}

// shareKV points each shared layer at its donor, the last layer of its own kind
// that owns a cache, and gives it the donor's key/value heads.
func (c *Config) shareKV(r *reader) error {
	const none = -1
	owners := c.Blocks - c.SharedKVLayers
	lastSliding, lastGlobal := none, none
	for i := range c.layers {
		l := &c.layers[i]
		last := &lastGlobal
		if l.sliding {
			last = &lastSliding
		}
		if i < owners {
			*last = i
		} else if *last == none {
			return fmt.Errorf("layer %d shares keys and values, but no layer of its kind (sliding: %t) before layer "+
				"%d owns any (%s): %w",
				i, l.sliding, owners, r.fullKey("attention.shared_kv_layers"), ErrConfig)
		} else {
			l.donor, l.kvHeads = *last, c.layers[*last].kvHeads
		}
		if l.kvHeads < 1 || c.Heads%l.kvHeads != 0 {
			return fmt.Errorf("layer %d: %d query heads do not divide among %d key/value heads (%s): %w",
				i, c.Heads, l.kvHeads, r.fullKey("attention.head_count_kv"), ErrConfig)
		}
	}
	return nil
}

// IsSliding says whether layer i sees a window of positions; otherwise it is
// global and sees all.
func (c *Config) IsSliding(i int) bool { return c.layers[i].sliding }

// HeadDim is D(i), the length of one head's query, key and value in layer i.
func (c *Config) HeadDim(i int) int { return c.layers[i].headDim }

// QueryDim is H·D(i), the length of all queries of one position.
func (c *Config) QueryDim(i int) int { return c.Heads * c.layers[i].headDim }

// KVHeads is Hk(i), the number of key/value heads that layer i reads.
func (c *Config) KVHeads(i int) int { return c.layers[i].kvHeads }

// KVDim is Hk(i)·D(i), the length of all keys, or all values, of one position.
func (c *Config) KVDim(i int) int { return c.layers[i].kvHeads * c.layers[i].headDim }

// HasOwnKV says whether layer i computes keys and values of its own.
func (c *Config) HasOwnKV(i int) bool { return !c.borrowed && c.layers[i].donor == i }

// KVDonor is the layer whose cache layer i reads: i itself where it owns one. In an
// assistant it is a layer of the model that it drafts for.
func (c *Config) KVDonor(i int) int { return c.layers[i].donor }

// FeedForward is the width of the dense feed-forward of layer i.
func (c *Config) FeedForward(i int) int { return c.layers[i].feedForward }

// RopeTheta is the base of layer i's rotation.
func (c *Config) RopeTheta(i int) float32 { return c.layers[i].ropeTheta }

// RopeFactors is what the frequencies of layer i's rotation are divided by, nil for ones.
// freqs is what the file's rope_freqs hold, nil where it has none.
func (c *Config) RopeFactors(i int, freqs []float32) []float32 {
	l := &c.layers[i]
	switch {
	case l.ropeFactor != 1:
		return slices.Repeat([]float32{l.ropeFactor}, l.headDim/2)
	case l.sliding:
		return nil
	}
	return freqs
}

// KEqualsV says whether the values of layer i are its raw keys, before their
// norm and rotation. Known after Open, and only true where HasOwnKV is.
func (c *Config) KEqualsV(i int) bool { return c.layers[i].keyIsValue }

// IsMoE says whether layer i has experts beside its dense feed-forward. Known
// after Open.
func (c *Config) IsMoE(i int) bool { return c.layers[i].moe }

// LastKVOwner is the last layer that writes a cache. Positions whose logits
// nobody reads need not be computed beyond its keys and values.
func (c *Config) LastKVOwner() int { return c.Blocks - c.SharedKVLayers - 1 }

// PrefillLayers is how many layers a prompt's positions but the last go through: those up
// to the last that writes a cache.
func (c *Config) PrefillLayers() int { return c.LastKVOwner() + 1 }
