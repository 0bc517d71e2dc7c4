package arch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

var (
	// ErrMissingTensor says that the file lacks a tensor that its sizes ask for.
	ErrMissingTensor = errors.New("tensor missing")
	// ErrShape says that a tensor's shape contradicts the metadata.
	ErrShape = errors.New("tensor of the wrong shape")
)

// Open reads the sizes from the file's metadata and finds every tensor of the
// text model, under its present or an older name, comparing shapes and types
// with what the sizes ask for. No tensor data is read.
func Open(file *gguf.File) (*Model, error) {
	config, err := Parse(file.Meta)
	if err != nil {
		return nil, err
	}
	if config.Blocks > len(file.Tensors) {
		return nil, fmt.Errorf("%s is %d, but the file has no more than %d tensors: %w",
			config.Family.String()+".block_count", config.Blocks, len(file.Tensors), ErrConfig)
	}
	r := &resolver{file: file, config: config, prefix: config.Family.String()}
	model := r.model()
	r.refuseScales()
	if r.err != nil {
		return nil, r.err
	}
	return model, nil
}

// resolver finds tensors and keeps the first error.
type resolver struct {
	file   *gguf.File
	config *Config
	prefix string // of the metadata's keys, for errors
	err    error
	// lentRopeFreqs stand in where the file has none of its own.
	lentRopeFreqs *gguf.Tensor
}

func (r *resolver) model() *Model {
	c := r.config
	d, p := c.EmbeddingLength, c.PerLayerDim
	m := &Model{Config: c}
	m.TokenEmbd = r.tokenEmbd()
	if r.err != nil {
		return nil
	}
	m.OutputNorm = r.need(shape(d), "output_norm.weight")
	m.Output = r.find(shape(d, c.Vocab), "output.weight")
	if m.Output == nil {
		m.Output = m.TokenEmbd
	}
	i := slices.IndexFunc(c.layers, func(l layerConfig) bool { return !l.sliding })
	if i >= 0 && c.Family == Gemma4 {
		if m.RopeFreqs = r.find(shape(c.HeadDim(i)/2), "rope_freqs.weight"); m.RopeFreqs == nil {
			m.RopeFreqs = r.lentRopeFreqs
		}
		if m.RopeFreqs == nil {
			m.RopeFreqs = r.need(shape(c.HeadDim(i)/2), "rope_freqs.weight")
		}
	}
	if p > 0 {
		m.PerLayerTokenEmbd = r.need(shape(p*c.Blocks, c.Vocab), "per_layer_token_embd.weight")
		m.PerLayerModelProj = r.need(shape(d, p*c.Blocks), "per_layer_model_proj.weight")
		m.PerLayerProjNorm = r.need(shape(p), "per_layer_proj_norm.weight")
	} else {
		r.withoutPerLayer()
	}
	m.Layers = make([]Layer, c.Blocks)
	for i := range m.Layers {
		if r.err != nil {
			return nil
		}
		m.Layers[i] = r.layer(i)
	}
	return m
}

// withoutPerLayer refuses a file that has per-layer embeddings, and metadata that say it has none: without them the
// model says nothing.
func (r *resolver) withoutPerLayer() {
	for _, name := range []string{"per_layer_token_embd.weight", "per_layer_model_proj.weight"} {
		if _, there := r.file.Tensor(name); there {
			r.fail(fmt.Errorf("%s is there, and the key %s.embedding_length_per_layer_input is missing or 0: the file is "+
				"incomplete: %w", name, r.prefix, ErrConfig))
			return
		}
	}
}

// tokenEmbd finds the token embedding, whose second dimension is the one place
// that says how large the vocabulary is.
func (r *resolver) tokenEmbd() *gguf.Tensor {
	const name = "token_embd.weight"
	t, ok := r.file.Tensor(name)
	if !ok {
		r.err = fmt.Errorf("%s: %w", name, ErrMissingTensor)
		return nil
	}
	if len(t.Dims) >= 2 && t.Dims[1] >= 1 && t.Dims[1] <= maxTokens {
		r.config.Vocab = int(t.Dims[1])
	}
	return r.check(t, shape(r.config.EmbeddingLength, max(r.config.Vocab, 1)))
}

func (r *resolver) layer(i int) Layer {
	c := r.config
	d, qDim, kvDim, ff := c.EmbeddingLength, c.QueryDim(i), c.KVDim(i), c.FeedForward(i)
	b := block{r, i}
	l := Layer{
		AttnNorm:          b.need(shape(d), "attn_norm"),
		Q:                 b.need(shape(d, qDim), "attn_q"),
		QNorm:             b.need(shape(c.HeadDim(i)), "attn_q_norm"),
		AttnOutput:        b.need(shape(qDim, d), "attn_output"),
		PostAttentionNorm: b.need(shape(d), "post_attention_norm", "attn_post_norm"),
		FFNNorm:           b.need(shape(d), "ffn_norm", "ffn_pre_norm"),
		Gate:              b.need(shape(d, ff), "ffn_gate"),
		Up:                b.need(shape(d, ff), "ffn_up"),
		Down:              b.need(shape(ff, d), "ffn_down"),
		PostFFWNorm:       b.need(shape(d), "post_ffw_norm", "ffn_post_norm"),
		OutputScale:       b.find(shape(1), "layer_output_scale", "layer_scalar"),
	}
	if c.HasOwnKV(i) { // other layers may carry unused ones, which stay unread
		l.K = b.need(shape(d, kvDim), "attn_k")
		l.V = b.find(shape(d, kvDim), "attn_v")
		if l.V == nil && c.Family == Gemma3 {
			l.V = b.need(shape(d, kvDim), "attn_v")
		}
		l.KNorm = b.need(shape(c.HeadDim(i)), "attn_k_norm")
		c.layers[i].keyIsValue = l.V == nil
	}
	if p := c.PerLayerDim; p > 0 {
		l.InpGate = b.need(shape(d, p), "inp_gate")
		l.Proj = b.need(shape(p, d), "proj")
		l.PostNorm = b.need(shape(d), "post_norm")
	}
	l.MoE = b.experts()
	c.layers[i].moe = l.MoE != nil
	return l
}

// experts finds the mixture of experts of a layer that has a router; a model
// with experts may have layers without.
func (b block) experts() *Experts {
	c := b.config
	d, n, ffe := c.EmbeddingLength, c.Experts, c.ExpertFeedForward
	if n == 0 {
		if _, _, ok := b.lookup("ffn_gate_inp"); ok {
			b.fail(fmt.Errorf("layer %d has a router, but %s is absent or 0: %w", b.layer, b.prefix+".expert_count",
				ErrConfig))
		}
		return nil
	}
	router := b.find(shape(d, n), "ffn_gate_inp")
	if router == nil {
		return nil
	}
	x := &Experts{
		Router:        router,
		RouterScale:   b.need(shape(d), "ffn_gate_inp.scale"),
		GateUp:        b.find(shape(d, 2*ffe, n), "ffn_gate_up_exps"),
		Down:          b.need(shape(ffe, d, n), "ffn_down_exps"),
		DownScale:     b.need(shape(n), "ffn_down_exps.scale", "ffn_gate_inp.per_expert_scale"),
		PreNorm:       b.need(shape(d), "pre_ffw_norm_2", "ffn_pre_norm_2"),
		PostDenseNorm: b.need(shape(d), "post_ffw_norm_1", "ffn_post_norm_1"),
		PostNorm:      b.need(shape(d), "post_ffw_norm_2", "ffn_post_norm_2"),
	}
	if x.GateUp == nil {
		x.Gate = b.need(shape(d, ffe, n), "ffn_gate_exps")
		x.Up = b.need(shape(d, ffe, n), "ffn_up_exps")
	}
	return x
}

// block finds the tensors of one layer by their names without "blk.i." in front
// and, but for scales, without ".weight" behind.
type block struct {
	*resolver
	layer int
}

func (b block) names(short []string) []string {
	var names []string
	for _, s := range short {
		full := fmt.Sprintf("blk.%d.%s", b.layer, s)
		if !strings.Contains(s, ".") {
			names = append(names, full+".weight")
		}
		names = append(names, full)
	}
	return names
}

func (b block) need(want []uint64, short ...string) *gguf.Tensor {
	return b.resolver.need(want, b.names(short)...)
}

func (b block) find(want []uint64, short ...string) *gguf.Tensor {
	return b.resolver.find(want, b.names(short)...)
}

func (b block) lookup(short string) (*gguf.Tensor, string, bool) {
	return b.resolver.lookup(b.names([]string{short}))
}

func (r *resolver) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *resolver) lookup(names []string) (*gguf.Tensor, string, bool) {
	for _, name := range names {
		if t, ok := r.file.Tensor(name); ok {
			return t, name, true
		}
	}
	return nil, "", false
}

// need finds the tensor under the first of its names that the file has; none is
// an error that gives the name in present use.
func (r *resolver) need(want []uint64, names ...string) *gguf.Tensor {
	t := r.find(want, names...)
	if t == nil {
		r.fail(fmt.Errorf("%s %v: the file is incomplete or of another model: %w", names[0], want, ErrMissingTensor))
	}
	return t
}

// find is need for a tensor that may be absent.
func (r *resolver) find(want []uint64, names ...string) *gguf.Tensor {
	t, _, ok := r.lookup(names)
	if !ok {
		return nil
	}
	return r.check(t, want)
}

// check compares the type and the shape, in which trailing ones do not count.
func (r *resolver) check(t *gguf.Tensor, want []uint64) *gguf.Tensor {
	if !slices.Equal(trim(t.Dims), trim(want)) {
		r.fail(fmt.Errorf("%s is %v, wanted %v by the metadata: %w", t.Name, t.Dims, want, ErrShape))
	}
	if !t.Type.Supported() {
		r.fail(fmt.Errorf("%s is stored as %s: choose a file in another quantization, such as Q4_K_M: %w", t.Name,
			t.Type, quant.ErrUnsupported))
	}
	return t
}

// scales are those that the graph knows: one for each expert.
var scales = []string{".ffn_gate_inp.scale", ".ffn_down_exps.scale"}

// refuseScales refuses matrices whose values are to be multiplied with another tensor, as in files that were made of
// NVFP4 checkpoints: without it the answers would be nonsense.
func (r *resolver) refuseScales() {
	for i := range r.file.Tensors {
		name := r.file.Tensors[i].Name
		matrix, scaled := strings.CutSuffix(name, ".scale")
		if !scaled || slices.ContainsFunc(scales, func(s string) bool { return strings.HasSuffix(name, s) }) {
			continue
		}
		if t, full, there := r.lookup([]string{matrix + ".weight", matrix}); there && len(trim(t.Dims)) > 1 {
			r.fail(fmt.Errorf("%s is to be multiplied with %s, which gemwire does not do: choose a file in another "+
				"quantization, such as Q4_K_M: %w", full, name, quant.ErrUnsupported))
		}
	}
}

func shape(dims ...int) []uint64 {
	s := make([]uint64, len(dims))
	for i, n := range dims {
		s[i] = uint64(n)
	}
	return s
}

func trim(dims []uint64) []uint64 {
	for len(dims) > 0 && dims[len(dims)-1] == 1 {
		dims = dims[:len(dims)-1]
	}
	return dims
}
