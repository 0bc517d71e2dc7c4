package arch

import "fmt"

// layerConfig is what is known of one layer.
type layerConfig struct {
	sliding     bool
	headDim     int
	kvHeads     int
	donor       int // the layer whose cache is read; the layer itself where it owns one
	feedForward int
	ropeTheta   float32
	keyIsValue  bool
	moe         bool
}

// kind holds what all sliding layers, or all global ones, have in common.
type kind struct {
	headDim   int
	ropeTheta float32
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
		l.headDim, l.ropeTheta = of.headDim, of.ropeTheta
		c.layers[i] = l
	}
	return nil
}

// slidingLayers reads the pattern. A model without a sliding window has no
// sliding layers and needs no pattern.
func (c *Config) slidingLayers(r *reader) perLayer {
	const pattern, window = "attention.sliding_window_pattern", "attention.sliding_window"
	c.SlidingWindow = r.optionalCount(window, 0, maxTokens)
	if !r.has(pattern) && c.SlidingWindow == 0 {
		return perLayer{0}
	}
	return r.flags(pattern)
}

// kinds reads the sizes of the two kinds of layers; those of a kind that no
// layer is of are not asked for.
func (c *Config) kinds(r *reader, sliding perLayer) (global, local kind) {
	var hasGlobal, hasSliding bool
	for i := range c.Blocks {
		isSliding := sliding.at(i) != 0
		hasSliding = hasSliding || isSliding
		hasGlobal = hasGlobal || !isSliding
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
	keyLength, valueLength := "attention.key_length"+suffix, "attention.value_length"+suffix
	k := kind{headDim: r.uniform(keyLength, maxSize)}
	if r.err != nil {
		return k
	}
	if r.has(valueLength) && r.uniform(valueLength, maxSize) != k.headDim {
		r.fail(valueLength, "differs from %s (%d), which no Gemma 4 does", r.fullKey(keyLength), k.headDim)
	}
	if k.headDim%2 != 0 {
		r.fail(keyLength, "is %d: heads are rotated in pairs and need an even dimension", k.headDim)
	}
	if dims := "rope.dimension_count" + suffix; r.has(dims) && r.uniform(dims, maxSize) != k.headDim {
		r.fail(dims, "differs from %s (%d): Gemma 4 rotates whole heads", r.fullKey(keyLength), k.headDim)
	}
	theta := "rope.freq_base" + suffix
	k.ropeTheta = r.float(theta)
	if r.err == nil && k.ropeTheta < 1 {
		r.fail(theta, "is %v, wanted 1 or more", k.ropeTheta)
	}
	return k
}

// shareKV points each shared layer at its donor, the last layer of its own kind
// that owns a cache, and gives it the donor's key/value heads.
func (c *Config) shareKV() error {
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
				i, l.sliding, owners, fullKey("attention.shared_kv_layers"), ErrConfig)
		} else {
			l.donor, l.kvHeads = *last, c.layers[*last].kvHeads
		}
		if l.kvHeads < 1 || c.Heads%l.kvHeads != 0 {
			return fmt.Errorf("layer %d: %d query heads do not divide among %d key/value heads (%s): %w",
				i, c.Heads, l.kvHeads, fullKey("attention.head_count_kv"), ErrConfig)
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
