package synth

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// AssistantSuffix behind a shape's name means the assistant made for it.
const AssistantSuffix = "-assistant"

// Assistant is the sizes of an assistant. What it shares with its model, heads of
// keys and the window, is in the Shape.
type Assistant struct {
	Layers      int // the last one global, the others sliding
	Width       int
	Heads       int
	FeedForward int

	// Clusters part the vocabulary; 0 for none.
	Clusters, ClustersUsed int
}

// assistants are the released sizes, by the shape that they are made for.
var assistants = map[string]Assistant{
	"e2b":  {Layers: 4, Width: 256, Heads: 4, FeedForward: 2048, Clusters: 2048, ClustersUsed: 32},
	"e4b":  {Layers: 4, Width: 256, Heads: 4, FeedForward: 2048, Clusters: 2048, ClustersUsed: 32},
	"12b":  {Layers: 4, Width: 1024, Heads: 16, FeedForward: 8192},
	"26b":  {Layers: 4, Width: 1024, Heads: 16, FeedForward: 8192},
	"31b":  {Layers: 4, Width: 1024, Heads: 32, FeedForward: 8192},
	"nano": {Layers: 3, Width: 64, Heads: 2, FeedForward: 128, Clusters: 64, ClustersUsed: 8},
}

// assistantNamed is the shape of the assistant for a shape.
func assistantNamed(name string) (Shape, error) {
	s, err := Named(strings.TrimSuffix(name, AssistantSuffix))
	if err != nil {
		return s, err
	}
	a := assistants[s.Name]
	s.Name += AssistantSuffix
	s.Assistant, s.Towers = &a, nil
	return s, nil
}

// withLayers is an assistant of n layers.
func (a Assistant) withLayers(n int) *Assistant {
	a.Layers = n
	return &a
}

// clusters are as many as divide the vocabulary.
func (s Shape) clusters() (n, used int) {
	n = s.Assistant.Clusters
	for n > 0 && s.Vocab%n != 0 {
		n /= 2
	}
	return n, min(n, s.Assistant.ClustersUsed)
}

func (s Shape) assistantHead(i int) (headDim int) {
	if i == s.Assistant.Layers-1 {
		return s.GlobalHeadDim
	}
	return s.SlidingHeadDim
}

// assistantTensors lists an assistant's, in F16 as converters leave them.
func (s Shape) assistantTensors() []tensor {
	a := s.Assistant
	l := &list{shape: s}
	m := func(name string, dims ...int) { l.matrix(name+".weight", quant.F16, dims...) }
	l.add(
		tensor{TensorInfo: info("rope_freqs.weight", quant.F32, s.GlobalHeadDim/2),
			fixed: ropeFactors(s.GlobalHeadDim / 2)})
	if n, _ := s.clusters(); n > 0 {
		l.add(tensor{TensorInfo: info("masked_embd_ordering", gguf.I32, s.Vocab)})
		m("masked_embd_centroids", a.Width, n)
	}
	m("token_embd", a.Width, s.Vocab)
	m("nextn.pre_projection", 2*s.Width, a.Width)
	m("nextn.post_projection", a.Width, s.Width)
	for i := range a.Layers {
		headDim := s.assistantHead(i)
		b := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
		l.norm(b("layer_output_scale"), 1)
		m(b("attn_q"), a.Width, a.Heads*headDim)
		l.headNorm(b("attn_q_norm"), headDim)
		m(b("attn_output"), a.Heads*headDim, a.Width)
		m(b("ffn_gate"), a.Width, a.FeedForward)
		m(b("ffn_up"), a.Width, a.FeedForward)
		m(b("ffn_down"), a.FeedForward, a.Width)
		for _, name := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
			l.norm(b(name), a.Width)
		}
	}
	l.norm("output_norm", a.Width)
	return l.tensors
}

// assistantMetadata is everything of the header but the tokenizer.
func (s Shape) assistantMetadata() []pair {
	a := s.Assistant
	sliding, kvHeads := make([]bool, a.Layers), make([]int32, a.Layers)
	for i := range a.Layers {
		sliding[i], kvHeads[i] = true, int32(s.SlidingKVHeads)
	}
	sliding[a.Layers-1], kvHeads[a.Layers-1] = false, int32(s.GlobalKVHeads)
	const k = "gemma4-assistant."
	pairs := []pair{
		{"general.architecture", "gemma4-assistant"},
		{"general.name", "Random " + s.Name},
		{"general.file_type", uint32(1)}, // F16
		{"general.quantization_version", uint32(2)},
		{k + "block_count", uint32(a.Layers)},
		{k + "nextn_predict_layers", uint32(a.Layers)},
		{k + "context_length", uint32(s.Context)},
		{k + "embedding_length", uint32(a.Width)},
		{k + "embedding_length_out", uint32(s.Width)},
		{k + "embedding_length_per_layer_input", uint32(0)},
		{k + "feed_forward_length", uint32(a.FeedForward)},
		{k + "attention.head_count", uint32(a.Heads)},
		{k + "attention.head_count_kv", oneOrEach(kvHeads)},
		{k + "attention.key_length", uint32(s.GlobalHeadDim)},
		{k + "attention.value_length", uint32(s.GlobalHeadDim)},
		{k + "attention.key_length_swa", uint32(s.SlidingHeadDim)},
		{k + "attention.value_length_swa", uint32(s.SlidingHeadDim)},
		{k + "attention.sliding_window", uint32(s.Window)},
		{k + "attention.sliding_window_pattern", sliding},
		{k + "attention.shared_kv_layers", uint32(a.Layers)},
		{k + "attention.layer_norm_rms_epsilon", float32(normEps)},
		{k + "rope.freq_base", float32(globalRopeTheta)},
		{k + "rope.freq_base_swa", float32(localRopeTheta)},
		{k + "rope.dimension_count", uint32(s.GlobalHeadDim)},
		{k + "rope.dimension_count_swa", uint32(s.SlidingHeadDim)},
	}
	if n, used := s.clusters(); n > 0 {
		pairs = append(pairs, pair{k + "centroid_top_k", uint32(used)})
	}
	return pairs
}

// integers writes a tensor of integers: an order of as many.
func (w *writer) integers(t tensor) error {
	n := int(t.elements())
	raw := make([]byte, 0, 4*n)
	for _, v := range rand.New(rand.NewPCG(w.options.Seed, uint64(n))).Perm(n) {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
	}
	if _, err := w.file.Write(raw); err != nil {
		return err
	}
	return w.report(int64(len(raw)))
}
