package arch

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
)

// EncoderName is the value of general.architecture of EmbeddingGemma 2.
const EncoderName = "gemma-embedding2"

// poolingMean is the value of pooling_type for the mean over all tokens.
const poolingMean = 1

// Encoder is a model that turns a text as a whole into one vector: layers like a
// text model's, in which tokens also see those behind them. With e the scaled
// embeddings, [tokens, d], it computes
//
//	p = rms(PerLayerModelProj·e·d^−½; PerLayerProjNorm)
//	x = the layers over e, each with its share of p
//	y = mean over the tokens of Output·rms(x; OutputNorm)
//
// and y / ‖y‖ is the text's embedding. Global layers see every token, sliding
// ones those at most Config.SlidingWindow places away, to either side.
type Encoder struct {
	Config *Config // layers own their keys and values; Vocab is known

	OutputLength int // of an embedding
	TokenEmbd    *gguf.Tensor
	OutputNorm   *gguf.Tensor // [d]
	Output       *gguf.Tensor // [d, OutputLength]

	// These two are nil where Config.PerLayerDim is 0.
	PerLayerModelProj *gguf.Tensor // [d, P·L]
	PerLayerProjNorm  *gguf.Tensor // [P]

	Layers []Layer
}

// IsEncoder says whether a file is one for OpenEncoder.
func IsEncoder(meta gguf.Metadata) bool {
	name, err := meta.String("general.architecture")
	return err == nil && name == EncoderName
}

// OpenEncoder is Open for a file that holds an encoder. No tensor data is read.
func OpenEncoder(file *gguf.File) (*Encoder, error) {
	if !IsEncoder(file.Meta) {
		return nil, fmt.Errorf("general.architecture is %q and only %q ones make embeddings: choose a file such as "+
			"embeddinggemma-2-Q8_0.gguf: %w", file.Architecture(), EncoderName, ErrArchitecture)
	}
	e := &encoderReader{
		reader:   reader{meta: file.Meta, prefix: EncoderName},
		resolver: resolver{file: file, prefix: EncoderName},
	}
	config, out, err := e.sizes()
	if err != nil {
		return nil, err
	}
	e.config = config
	encoder := e.tensors(out)
	if e.resolver.err != nil {
		return nil, e.resolver.err
	}
	return encoder, nil
}

// encoderReader reads an encoder's file.
type encoderReader struct {
	reader
	resolver
}

// sizes reads the encoder's sizes and the length of an embedding.
func (e *encoderReader) sizes() (*Config, int, error) {
	r := &e.reader
	c := &Config{
		Blocks:          r.count("block_count", 1, maxBlocks),
		ContextLength:   r.count("context_length", 1, maxTokens),
		EmbeddingLength: r.count("embedding_length", 1, maxSize),
		PerLayerDim:     r.optionalCount("embedding_length_per_layer_input", 0, maxSize),
		Eps:             r.float("attention.layer_norm_rms_epsilon"),
	}
	out := c.EmbeddingLength
	if r.has("embedding_length_out") {
		out = r.count("embedding_length_out", 1, maxSize)
	}
	if r.err == nil && c.Blocks > len(e.file.Tensors) {
		r.fail("block_count", "is %d, but the file has no more than %d tensors", c.Blocks, len(e.file.Tensors))
	}
	if r.err == nil && c.Eps == 0 {
		r.fail("attention.layer_norm_rms_epsilon", "is 0, wanted a small positive number")
	}
	e.checkPooling()
	if r.err != nil {
		return nil, 0, r.err
	}
	r.blocks = c.Blocks
	if c.Heads = r.uniform("attention.head_count", maxSize); r.err != nil {
		return nil, 0, r.err
	}
	if err := c.parseLayers(r); err != nil {
		return nil, 0, err
	}
	return c, out, c.shareKV(r)
}

// checkPooling refuses files whose embeddings are made another way.
func (e *encoderReader) checkPooling() {
	if e.has("pooling_type") {
		if n := e.count("pooling_type", 0, 1<<16); e.reader.err == nil && n != poolingMean {
			e.reader.fail("pooling_type", "is %d, wanted %d (mean)", n, poolingMean)
		}
	}
	if causal, err := e.meta.Bool(e.reader.fullKey("attention.causal")); err == nil && causal {
		e.reader.fail("attention.causal", "is true, wanted tokens that see each other")
	}
}

// tensors finds all tensors.
func (e *encoderReader) tensors(out int) *Encoder {
	r, c := &e.resolver, e.config
	d, p := c.EmbeddingLength, c.PerLayerDim
	m := &Encoder{Config: c, OutputLength: out, TokenEmbd: r.tokenEmbd()}
	if r.err != nil {
		return nil
	}
	m.OutputNorm = r.need(shape(d), "output_norm.weight")
	m.Output = r.need(shape(d, out), "output.weight")
	if p > 0 {
		m.PerLayerModelProj = r.need(shape(d, p*c.Blocks), "per_layer_model_proj.weight")
		m.PerLayerProjNorm = r.need(shape(p), "per_layer_proj_norm.weight")
	}
	for i := 0; i < c.Blocks && r.err == nil; i++ {
		m.Layers = append(m.Layers, r.layer(i))
	}
	return m
}
