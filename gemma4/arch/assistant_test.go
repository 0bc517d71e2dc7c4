package arch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// assistantDraft is an assistant of small(): width 8, layers SG, 3 query heads, its
// metadata below a prefix.
type assistantDraft struct {
	*draft
	prefix string
}

func smallAssistant(prefix string) assistantDraft {
	d := assistantDraft{&draft{values: map[string]any{}}, prefix}
	d.draft.set("general.architecture", prefix)
	d.put("block_count", uint32(2)).put("context_length", uint32(100)).put("embedding_length",
		uint32(8)).put("embedding_length_out", uint32(12))
	d.put("feed_forward_length", uint32(6)).put("attention.head_count", uint32(3)).put("attention.head_count_kv",
		uint32(1))
	d.put("attention.key_length", uint32(6)).put("attention.key_length_swa", uint32(4))
	d.put("attention.layer_norm_rms_epsilon", float32(1e-6)).put("attention.shared_kv_layers", uint32(2))
	d.put("attention.sliding_window", uint32(8)).put("attention.sliding_window_pattern", []bool{true, false})
	d.put("rope.freq_base", float32(1e6)).put("rope.freq_base_swa", float32(1e4))
	d.put("centroid_top_k", uint32(2))

	d.add("rope_freqs.weight", 3)
	d.add("token_embd.weight", 8, 12)
	d.add("output_norm.weight", 8)
	d.add("nextn.pre_projection.weight", 24, 8)
	d.add("nextn.post_projection.weight", 8, 12)
	d.add("masked_embd_centroids.weight", 8, 4)
	d.tensors = append(d.tensors, gguf.TensorInfo{Name: "masked_embd_ordering", Type: gguf.I32, Dims: []uint64{12}})
	for i, headDim := range []uint64{4, 6} {
		for _, norm := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
			d.addBlockTensor(i, norm+".weight", 8)
		}
		d.addBlockTensor(i, "attn_q.weight", 8, 3*headDim)
		d.addBlockTensor(i, "attn_q_norm.weight", headDim)
		d.addBlockTensor(i, "attn_output.weight", 3*headDim, 8)
		d.addBlockTensor(i, "ffn_gate.weight", 8, 6)
		d.addBlockTensor(i, "ffn_up.weight", 8, 6)
		d.addBlockTensor(i, "ffn_down.weight", 6, 8)
		d.addBlockTensor(i, "layer_output_scale.weight", 1)
	}
	return d
}

// smallTarget is small() with 12 tokens, which divide among 4 clusters.
func smallTarget(t testing.TB) *Model {
	t.Helper()
	d := small()
	d.tensor("token_embd.weight").Dims[1] = 12
	d.tensor("per_layer_token_embd.weight").Dims[1] = 12
	m, err := Open(d.file(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// put sets a key below the prefix.
func (d assistantDraft) put(key string, value any) assistantDraft {
	key = d.prefix + "." + key
	if !slices.Contains(d.keys, key) {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
	return d
}

func (d assistantDraft) without(key string) assistantDraft {
	key = d.prefix + "." + key
	d.keys = slices.DeleteFunc(d.keys, func(k string) bool { return k == key })
	return d
}

func TestOpenAssistant(t *testing.T) {
	target := smallTarget(t)
	older := smallAssistant("gemma4_assistant").without("embedding_length_out").put("n_embd_backbone", uint32(12))
	older.rename("nextn.pre_projection.weight", "mtp.pre_projection.weight").rename("nextn.post_projection.weight",
		"mtp.post_projection.weight")
	older.rename("masked_embd_centroids.weight", "mtp.centroids.weight").rename("masked_embd_ordering",
		"mtp.token_ordering.weight")
	fork := smallAssistant("gemma4").put("assistant.type",
		"mtp").without("embedding_length_out").put("assistant.backbone_hidden_size", uint32(12))
	fork.rename("nextn.pre_projection.weight", "assistant.pre_projection.weight").rename("nextn.post_projection.weight",
		"assistant.post_projection.weight")
	fork.remove("rope_freqs.weight")
	for name, d := range map[string]assistantDraft{"today": smallAssistant("gemma4-assistant"), "older": older,
		"a fork's": fork} {
		file := d.file(t)
		a, err := OpenAssistant(file, target)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := answers{
			Sliding: []bool{true, false}, OwnKV: []bool{false, false}, HeadDim: []int{4, 6}, KVHeads: []int{1, 1},
			Donor: []int{1, 2}, // the target's layers 3 and 4 share
			FF:    []int{6, 6}, Theta: []float32{1e4, 1e6},
		}
		if diff := cmp.Diff(want, ask(a.Decoder.Config)); diff != "" {
			t.Errorf("%s: answers (-want +got):\n%s", name, diff)
		}
		if c := a.Decoder.Config; c.LastKVOwner() != -1 || c.Heads != 3 || c.Vocab != 12 {
			t.Errorf("%s: sizes %+v", name, c)
		}
		if k := a.Clusters; k == nil || k.Count() != 4 || k.Size() != 3 || k.Used != 2 {
			t.Errorf("%s: clusters %+v", name, k)
		}
		if a.Decoder.RopeFreqs == nil {
			t.Errorf("%s: no rope factors", name)
		}
		if _, err := Open(file); !errors.Is(err, ErrArchitecture) && name != "a fork's" {
			t.Errorf("%s, opened as a model: %v", name, err)
		}
	}
	if _, err := OpenAssistant(small().file(t), target); !errors.Is(err, ErrAssistant) {
		t.Errorf("a model opened as an assistant: %v", err)
	}
	whole := smallAssistant(AssistantName)
	whole.remove("masked_embd_ordering")
	if a, err := OpenAssistant(whole.file(t), target); err != nil || a.Clusters != nil {
		t.Errorf("without an ordering: %v, clusters %v", err, a)
	}
}

func TestOpenAssistantRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(d assistantDraft)
		want   error
		says   string
	}{
		"a model": {func(d assistantDraft) { d.draft.set("general.architecture", "gemma4") },
			ErrAssistant, "gemma4-assistant"},
		"another width": {func(d assistantDraft) { d.put("embedding_length_out", uint32(16)) },
			ErrAssistant, "16"},
		"projections of another": {func(d assistantDraft) { d.tensor("nextn.pre_projection.weight").Dims[0] = 32 },
			ErrShape, "pre_projection"},
		"no projection": {func(d assistantDraft) { d.remove("nextn.post_projection.weight") },
			ErrMissingTensor, "post_projection"},
		"another vocabulary": {func(d assistantDraft) { d.tensor("token_embd.weight").Dims[1] = 11 },
			ErrAssistant, "11 tokens"},
		"other heads": {func(d assistantDraft) { d.put("attention.key_length_swa", uint32(8)) },
			ErrAssistant, "heads of 8"},
		"another window": {func(d assistantDraft) { d.put("attention.sliding_window", uint32(9)) },
			ErrAssistant, "window of 9"},
		"per-layer embeddings": {func(d assistantDraft) { d.put("embedding_length_per_layer_input", uint32(3)) },
			ErrConfig, "per-layer"},
		"no blocks": {func(d assistantDraft) { d.put("block_count", uint32(0)) }, ErrConfig,
			"block_count"},
		"more blocks than tensors": {func(d assistantDraft) { d.put("block_count", uint32(9000)) }, ErrConfig, "9000"},
		"a layer missing": {func(d assistantDraft) { d.remove("blk.1.ffn_up.weight") }, ErrMissingTensor,
			"blk.1.ffn_up"},
		"clusters that do not part": {func(d assistantDraft) { d.tensor("masked_embd_centroids.weight").Dims[1] = 5 },
			ErrShape, "5 rows"},
		"more clusters than are": {func(d assistantDraft) { d.put("centroid_top_k", uint32(5)) }, ErrConfig,
			"centroid_top_k"},
		"no cluster used": {func(d assistantDraft) { d.put("centroid_top_k", uint32(0)) }, ErrConfig,
			"centroid_top_k"},
		"an ordering too short": {func(d assistantDraft) { d.tensor("masked_embd_ordering").Dims[0] = 11 },
			ErrShape, "masked_embd_ordering"},
		"an ordering of floats": {func(d assistantDraft) { d.tensor("masked_embd_ordering").Type = quant.F32 },
			ErrShape, "masked_embd_ordering"},
		"ε of 0": {func(d assistantDraft) { d.put("attention.layer_norm_rms_epsilon", float32(0)) },
			ErrConfig, "epsilon"},
	}
	target := smallTarget(t)
	for name, c := range tests {
		d := smallAssistant(AssistantName)
		c.change(d)
		_, err := OpenAssistant(d.file(t), target)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, wanted %v that says %q", name, err, c.want, c.says)
		}
	}
}

// A window of one has no room for a key beside the token's own.
func TestAssistantOfNoWindow(t *testing.T) {
	target := smallTarget(t)
	target.Config.SlidingWindow = 1
	_, err := OpenAssistant(smallAssistant(AssistantName).put("attention.sliding_window", uint32(1)).file(t), target)
	if !errors.Is(err, ErrAssistant) || !strings.Contains(fmt.Sprint(err), "no key") {
		t.Errorf("a window of 1: %v", err)
	}
}

// Tokens beyond the vocabulary are refused wherever they stand.
func TestAssistantOrdering(t *testing.T) {
	target := smallTarget(t)
	d := smallAssistant(AssistantName)
	raw := d.bytes(t)
	ordering, _ := d.file(t).Tensor("masked_embd_ordering")
	for _, value := range []byte{12, 200} {
		raw[ordering.Offset+4*11] = value
		if _, err := OpenAssistant(openBytes(t, raw), target); !errors.Is(err, ErrConfig) {
			t.Errorf("token %d of 12: %v", value, err)
		}
	}
	raw[ordering.Offset+4*11] = 11
	if a, err := OpenAssistant(openBytes(t, raw), target); err != nil || a.Clusters.Ordering[11] != 11 {
		t.Errorf("token 11 of 12: %v", err)
	}
	raw[ordering.Offset+4*11+3] = 0x80
	if _, err := OpenAssistant(openBytes(t, raw), target); !errors.Is(err, ErrConfig) {
		t.Errorf("a negative token: %v", err)
	}
}
