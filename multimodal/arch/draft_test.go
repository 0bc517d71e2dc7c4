package arch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
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
	floats  map[string][]float32 // of tensors whose values are not all 0
}

func (d *draft) set(key string, value any) *draft {
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
	return d
}

func (d *draft) drop(key string) *draft {
	d.keys = slices.DeleteFunc(d.keys, func(k string) bool { return k == key })
	delete(d.values, key)
	return d
}

func (d *draft) add(name string, dims ...uint64) *draft {
	d.tensors = append(d.tensors, gguf.TensorInfo{Name: name, Type: quant.F32, Dims: dims})
	return d
}

// fill adds a vector with values.
func (d *draft) fill(name string, values ...float32) *draft {
	d.floats[name] = values
	return d.add(name, uint64(len(values)))
}

func (d *draft) tensor(name string) *gguf.TensorInfo {
	i := slices.IndexFunc(d.tensors, func(t gguf.TensorInfo) bool { return t.Name == name })
	if i < 0 {
		panic("no tensor " + name)
	}
	return &d.tensors[i]
}

func (d *draft) remove(name string) *draft {
	d.tensors = slices.DeleteFunc(d.tensors, func(t gguf.TensorInfo) bool { return t.Name == name })
	return d
}

func (d *draft) rename(from, to string) *draft {
	d.tensor(from).Name = to
	return d
}

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
		if err := w.WriteTensor(info.Name, d.data(t, info)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (d *draft) data(t testing.TB, info gguf.TensorInfo) []byte {
	n := int64(1)
	for _, dim := range info.Dims {
		n *= int64(dim)
	}
	size, err := info.Type.Size(n)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	for i, v := range d.floats[info.Name] {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
	return data
}

func (d *draft) file(t testing.TB) *gguf.File {
	t.Helper()
	f, err := gguf.Open(context.Background(), gguf.Memory(d.bytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// small drafts a one-file model's towers with odd sizes: d = 10; an image tower
// of 2 blocks, n = 24, 3 heads, patches of 2 × 2; an audio tower of 2 blocks, n =
// 6, 3 heads, 5 and 3 channels, 3 taps.
func small() *draft {
	d := &draft{values: map[string]any{}, floats: map[string][]float32{}}
	d.set("general.architecture", "gemma4")
	d.addVision("gemma4.vision.")
	d.addAudio("gemma4.audio.")
	return d
}

func (d *draft) addVision(prefix string) {
	d.set(prefix+"block_count", uint32(2)).set(prefix+"embedding_length", uint32(24))
	d.set(prefix+"attention.head_count", uint32(3)).set(prefix+"feed_forward_length", uint32(7))
	d.set(prefix+"patch_size", uint32(2)).set(prefix+"num_channels", uint32(3))
	d.set(prefix+"projector.scale_factor", uint32(2))
	d.set(prefix+"attention.layer_norm_epsilon", float32(1e-5))

	d.add("v.patch_embd.weight", 2, 2, 3, 24)
	d.add("v.position_embd.weight", 24, 9, 2)
	for i := range 2 {
		blk := fmt.Sprintf("v.blk.%d.", i)
		for _, name := range []string{"ln1", "ln2", "attn_post_norm", "ffn_post_norm"} {
			d.add(blk+name+".weight", 24)
		}
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
			d.add(blk+name+".weight", 24, 24)
		}
		d.add(blk+"attn_q_norm.weight", 8).add(blk+"attn_k_norm.weight", 8)
		d.add(blk+"ffn_gate.weight", 24, 7).add(blk+"ffn_up.weight", 24, 7).add(blk+"ffn_down.weight", 7, 24)
		d.add(blk+"out_scale.weight", 1)
	}
	d.add("v.std_bias", 24).add("v.std_scale", 24)
	d.add("mm.input_projection.weight", 24, 10)
}

func (d *draft) addAudio(prefix string) {
	d.set(prefix+"block_count", uint32(2)).set(prefix+"embedding_length", uint32(6))
	d.set(prefix+"attention.head_count", uint32(3)).set(prefix+"feed_forward_length", uint32(11))
	d.set(prefix+"conv_kernel_size", uint32(3))
	d.set(prefix+"attention.layer_norm_epsilon", float32(1e-5))

	d.add("a.conv1d.0.weight", 3, 3, 1, 5).add("a.conv1d.0.norm.weight", 5)
	d.add("a.conv1d.1.weight", 3, 3, 5, 3).add("a.conv1d.1.norm.weight", 3)
	d.add("a.pre_encode.out.weight", 3*32, 6)
	for i := range 2 {
		blk := fmt.Sprintf("a.blk.%d.", i)
		for _, name := range []string{"ffn_norm", "ffn_post_norm", "ffn_norm_1", "ffn_post_norm_1", "ln1", "ln2",
			"layer_pre_norm", "conv_norm", "norm_conv"} {
			d.add(blk+name+".weight", 6)
		}
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out", "linear_pos", "conv_pw2"} {
			d.add(blk+name+".weight", 6, 6)
		}
		d.add(blk+"ffn_up.weight", 6, 11).add(blk+"ffn_down.weight", 11, 6)
		d.add(blk+"ffn_up_1.weight", 6, 11).add(blk+"ffn_down_1.weight", 11, 6)
		d.add(blk+"per_dim_scale.weight", 2)
		d.add(blk+"conv_pw1.weight", 6, 12).add(blk+"conv_dw.weight", 3, 6)
	}
	d.add("mm.a.fc.weight", 6, 4).add("mm.a.fc.bias", 4)
	d.add("mm.a.input_projection.weight", 4, 10)
}

// mmproj drafts the same towers as an mmproj file that llama.cpp's converter
// writes.
func mmproj() *draft {
	d := &draft{values: map[string]any{}, floats: map[string][]float32{}}
	d.set("general.architecture", "clip").set("clip.has_vision_encoder", true).set("clip.has_audio_encoder", true)
	d.set("clip.vision.projector_type", "gemma4v").set("clip.audio.projector_type", "gemma4a")
	d.addVision("clip.vision.")
	d.addAudio("clip.audio.")
	d.drop("clip.vision.num_channels").set("clip.audio.num_mel_bins", uint32(128))
	d.rename("a.pre_encode.out.weight", "a.input_projection.weight")
	d.rename("mm.a.fc.weight", "a.pre_encode.out.weight").rename("mm.a.fc.bias", "a.pre_encode.out.bias")
	for i := range 2 {
		blk := fmt.Sprintf("a.blk.%d.", i)
		d.rename(blk+"ln1.weight", blk+"attn_pre_norm.weight").rename(blk+"ln2.weight", blk+"attn_post_norm.weight")
		d.rename(blk+"layer_pre_norm.weight", blk+"ln2.weight").rename(blk+"linear_pos.weight", blk+"attn_k_rel.weight")
	}
	return d
}
