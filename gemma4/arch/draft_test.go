package arch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// draft is a file to be, which a test changes before it is written.
type draft struct {
	keys    []string
	values  map[string]any
	tensors []gguf.TensorInfo
}

func (d *draft) set(key string, value any) *draft {
	if key != "general.architecture" {
		key = Name + "." + key
	}
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
	return d
}

func (d *draft) drop(key string) *draft {
	key = Name + "." + key
	d.keys = slices.DeleteFunc(d.keys, func(k string) bool { return k == key })
	delete(d.values, key)
	return d
}

func (d *draft) add(name string, dims ...uint64) {
	d.tensors = append(d.tensors, gguf.TensorInfo{Name: name, Type: quant.F32, Dims: dims})
}

func (d *draft) index(name string) int {
	i := slices.IndexFunc(d.tensors, func(t gguf.TensorInfo) bool { return t.Name == name })
	if i < 0 {
		panic("no tensor " + name)
	}
	return i
}

func (d *draft) tensor(name string) *gguf.TensorInfo { return &d.tensors[d.index(name)] }

func (d *draft) remove(name string) *draft {
	i := d.index(name)
	d.tensors = slices.Delete(d.tensors, i, i+1)
	return d
}

func (d *draft) rename(from, to string) *draft {
	d.tensor(from).Name = to
	return d
}

// bytes writes the file, all of whose weights are 0.
func (d *draft) bytes(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	for _, k := range d.keys {
		if err := w.Set(k, d.values[k]); err != nil {
			t.Fatal(err)
		}
	}
	for _, info := range d.tensors {
		if err := w.Add(info); err != nil {
			t.Fatal(err)
		}
	}
	for _, info := range d.tensors {
		n := int64(1)
		for _, dim := range info.Dims {
			n *= int64(dim)
		}
		size, err := info.Type.Size(n)
		if info.Type == gguf.I32 {
			size, err = 4*n, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteTensor(info.Name, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (d *draft) file(t testing.TB) *gguf.File {
	t.Helper()
	f, err := gguf.Open(context.Background(), gguf.Memory(d.bytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// small drafts a model of the E kind with odd sizes: 5 layers SSGSG, of which the
// last two share, 3 query heads, P = 5.
func small() *draft {
	d := &draft{values: map[string]any{}}
	d.set("general.architecture", Name)
	d.set("block_count", uint32(5)).set("context_length", uint32(100)).set("embedding_length", uint32(12))
	d.set("feed_forward_length", []int32{7, 7, 7, 9, 9})
	d.set("attention.head_count", uint32(3)).set("attention.head_count_kv", []uint32{3, 1, 1, 1, 1})
	d.set("attention.key_length", uint32(6)).set("attention.value_length", uint32(6))
	d.set("attention.key_length_swa", uint32(4)).set("attention.value_length_swa", uint32(4))
	d.set("attention.layer_norm_rms_epsilon", float32(1e-6))
	d.set("attention.sliding_window", uint32(8))
	d.set("attention.sliding_window_pattern", []bool{true, true, false, true, false})
	d.set("attention.shared_kv_layers", uint32(2))
	d.set("rope.freq_base", float32(1e6)).set("rope.freq_base_swa", float32(1e4))
	d.set("rope.dimension_count", uint32(6)).set("rope.dimension_count_swa", uint32(4))
	d.set("final_logit_softcapping", float32(30)).set("embedding_length_per_layer_input", uint32(5))

	d.add("token_embd.weight", 12, 11)
	d.add("output_norm.weight", 12)
	d.add("rope_freqs.weight", 3)
	d.add("per_layer_token_embd.weight", 25, 11)
	d.add("per_layer_model_proj.weight", 12, 25)
	d.add("per_layer_proj_norm.weight", 5)
	for i := range 5 {
		headDim, kvHeads, ff := uint64(4), uint64(1), uint64(7)
		if i == 2 || i == 4 {
			headDim = 6
		}
		if i == 0 {
			kvHeads = 3
		}
		if i >= 3 {
			ff = 9
		}
		d.addBlock(i, headDim, ff)
		if i < 3 {
			d.addBlockTensor(i, "attn_k.weight", 12, kvHeads*headDim)
			d.addBlockTensor(i, "attn_v.weight", 12, kvHeads*headDim)
			d.addBlockTensor(i, "attn_k_norm.weight", headDim)
		}
		d.addBlockTensor(i, "inp_gate.weight", 12, 5)
		d.addBlockTensor(i, "proj.weight", 5, 12)
		d.addBlockTensor(i, "post_norm.weight", 12)
	}
	return d
}

func (d *draft) addBlockTensor(i int, name string, dims ...uint64) {
	d.add(fmt.Sprintf("blk.%d.%s", i, name), dims...)
}

// addBlock adds what every layer has, for d = 12 and 3 heads.
func (d *draft) addBlock(i int, headDim, ff uint64) {
	for _, norm := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
		d.addBlockTensor(i, norm+".weight", 12)
	}
	d.addBlockTensor(i, "attn_q.weight", 12, 3*headDim)
	d.addBlockTensor(i, "attn_q_norm.weight", headDim)
	d.addBlockTensor(i, "attn_output.weight", 3*headDim, 12)
	d.addBlockTensor(i, "ffn_gate.weight", 12, ff)
	d.addBlockTensor(i, "ffn_up.weight", 12, ff)
	d.addBlockTensor(i, "ffn_down.weight", ff, 12)
	d.addBlockTensor(i, "layer_output_scale.weight", 1)
}

// mixture drafts a model of the 26B's kind: layers SG, K = V on the global one,
// 5 experts of width 3, joined in layer 0 and apart in layer 1.
func mixture() *draft {
	d := small()
	d.tensors = nil
	d.set("block_count", uint32(2)).set("feed_forward_length", uint32(7)).set("attention.head_count_kv", uint32(1))
	d.set("attention.sliding_window_pattern", []bool{true, false})
	d.set("attention.shared_kv_layers", uint32(0)).set("embedding_length_per_layer_input", uint32(0))
	d.set("expert_count", uint32(5)).set("expert_used_count", uint32(2)).set("expert_feed_forward_length", uint32(3))
	d.add("token_embd.weight", 12, 11)
	d.add("output.weight", 12, 11)
	d.add("output_norm.weight", 12)
	d.add("rope_freqs.weight", 3)
	for i, headDim := range []uint64{4, 6} {
		d.addBlock(i, headDim, 7)
		d.addBlockTensor(i, "attn_k.weight", 12, headDim)
		d.addBlockTensor(i, "attn_k_norm.weight", headDim)
		d.addBlockTensor(i, "ffn_gate_inp.weight", 12, 5)
		d.addBlockTensor(i, "ffn_gate_inp.scale", 12)
		d.addBlockTensor(i, "ffn_down_exps.weight", 3, 12, 5)
		d.addBlockTensor(i, "ffn_down_exps.scale", 5)
		for _, norm := range []string{"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"} {
			d.addBlockTensor(i, norm+".weight", 12)
		}
	}
	d.addBlockTensor(0, "attn_v.weight", 12, 4)
	d.addBlockTensor(0, "ffn_gate_up_exps.weight", 12, 6, 5)
	d.addBlockTensor(1, "ffn_gate_exps.weight", 12, 3, 5)
	d.addBlockTensor(1, "ffn_up_exps.weight", 12, 3, 5)
	return d
}
