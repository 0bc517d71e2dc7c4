package arch

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// Name is the value of general.architecture of Gemma 4's files.
const Name = "gemma4"

var (
	// ErrArchitecture says that the file holds another kind of model.
	ErrArchitecture = errors.New("not a gemma4 or gemma3 model")
	// ErrConfig says that the metadata contradicts itself or asks for something
	// that no Gemma has.
	ErrConfig = errors.New("unusable model metadata")
)

// Bounds of what is believed. They are far above any released model and keep
// products of two sizes inside an int64; what memory is really used is bounded
// by the shapes of the tensors, which Open compares with these sizes.
const (
	maxBlocks = 1 << 14
	maxSize   = 1 << 24
	maxTokens = 1<<31 - 1
)

// Config holds the sizes of a text model. The zero value is of no use: Parse
// and Open make one.
type Config struct {
	Family          Family
	Blocks          int // L, number of layers
	ContextLength   int // tokens the model was made for
	EmbeddingLength int // d, width of the residual stream
	Vocab           int // rows of token_embd; 0 until Open has seen the tensor
	Heads           int // H, query heads of every layer
	PerLayerDim     int // P, width of the per-layer embeddings; 0 when there are none
	SlidingWindow   int // positions a sliding layer sees, the query's own included
	SharedKVLayers  int // the last layers, which own no keys and values

	Experts           int // E; 0 in a model without experts
	ExpertsUsed       int // experts computed for a token
	ExpertFeedForward int // width of one expert

	Eps          float32 // ε of every norm
	LogitSoftcap float32 // c in c·tanh(logits / c); 0 means no softcap

	Images ImageMask // what the soft tokens of an image see of it

	PlainValues bool // values are as they come, without a norm

	layers     []layerConfig
	scoreScale float32 // 0 for 1
	// borrowed says that no layer has a cache: donors are layers of another model.
	borrowed bool
}

// Parse reads the sizes from metadata. Facts that only the tensors tell (Vocab,
// KEqualsV, IsMoE) are filled in by Open.
//
// It returns an error wrapping ErrArchitecture, ErrConfig, or one of gguf's for
// a key that is missing or of the wrong type; each names the key.
func Parse(meta gguf.Metadata) (*Config, error) {
	family, err := familyOf(meta)
	if err != nil {
		return nil, err
	}
	r := &reader{meta: meta, prefix: family.String()}
	if family == Gemma3 {
		return parseGemma3(r)
	}
	c := &Config{
		Blocks:          r.count("block_count", 1, maxBlocks),
		ContextLength:   r.count("context_length", 1, maxTokens),
		EmbeddingLength: r.count("embedding_length", 1, maxSize),
		PerLayerDim:     r.optionalCount("embedding_length_per_layer_input", 0, maxSize),
		SharedKVLayers:  r.optionalCount("attention.shared_kv_layers", 0, maxBlocks),
		Experts:         r.optionalCount("expert_count", 0, maxSize),
		Eps:             r.float("attention.layer_norm_rms_epsilon"),
		LogitSoftcap:    r.optionalFloat("final_logit_softcapping", 0),
	}
	if r.err != nil {
		return nil, r.err
	}
	r.blocks = c.Blocks
	c.Images = imageMask(meta, c.PerLayerDim)
	if c.Experts > 0 {
		c.ExpertsUsed = r.count("expert_used_count", 1, c.Experts)
		c.ExpertFeedForward = r.count("expert_feed_forward_length", 1, maxSize)
	}
	return c.parse(r)
}

// parse reads what both families have in each layer.
func (c *Config) parse(r *reader) (*Config, error) {
	c.Heads = r.uniform("attention.head_count", maxSize)
	if c.Eps == 0 {
		r.fail("attention.layer_norm_rms_epsilon", "is 0, wanted a small positive number")
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := c.parseLayers(r); err != nil {
		return nil, err
	}
	return c, c.shareKV(r)
}

// familyOf says which family's model the file holds, or why it is none.
func familyOf(meta gguf.Metadata) (Family, error) {
	name, err := meta.String("general.architecture")
	if err != nil {
		return 0, fmt.Errorf("reading which model this is: %w", err)
	}
	if kind, err := meta.String("general.type"); err == nil && kind == "adapter" {
		return 0, fmt.Errorf("this file is a LoRA adapter, which changes a model (general.type %q): use it together with "+
			"its model: %w", kind, ErrArchitecture)
	}
	switch name {
	case Name:
		return Gemma4, nil
	case gemma3Name:
		return Gemma3, nil
	case AssistantName, assistantNameOld:
		return 0, fmt.Errorf("this file is an assistant, which drafts for a model (general.architecture %q): use "+
			"it together with its model: %w", name, ErrArchitecture)
	case EncoderName:
		return 0, fmt.Errorf("this file holds a model for embeddings, which does not chat (general.architecture %q): use "+
			"gemwire embed, or choose a Gemma 4 file: %w", name, ErrArchitecture)
	case "clip":
		return 0, fmt.Errorf("this file holds the image and audio half of a model (general.architecture %q): open the "+
			"text file that belongs to it: %w", name, ErrArchitecture)
	}
	return 0, fmt.Errorf("this file holds a %q model and only %q and %q ones can be run: choose a Gemma 4 file, such "+
		"as gemma4:e2b from Ollama's library: %w", name, Name, gemma3Name, ErrArchitecture)
}

// EmbedScale is √d, the factor on token embeddings.
func (c *Config) EmbedScale() float32 { return float32(math.Sqrt(float64(c.EmbeddingLength))) }

// ScoreScale is the factor on q·k.
func (c *Config) ScoreScale() float32 { return cmp.Or(c.scoreScale, 1) }

// PerLayerScale is √P, the factor on per-layer token embeddings.
func (c *Config) PerLayerScale() float32 { return float32(math.Sqrt(float64(c.PerLayerDim))) }
