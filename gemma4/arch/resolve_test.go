package arch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
)

func open(t *testing.T, d *draft) *Model {
	t.Helper()
	m, err := Open(d.file(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOpen(t *testing.T) {
	m := open(t, small())
	if m.Config.Vocab != 11 || m.Output != m.TokenEmbd || m.Output.Name != "token_embd.weight" {
		t.Errorf("vocabulary %d, output %q", m.Config.Vocab, m.Output.Name)
	}
	for i, l := range m.Layers {
		own := m.Config.HasOwnKV(i)
		if (l.K != nil) != own || (l.V != nil) != own || (l.KNorm != nil) != own || m.Config.KEqualsV(i) ||
			m.Config.IsMoE(i) || l.MoE != nil {
			t.Errorf("layer %d: K %v, V %v, KNorm %v, MoE %v", i, l.K, l.V, l.KNorm, l.MoE)
		}
		if want := fmt.Sprintf("blk.%d.post_ffw_norm.weight", i); l.PostFFWNorm.Name != want {
			t.Errorf("layer %d: post_ffw_norm is %q", i, l.PostFFWNorm.Name)
		}
	}
}

func TestOpenExperts(t *testing.T) {
	m := open(t, mixture())
	if m.Output.Name != "output.weight" || m.PerLayerTokenEmbd != nil {
		t.Errorf("output %q, per-layer embeddings %v", m.Output.Name, m.PerLayerTokenEmbd)
	}
	joined, apart := m.Layers[0].MoE, m.Layers[1].MoE
	if joined.GateUp == nil || joined.Gate != nil || joined.Up != nil {
		t.Errorf("layer 0: %+v, wanted gate and up joined", joined)
	}
	if apart.GateUp != nil || apart.Gate == nil || apart.Up == nil {
		t.Errorf("layer 1: %+v, wanted gate and up apart", apart)
	}
	c := m.Config
	if c.KEqualsV(0) || !c.KEqualsV(1) || !c.IsMoE(0) || !c.IsMoE(1) {
		t.Errorf("K = V: %t %t, wanted false true", c.KEqualsV(0), c.KEqualsV(1))
	}
}

// A layer without a router among layers with experts is a plain one.
func TestPlainLayerAmongExperts(t *testing.T) {
	d := mixture()
	d.tensors = slices.DeleteFunc(d.tensors, func(i gguf.TensorInfo) bool {
		return strings.HasPrefix(i.Name, "blk.0.ffn_gate_inp") || strings.HasPrefix(i.Name, "blk.0.") &&
			strings.Contains(i.Name, "exps")
	})
	if m := open(t, d); m.Config.IsMoE(0) || !m.Config.IsMoE(1) {
		t.Error("wanted a plain layer 0 and experts in layer 1")
	}
	_, err := Open(mixture().set("expert_count", uint32(0)).file(t))
	mentions(t, err, ErrConfig, "gemma4.expert_count")
}

func TestOlderNames(t *testing.T) {
	older := map[string]string{
		"post_attention_norm.weight": "attn_post_norm.weight",
		"ffn_norm.weight":            "ffn_pre_norm.weight",
		"post_ffw_norm.weight":       "ffn_post_norm.weight",
		"pre_ffw_norm_2.weight":      "ffn_pre_norm_2.weight",
		"post_ffw_norm_1.weight":     "ffn_post_norm_1.weight",
		"post_ffw_norm_2.weight":     "ffn_post_norm_2.weight",
		"layer_output_scale.weight":  "layer_scalar.weight",
		"ffn_down_exps.scale":        "ffn_gate_inp.per_expert_scale",
	}
	names := func(m *Model) (names []string) {
		for _, l := range m.Layers {
			for _, t := range []*gguf.Tensor{l.PostAttentionNorm, l.FFNNorm, l.PostFFWNorm, l.MoE.PreNorm,
				l.MoE.PostDenseNorm, l.MoE.PostNorm, l.OutputScale, l.MoE.DownScale} {
				names = append(names, t.Name)
			}
		}
		return names
	}
	d := mixture()
	var want []string
	for i := range 2 {
		for from, to := range older {
			d.rename(fmt.Sprintf("blk.%d.%s", i, from), fmt.Sprintf("blk.%d.%s", i, to))
		}
	}
	for _, name := range names(open(t, mixture())) {
		block, rest := name[:6], name[6:]
		want = append(want, block+older[rest])
	}
	if diff := cmp.Diff(want, names(open(t, d))); diff != "" {
		t.Errorf("tensors (-want +got):\n%s", diff)
	}
}

// Some files carry keys and values that no layer uses; whatever they are, they
// are left alone.
func TestUnusedKeysAndValues(t *testing.T) {
	d := small()
	for _, name := range []string{"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"} {
		d.addBlockTensor(4, name, 3, 2)
	}
	if l := open(t, d).Layers[4]; l.K != nil || l.V != nil || l.KNorm != nil {
		t.Error("a layer that shares another's cache was given its own keys and values")
	}
}

func optional(name string) bool {
	return strings.HasSuffix(name, "layer_output_scale.weight") || name == "output.weight" ||
		strings.HasSuffix(name, "attn_v.weight") || strings.HasSuffix(name, "ffn_gate_inp.weight")
}

func TestEachTensorIsChecked(t *testing.T) {
	for kind, make := range map[string]func() *draft{"small": small, "mixture": mixture} {
		for _, info := range make().tensors {
			_, err := Open(make().remove(info.Name).file(t))
			switch {
			case optional(info.Name) && err != nil:
				t.Errorf("%s without %s: %v", kind, info.Name, err)
			case strings.HasSuffix(info.Name, "ffn_gate_up_exps.weight"):
				mentions(t, err, ErrMissingTensor, "ffn_gate_exps.weight")
			case !optional(info.Name):
				mentions(t, err, ErrMissingTensor, info.Name)
			}

			for axis := range info.Dims {
				if info.Name == "token_embd.weight" && axis == 1 {
					continue // what the vocabulary is, other tensors are told by
				}
				d := make()
				dims := slices.Clone(info.Dims)
				dims[axis]++
				d.tensor(info.Name).Dims = dims
				_, err := Open(d.file(t))
				mentions(t, err, ErrShape, info.Name, fmt.Sprint(dims), fmt.Sprint(info.Dims))
			}
		}
	}
}

func TestVocabularyOfAllTables(t *testing.T) {
	d := small()
	d.tensor("token_embd.weight").Dims = []uint64{12, 10}
	_, err := Open(d.file(t))
	mentions(t, err, ErrShape, "per_layer_token_embd.weight", "[25 11]", "[25 10]")
}

// A file that lost the key for its per-layer embeddings would answer with nothing.
func TestPerLayerEmbeddingsWithoutTheirKey(t *testing.T) {
	d := small()
	d.set("embedding_length_per_layer_input", uint32(0))
	_, err := Open(d.file(t))
	mentions(t, err, ErrConfig, "per_layer_token_embd.weight", "embedding_length_per_layer_input")
}

func TestUnsupportedType(t *testing.T) {
	const name, i32 = "blk.1.ffn_up.weight", quant.Type(26)
	file := small().file(t)
	tensor, _ := file.Tensor(name)
	tensor.Type = i32
	_, err := Open(file)
	mentions(t, err, quant.ErrUnsupported, name, i32.String())
}

// A scale of a whole matrix is not passed over: those of experts are known.
func TestScaledMatrix(t *testing.T) {
	for _, name := range []string{"ffn_gate.scale", "attn_q.weight.scale", "ffn_gate_up_exps.scale"} {
		d := mixture()
		d.addBlockTensor(0, name, 1)
		_, err := Open(d.file(t))
		mentions(t, err, quant.ErrUnsupported, "blk.0."+name)
	}
}

func TestBlockCountBeyondFile(t *testing.T) {
	d := small().set("block_count", uint32(1000)).set("feed_forward_length", uint32(7)).
		set("attention.head_count_kv", uint32(1)).set("attention.sliding_window_pattern", false)
	_, err := Open(d.file(t))
	mentions(t, err, ErrConfig, "gemma4.block_count")
}

func TestConformanceFiles(t *testing.T) {
	want := map[string]string{
		"f32.gguf":       "SSSGssg vocab 2048 P 32",
		"e2b.gguf":       "SSSGssg vocab 2048 P 256",
		"nano/nano.gguf": "SSGssg vocab 2048 P 256",
		"types.gguf":     "SSSSSGssg vocab 2048 P 256",
		"dense.gguf":     "SSSSSG=SSSSSG= vocab 2048 P 0",
		"moe.gguf":       "SeSeSeSeG=e vocab 2048 P 0",
	}
	for name, want := range want {
		f, err := gguf.OpenPath(context.Background(), conformance.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := Open(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := describe(m.Config); got != want {
			t.Errorf("%s is %q, wanted %q", name, got, want)
		}
	}
}

// describe writes S and G for layers, lower-case where they share, = for K = V and
// e for experts.
func describe(c *Config) string {
	var b strings.Builder
	for i := range c.Blocks {
		letter := "G"
		if c.IsSliding(i) {
			letter = "S"
		}
		if !c.HasOwnKV(i) {
			letter = strings.ToLower(letter)
		}
		b.WriteString(letter)
		if c.KEqualsV(i) {
			b.WriteByte('=')
		}
		if c.IsMoE(i) {
			b.WriteByte('e')
		}
	}
	return fmt.Sprintf("%s vocab %d P %d", &b, c.Vocab, c.PerLayerDim)
}
