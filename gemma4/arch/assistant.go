package arch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// AssistantName is the value of general.architecture of assistants. Files of
// before it had settled spell it assistantNameOld, or are Name and say below
// assistantTypeKey what they are.
const (
	AssistantName    = "gemma4-assistant"
	assistantNameOld = "gemma4_assistant"
	assistantTypeKey = "assistant.type"
)

// ErrAssistant says that a file holds no assistant, or one of another model.
var ErrAssistant = errors.New("not an assistant of this model")

// Assistant is a small decoder that drafts what a larger model, its target, will
// say: Gemma 4's own way of drafting. It has no keys and values: the queries of its
// layers read the caches of the target's last sliding and last global layer that own
// one. With e the target's scaled embedding of the token chosen last and h the
// output of the target's final norm at the position before it, a step is
//
//	x = PreProjection·[e; h]
//	x = the decoder's layers, at the position of that token in every step, which
//	    sees the keys before it and has none of its own
//	y = rms(x; output_norm)
//	logits = Output·y
//	h' = PostProjection·y, which takes h's place in the next step
//
// Config.Vocab, of both, is the same.
type Assistant struct {
	// Decoder's layers have no K, V and KNorm; Config.KVDonor is a layer of the target.
	Decoder        *Model
	PreProjection  *gguf.Tensor // [2·(target's d), d]
	PostProjection *gguf.Tensor // [d, target's d]

	// Clusters, where not nil, narrows the logits to those of a few tokens.
	Clusters *Clusters
}

// Clusters parts the vocabulary into runs of equally many tokens, each with a
// vector: only tokens of the Used runs whose vectors give the largest products with
// y have logits.
type Clusters struct {
	Centroids *gguf.Tensor // [d, number of clusters]
	Ordering  []int32      // [vocab] the tokens, cluster by cluster
	Used      int
}

// Count is the number of clusters.
func (c *Clusters) Count() int { return c.Centroids.Rows() }

// Size is the number of tokens in each.
func (c *Clusters) Size() int { return len(c.Ordering) / c.Count() }

// defaultClustersUsed is what files that do not say it were trained with.
const defaultClustersUsed = 32

// assistantPrefix is what an assistant's keys begin with, "" for other files.
func assistantPrefix(meta gguf.Metadata) string {
	name, err := meta.String("general.architecture")
	switch {
	case err != nil:
		return ""
	case name == AssistantName || name == assistantNameOld:
		return name
	case name == Name:
		if kind, err := meta.String(Name + "." + assistantTypeKey); err == nil && kind == "mtp" {
			return name
		}
	}
	return ""
}

// OpenAssistant finds the tensors of an assistant and compares them with its
// metadata and with the target that it is to draft for. Of tensor data, only the
// order of the clusters is read.
//
// The error wraps ErrAssistant where the file is none, or its sizes are not those of
// the target, and otherwise what Open's do.
func OpenAssistant(file *gguf.File, target *Model) (*Assistant, error) {
	prefix := assistantPrefix(file.Meta)
	if prefix == "" {
		return nil, fmt.Errorf("general.architecture is %q, wanted %q: choose the file of an assistant, such as "+
			"gemma-4-E2B-it-assistant: %w",
			file.Architecture(), AssistantName, ErrAssistant)
	}
	if target.Config.Family != Gemma4 {
		return nil, fmt.Errorf("the model is a %s, for which there are no assistants: %w", target.Config.Family,
			ErrAssistant)
	}
	a := &assistantReader{
		reader: reader{meta: file.Meta, prefix: prefix}, target: target,
		resolver: resolver{file: file, prefix: prefix},
	}
	config, err := a.sizes()
	if err != nil {
		return nil, err
	}
	a.config = config
	assistant := a.tensors()
	if a.resolver.err != nil {
		return nil, a.resolver.err
	}
	return assistant, nil
}

// assistantReader reads an assistant's file.
type assistantReader struct {
	reader
	resolver
	target *Model
}

// sizes reads the decoder's sizes and lends it the target's caches.
func (a *assistantReader) sizes() (*Config, error) {
	r := &a.reader
	c := &Config{
		Blocks:          r.count("block_count", 1, maxBlocks),
		ContextLength:   a.target.Config.ContextLength,
		EmbeddingLength: r.count("embedding_length", 1, maxSize),
		Eps:             r.float("attention.layer_norm_rms_epsilon"),
		borrowed:        true,
	}
	if r.err == nil && c.Blocks > len(a.file.Tensors) {
		r.fail("block_count", "is %d, but the file has no more than %d tensors", c.Blocks, len(a.file.Tensors))
	}
	if r.err == nil && c.Eps == 0 {
		r.fail("attention.layer_norm_rms_epsilon", "is 0, wanted a small positive number")
	}
	if n := r.optionalCount("embedding_length_per_layer_input", 0, maxSize); n > 0 {
		r.fail("embedding_length_per_layer_input", "is %d: no assistant has per-layer embeddings", n)
	}
	if r.err != nil {
		return nil, r.err
	}
	r.blocks = c.Blocks
	c.SharedKVLayers = c.Blocks
	c.Heads = r.uniform("attention.head_count", maxSize)
	if r.err != nil {
		return nil, r.err
	}
	if err := c.parseLayers(r); err != nil {
		return nil, err
	}
	if err := a.checkWidth(); err != nil {
		return nil, err
	}
	return c, c.borrow(a.target.Config)
}

// checkWidth compares what the file says of its target's width, under one of the
// names that there have been.
func (a *assistantReader) checkWidth() error {
	want := a.target.Config.EmbeddingLength
	for _, key := range []string{"embedding_length_out", "n_embd_backbone", "assistant.backbone_hidden_size"} {
		if !a.has(key) {
			continue
		}
		if n := a.count(key, 1, maxSize); a.reader.err == nil && n != want {
			return fmt.Errorf("it drafts for a model of width %d (%s) and this one has %d: choose the assistant of "+
				"the model's own size: %w",
				n, a.reader.fullKey(key), want, ErrAssistant)
		}
		return a.reader.err
	}
	return nil // the projections' shapes tell
}

// borrow points each layer at the last one of its kind in the target that owns a cache.
func (c *Config) borrow(target *Config) error {
	for i := range c.layers {
		l := &c.layers[i]
		l.donor = target.lastOwner(l.sliding)
		if l.donor < 0 {
			return fmt.Errorf("layer %d reads the keys of a layer (sliding: %t) and the model has none: %w", i,
				l.sliding, ErrAssistant)
		}
		if l.sliding && target.SlidingWindow < 2 {
			return fmt.Errorf("layer %d would see no key in a window of %d, which the token itself takes: %w", i,
				target.SlidingWindow, ErrAssistant)
		}
		of := &target.layers[l.donor]
		l.kvHeads = of.kvHeads
		if l.headDim != of.headDim || c.Heads%of.kvHeads != 0 || l.sliding && c.SlidingWindow != target.SlidingWindow {
			return fmt.Errorf("layer %d has %d heads of %d values and a window of %d; the keys that it would read, "+
				"of layer %d, have %d heads of %d and a window of %d: %w",
				i, c.Heads, l.headDim, c.SlidingWindow, l.donor, of.kvHeads, of.headDim, target.SlidingWindow,
				ErrAssistant)
		}
	}
	return nil
}

// lastOwner is the last layer of a kind that owns a cache, −1 where there is none.
func (c *Config) lastOwner(sliding bool) int {
	for i := len(c.layers) - 1; i >= 0; i-- {
		if c.layers[i].sliding == sliding && c.HasOwnKV(i) {
			return i
		}
	}
	return -1
}

// tensors finds all tensors, under the names that converters have given them.
func (a *assistantReader) tensors() *Assistant {
	r := &a.resolver
	r.lentRopeFreqs = a.target.RopeFreqs
	m := r.model()
	if m == nil || r.err != nil {
		return nil
	}
	d, wide := a.config.EmbeddingLength, a.target.Config.EmbeddingLength
	if got, want := a.config.Vocab, a.target.Config.Vocab; got != want {
		r.fail(fmt.Errorf("it knows %d tokens and the model %d: %w", got, want, ErrAssistant))
		return nil
	}
	assistant := &Assistant{
		Decoder: m,
		PreProjection: r.need(shape(2*wide, d), "nextn.pre_projection.weight", "mtp.pre_projection.weight",
			"assistant.pre_projection.weight"),
		PostProjection: r.need(shape(d, wide), "nextn.post_projection.weight", "mtp.post_projection.weight",
			"assistant.post_projection.weight"),
	}
	assistant.Clusters = a.clusters()
	return assistant
}

// clusters reads what narrows the logits; nil where the file has nothing of it.
func (a *assistantReader) clusters() *Clusters {
	r := &a.resolver
	centroids, name, ok := r.lookup([]string{"masked_embd_centroids.weight", "mtp.centroids.weight"})
	ordering, _, ordered := r.lookup([]string{"masked_embd_ordering", "masked_embd_ordering.weight",
		"mtp.token_ordering.weight", "mtp.token_ordering"})
	if r.err != nil || !ok || !ordered {
		return nil // either alone is of no use: the whole vocabulary has logits
	}
	n := centroids.Rows()
	if n < 1 || a.config.Vocab%n != 0 {
		r.fail(fmt.Errorf("%s has %d rows, among which %d tokens cannot be divided: %w", name, n, a.config.Vocab,
			ErrShape))
		return nil
	}
	c := &Clusters{Centroids: r.check(centroids, shape(a.config.EmbeddingLength, n)), Used: min(defaultClustersUsed, n)}
	if a.has("centroid_top_k") {
		c.Used = a.count("centroid_top_k", 1, n)
		r.fail(a.reader.err)
	}
	c.Ordering = a.ordering(ordering)
	return c
}

// ordering reads the tokens in the order of their clusters, stored as int32 or int64.
func (a *assistantReader) ordering(t *gguf.Tensor) []int32 {
	r, vocab := &a.resolver, a.config.Vocab
	width := map[quant.Type]int{gguf.I32: 4, gguf.I64: 8}[t.Type]
	if width == 0 || t.Elements() != vocab {
		r.fail(fmt.Errorf("%s is %v of type %v, wanted an integer for each of %d tokens: %w", t.Name, t.Dims, t.Type,
			vocab, ErrShape))
		return nil
	}
	raw := make([]byte, width*vocab)
	if _, err := t.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		r.fail(fmt.Errorf("reading %s: %w", t.Name, err))
		return nil
	}
	tokens := make([]int32, vocab)
	for i := range tokens {
		v := int64(int32(binary.LittleEndian.Uint32(raw[width*i:])))
		if width == 8 {
			v = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		if v < 0 || v >= int64(vocab) {
			r.fail(fmt.Errorf("%s holds %d at place %d, wanted tokens from 0 to %d: %w", t.Name, v, i, vocab-1,
				ErrConfig))
			return nil
		}
		tokens[i] = int32(v)
	}
	return tokens
}
