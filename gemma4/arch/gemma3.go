package arch

import (
	"errors"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// Family is a generation of Gemma. The graph is the same for all: what differs is
// answered here, in Config.
type Family int

// The families.
const (
	Gemma4 Family = iota
	// Gemma3 is a near subset: its heads are all of one size, values have no norm, scores
	// a scale, and layers nothing of their own behind the feed-forward.
	Gemma3
)

const gemma3Name = "gemma3"

// String is the value of general.architecture, and what the keys begin with.
func (f Family) String() string {
	if f == Gemma3 {
		return gemma3Name
	}
	return Name
}

// What Gemma 3's files leave out. All released models have it in common.
const (
	gemma3Eps         = 1e-6
	gemma3Theta       = 1e6
	gemma3LocalTheta  = 1e4
	gemma3Period      = 6 // every sixth layer is global
	gemma3LargeFactor = 8 // of the 4B and larger, in global layers
)

// Numbers of layers, which tell the released sizes apart where nothing else does.
const (
	gemma3Blocks1B  = 26
	gemma3Blocks4B  = 34
	gemma3Blocks12B = 48
	gemma3Blocks27B = 62
)

func parseGemma3(r *reader) (*Config, error) {
	c := &Config{
		Family:          Gemma3,
		PlainValues:     true,
		Blocks:          r.count("block_count", 1, maxBlocks),
		ContextLength:   r.count("context_length", 1, maxTokens),
		EmbeddingLength: r.count("embedding_length", 1, maxSize),
		Eps:             r.optionalFloat("attention.layer_norm_rms_epsilon", gemma3Eps),
		LogitSoftcap:    r.optionalFloat("final_logit_softcapping", 0),
	}
	if r.err != nil {
		return nil, r.err
	}
	r.blocks = c.Blocks
	if r.byOllama() && c.Blocks == gemma3Blocks1B && c.LogitSoftcap == 30 {
		c.LogitSoftcap = 0 // the model was trained without, and Ollama passes over it too
	}
	if _, err := c.parse(r); err != nil {
		return nil, err
	}
	c.scoreScale = float32(1 / math.Sqrt(c.scoreDivisor()))
	return c, nil
}

// TextAlone says that the released model of these sizes has no towers: so it is with the
// small ones of Gemma 3.
func (c *Config) TextAlone() bool { return c.Family == Gemma3 && c.Blocks < gemma3Blocks4B }

// byOllama says that Ollama's converter made the file: others write the base of the
// global layers' rotation, and that of the sliding ones under another name.
func (r *reader) byOllama() bool { return r.has("rope.local.freq_base") || !r.has("rope.freq_base") }

// scoreDivisor is what stands under the root in the scale of q·k: the size of a head, but
// for the 27B, whose layers tell that it is meant.
func (c *Config) scoreDivisor() float64 {
	if c.Blocks == gemma3Blocks27B {
		return float64(c.EmbeddingLength) / float64(c.Heads)
	}
	return float64(c.HeadDim(0))
}

// gemma3Pattern reads which layers slide: a flag for each, or one number n that makes
// every n-th layer global.
func (r *reader) gemma3Pattern() perLayer {
	period := uint32(gemma3Period)
	if r.has(slidingPattern) {
		if _, err := r.meta.Bools(r.fullKey(slidingPattern)); !errors.Is(err, gguf.ErrWrongType) {
			return r.flags(slidingPattern)
		}
		values := r.each(slidingPattern, 0, maxBlocks)
		if len(values) != 1 {
			return r.flags(slidingPattern)
		}
		period = values[0]
	}
	sliding := make(perLayer, r.blocks)
	for i := range sliding {
		if period == 0 || uint32(i)%period < period-1 {
			sliding[i] = 1
		}
	}
	return sliding
}

// gemma3Kinds are the two kinds of layers, which differ in their rotation.
func (c *Config) gemma3Kinds(r *reader) (global, local kind) {
	if !r.has("attention.key_length") {
		r.fail("attention.key_length", "is missing")
		return global, local
	}
	global.headDim = r.headDim("")
	global.ropeTheta = r.firstTheta(gemma3Theta, "rope.freq_base", "rope.global.freq_base")
	global.ropeFactor = c.gemma3Factor(r)
	local = kind{headDim: global.headDim, ropeFactor: 1}
	local.ropeTheta = r.firstTheta(gemma3LocalTheta, "rope.freq_base_swa", "rope.local.freq_base")
	return global, local
}

// firstTheta is the base under the first of its names.
func (r *reader) firstTheta(absent float32, names ...string) float32 {
	for _, name := range names {
		if r.has(name) {
			return r.ropeTheta(name)
		}
	}
	return absent
}

// gemma3Factor is what divides positions in global layers. Ollama's files of the larger
// models leave it out, and it goes by their layers as Ollama does.
func (c *Config) gemma3Factor(r *reader) float32 {
	const scaling, factor = "rope.scaling.type", "rope.scaling.factor"
	if r.has(scaling) && r.err == nil {
		name, err := r.meta.String(r.fullKey(scaling))
		switch {
		case err != nil:
			r.keep(err)
		case name == "none":
			return 1
		case name != "linear":
			r.fail(scaling, "is %.40q; only linear scaling can be run", name)
		}
	}
	if !r.has(factor) {
		switch c.Blocks {
		case gemma3Blocks4B, gemma3Blocks12B, gemma3Blocks27B:
			if r.byOllama() {
				return gemma3LargeFactor
			}
		}
		return 1
	}
	f := r.float(factor)
	switch {
	case r.err != nil:
	case f == 0:
		return 1 // llama.cpp's word for none
	case f < 1:
		r.fail(factor, "is %v, wanted 1 or more", f)
	}
	return f
}
