package synth

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// tensor is what is written under a name: fixed values, or normally
// distributed ones.
type tensor struct {
	gguf.TensorInfo
	mean, deviation float64
	fixed           []float32
}

func (t tensor) elements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= int64(d)
	}
	return n
}

// size is the bytes of the data.
func (t tensor) size() (int64, error) {
	if t.Type == gguf.I32 {
		return 4 * t.elements(), nil
	}
	return t.Type.Size(t.elements())
}

// list collects the tensors of a shape.
type list struct {
	shape   Shape
	rules   rules
	tensors []tensor
}

// tensors lists a model's tensors in the order of a file.
//
// Deviations keep what a layer computes near 1: a product's outputs where its
// input is normalised, embeddings after their scale, logits before the softcap.
func (s Shape) tensors(r rules) []tensor {
	if s.Assistant != nil {
		return s.assistantTensors()
	}
	l := &list{shape: s, rules: r}
	d := s.Width
	if s.Layers >= s.Period {
		l.add(tensor{
			TensorInfo: info("rope_freqs.weight", quant.F32, s.GlobalHeadDim/2),
			fixed:      ropeFactors(s.GlobalHeadDim / 2),
		})
	}
	l.matrix("token_embd.weight", quant.Q6_K, d, s.Vocab)
	for i := range s.Layers {
		l.layer(i)
	}
	l.norm("output_norm", d)
	if p := s.PerLayer; p > 0 {
		all := p * s.Layers
		t := fitting(r.perLayerTable, all)
		l.add(tensor{TensorInfo: info("per_layer_token_embd.weight", t, all, s.Vocab),
			deviation: 1 / math.Sqrt(float64(p))})
		l.matrix("per_layer_model_proj.weight", quant.F16, d, all)
		l.norm("per_layer_proj_norm", p)
	}
	if s.Towers != nil {
		l.towers(s.Towers)
	}
	return l.tensors
}

// ropeFactors leaves all pairs but the first quarter unrotated.
func ropeFactors(pairs int) []float32 {
	factors := make([]float32, pairs)
	for n := range factors {
		factors[n] = 1
		if n >= pairs/4 {
			factors[n] = 1e30
		}
	}
	return factors
}

func (l *list) layer(i int) {
	s := l.shape
	d, headDim := s.Width, s.headDim(i)
	q, kv, ff := s.Heads*headDim, s.kvHeads(i)*headDim, s.feedForward(i)
	b := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
	m := func(name string, t quant.Type, dims ...int) { l.matrix(b(name)+".weight", t, dims...) }

	l.norm(b("layer_output_scale"), 1)
	m("attn_q", quant.Q4_K, d, q)
	l.headNorm(b("attn_q_norm"), headDim)
	if i < s.owners() {
		l.headNorm(b("attn_k_norm"), headDim)
		m("attn_k", quant.Q4_K, d, kv)
		if s.hasValues(i) {
			m("attn_v", s.valueType(i), d, kv)
		}
	}
	m("attn_output", quant.Q4_K, q, d)
	m("ffn_gate", quant.Q4_K, d, ff)
	m("ffn_up", quant.Q4_K, d, ff)
	m("ffn_down", moreBits(i, s.Layers), ff, d)
	for _, name := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
		l.norm(b(name), d)
	}
	if s.Experts > 0 {
		l.experts(i, b)
	}
	if p := s.PerLayer; p > 0 {
		m("inp_gate", l.rules.perLayer, d, p)
		m("proj", l.rules.perLayer, p, d)
		l.norm(b("post_norm"), d)
	}
}

func (l *list) experts(i int, b func(string) string) {
	s := l.shape
	d, n, ff := s.Width, s.Experts, s.ExpertFeedForward
	l.add(tensor{TensorInfo: info(b("ffn_gate_inp.scale"), quant.F32, d), mean: 1, deviation: normDeviation})
	l.add(tensor{TensorInfo: info(b("ffn_down_exps.scale"), quant.F32, n), mean: 1, deviation: normDeviation})
	// The router's input is divided by √d: this gives its logits deviation 1.
	l.add(tensor{TensorInfo: info(b("ffn_gate_inp.weight"), quant.F32, d, n), deviation: 1})
	l.matrix(b("ffn_gate_up_exps.weight"), quant.Q4_K, d, 2*ff, n)
	l.matrix(b("ffn_down_exps.weight"), moreBits(i, s.Layers), ff, d, n)
	for _, name := range []string{"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"} {
		l.norm(b(name), d)
	}
}

// normDeviation is how far norm weights are from 1.
const normDeviation = 0.1

func (l *list) add(t tensor) { l.tensors = append(l.tensors, t) }

func (l *list) norm(name string, n int) {
	l.add(tensor{TensorInfo: info(name+".weight", quant.F32, n), mean: 1, deviation: normDeviation})
}

// headNorm adds the norm of queries or keys: their products, over headDim
// values and not scaled, get deviation 1.
func (l *list) headNorm(name string, headDim int) {
	mean := math.Pow(float64(headDim), -0.25)
	l.add(tensor{TensorInfo: info(name+".weight", quant.F32, headDim), mean: mean, deviation: normDeviation * mean})
}

// matrix adds weights whose product with a vector of deviation 1 has it too.
func (l *list) matrix(name string, t quant.Type, dims ...int) {
	l.add(tensor{TensorInfo: info(name, fitting(t, dims[0]), dims...), deviation: 1 / math.Sqrt(float64(dims[0]))})
}

func info(name string, t quant.Type, dims ...int) gguf.TensorInfo {
	out := gguf.TensorInfo{Name: name, Type: t, Dims: make([]uint64, len(dims))}
	for i, d := range dims {
		out.Dims[i] = uint64(d)
	}
	return out
}
