package arch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
)

func open(t *testing.T, d *draft) *Towers {
	t.Helper()
	towers, err := Open(d.file(t), 10)
	if err != nil {
		t.Fatal(err)
	}
	return towers
}

// wantError checks that Open refuses a draft with an error that wraps want and
// mentions all of the words.
func wantError(t *testing.T, d *draft, want error, words ...string) {
	t.Helper()
	_, err := Open(d.file(t), 10)
	mentions(t, err, want, words...)
}

func mentions(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v: got %v, wanted %v", words, err, want)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not mention %q", err, w)
		}
	}
}

func TestOpen(t *testing.T) {
	towers := open(t, small())
	v, a := towers.Vision, towers.Audio
	got := []int{v.Blocks, v.Width, v.Heads, v.FeedForward, v.PatchSize, v.Pool, v.MaxSide, v.EmbeddingLength,
		v.HeadDim(), v.PatchValues(), v.MaxPatches(), len(v.Layers)}
	if diff := cmp.Diff([]int{2, 24, 3, 7, 2, 2, 9, 10, 8, 12, 4480, 2}, got); diff != "" {
		t.Errorf("the image tower's sizes (-want +got):\n%s", diff)
	}
	got = []int{a.Blocks, a.Width, a.Heads, a.FeedForward, a.Kernel, a.OutputWidth, a.EmbeddingLength, a.HeadDim(),
		a.Conv[0].In, a.Conv[0].Out, a.Conv[1].In, a.Conv[1].Out, len(a.Layers)}
	if diff := cmp.Diff([]int{2, 6, 3, 11, 3, 4, 10, 2, 1, 5, 5, 3, 2}, got); diff != "" {
		t.Errorf("the audio tower's sizes (-want +got):\n%s", diff)
	}
	if v.Eps != 1e-5 || a.Eps != 1e-5 || v.StdBias == nil || v.Layers[1].OutputScale == nil || a.Output.Bias == nil {
		t.Errorf("%+v\n%+v", v, a)
	}
}

func TestWidthOfSoftTokens(t *testing.T) {
	towers, err := Open(small().file(t), 0)
	if err != nil || towers.Vision.EmbeddingLength != 10 || towers.Audio.EmbeddingLength != 10 {
		t.Errorf("without the text model's width: %+v, %v", towers, err)
	}
	_, err = Open(small().file(t), 12)
	mentions(t, err, ErrShape, "mm.input_projection.weight", "[24 10]", "[24 12]")
	_, err = Open(small().file(t), -1)
	mentions(t, err, ErrConfig)
}

// names lists the tensors of a value's exported fields, however deep.
func names(t *Towers) []string {
	var list []string
	add := func(tensors ...*gguf.Tensor) {
		for _, t := range tensors {
			list = append(list, t.Name)
		}
	}
	for _, l := range t.Audio.Layers {
		add(l.FFN1.Norm, l.FFN1.Up.Weight, l.FFN1.Down.Weight, l.FFN1.PostNorm)
		add(l.AttnNorm, l.LinearPos, l.PerDimScale, l.AttnPostNorm)
		add(l.ConvNorm, l.ConvIn.Weight, l.Depthwise, l.ConvPostNorm, l.ConvOut.Weight)
		add(l.FFN2.Norm, l.FFN2.Up.Weight, l.FFN2.Down.Weight, l.FFN2.PostNorm, l.Norm)
	}
	a := t.Audio
	add(a.Conv[0].Weight, a.Conv[1].Norm, a.Input.Weight, a.Output.Weight, a.Output.Bias, a.Projection.Weight)
	return list
}

// The two converters give the same part two names, and two parts the same name.
func TestNamesOfBothConverters(t *testing.T) {
	block := []string{"ffn_norm", "ffn_up", "ffn_down", "ffn_post_norm", "ln1", "linear_pos", "per_dim_scale", "ln2",
		"conv_norm", "conv_pw1", "conv_dw", "norm_conv", "conv_pw2", "ffn_norm_1", "ffn_up_1", "ffn_down_1",
		"ffn_post_norm_1", "layer_pre_norm"}
	ends := []string{"a.conv1d.0.weight", "a.conv1d.1.norm.weight", "a.pre_encode.out.weight", "mm.a.fc.weight",
		"mm.a.fc.bias", "mm.a.input_projection.weight"}
	other := map[string]string{"ln1": "attn_pre_norm", "linear_pos": "attn_k_rel", "ln2": "attn_post_norm",
		"layer_pre_norm":          "ln2",
		"a.pre_encode.out.weight": "a.input_projection.weight", "mm.a.fc.weight": "a.pre_encode.out.weight",
		"mm.a.fc.bias": "a.pre_encode.out.bias"}
	var one, two []string
	rename := func(name string) string {
		if to, ok := other[name]; ok {
			return to
		}
		return name
	}
	for i := range 2 {
		for _, name := range block {
			one = append(one, fmt.Sprintf("a.blk.%d.%s.weight", i, name))
			two = append(two, fmt.Sprintf("a.blk.%d.%s.weight", i, rename(name)))
		}
	}
	for _, name := range ends {
		one, two = append(one, name), append(two, rename(name))
	}
	if diff := cmp.Diff(one, names(open(t, small()))); diff != "" {
		t.Errorf("Ollama's names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(two, names(open(t, mmproj()))); diff != "" {
		t.Errorf("llama.cpp's names (-want +got):\n%s", diff)
	}
}

func TestAbsentTowers(t *testing.T) {
	without := func(prefixes ...string) *Towers {
		d := small()
		d.tensors = slices.DeleteFunc(d.tensors, func(i gguf.TensorInfo) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(i.Name, p) })
		})
		return open(t, d)
	}
	for _, towers := range []*Towers{nil, {}, without("v.", "a.")} {
		_, err := towers.NeedVision()
		mentions(t, err, ErrNoVision, "mmproj")
		_, err = towers.NeedAudio()
		mentions(t, err, ErrNoAudio, "mmproj")
	}
	if towers := without("v."); towers.Vision != nil || towers.Audio == nil {
		t.Errorf("without an image tower: %+v", towers)
	}
	towers := without("a.")
	if v, err := towers.NeedVision(); v != towers.Vision || v == nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if a, err := open(t, small()).NeedAudio(); a == nil || err != nil {
		t.Errorf("%v, %v", a, err)
	}
}

// A text model and its mmproj file, joined, are as good as one file.
func TestJoinedFiles(t *testing.T) {
	text := &draft{values: map[string]any{}, floats: map[string][]float32{}}
	text.set("general.architecture", "gemma4").add("token_embd.weight", 10, 3)
	file := text.file(t)
	if err := file.Join(mmproj().file(t)); err != nil {
		t.Fatal(err)
	}
	towers, err := Open(file, 10)
	if err != nil || towers.Vision == nil || towers.Audio == nil {
		t.Errorf("%+v, %v", towers, err)
	}
}

func optional(name string) bool {
	return strings.HasSuffix(name, "out_scale.weight") || strings.HasSuffix(name, ".bias")
}

func TestEachTensorIsChecked(t *testing.T) {
	for form, make := range map[string]func() *draft{"one file": small, "mmproj": mmproj} {
		for _, info := range make().tensors {
			_, err := Open(make().remove(info.Name).file(t), 10)
			switch {
			case optional(info.Name) && err != nil:
				t.Errorf("%s without %s: %v", form, info.Name, err)
			case info.Name == "a.input_projection.weight": // by which llama.cpp's names are known
				mentions(t, err, ErrShape, "a.pre_encode.out.weight")
			case !optional(info.Name):
				mentions(t, err, ErrMissingTensor, strings.TrimSuffix(info.Name, ".weight"))
			}

			for axis := range info.Dims {
				d := make()
				dims := slices.Clone(info.Dims)
				dims[axis]++
				d.tensor(info.Name).Dims = dims
				if _, err := Open(d.file(t), 10); err == nil {
					if info.Name != "v.position_embd.weight" || axis != 1 { // what says how long a side may be
						t.Errorf("%s: %s as %v is taken", form, info.Name, dims)
					}
				} else if !errors.Is(err, ErrShape) && !errors.Is(err, ErrConfig) {
					t.Errorf("%s: %s as %v: %v", form, info.Name, dims, err)
				}
			}
		}
	}
}

func TestUnsupportedType(t *testing.T) {
	const name, i32 = "a.blk.1.ffn_up.weight", quant.Type(26)
	file := small().file(t)
	tensor, _ := file.Tensor(name)
	tensor.Type = i32
	_, err := Open(file, 10)
	mentions(t, err, quant.ErrUnsupported, name, i32.String())
}

func TestConformanceFiles(t *testing.T) {
	text, mmproj := conformance.NanoInTwo(t)
	both, vision := "v 2x64 side 128 to 256, a 2x64 over 96 to 256", "v 2x64 side 128 to 256"
	want := map[string]string{
		conformance.Path(t, "nano/nano.gguf"): "v 3x128 side 512 to 256, a 3x128 over 256 to 256",
		mmproj:                                "v 3x128 side 512 to 256, a 3x128 over 256 to 256",
		text:                                  "",
		conformance.Path(t, "f32.gguf"):       "",
		conformance.Path(t, "e2b.gguf"):       both,
		conformance.Path(t, "types.gguf"):     both,
		conformance.Path(t, "dense.gguf"):     vision,
		conformance.Path(t, "moe.gguf"):       vision,
	}
	for path, want := range want {
		f, err := gguf.OpenPath(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		towers, err := Open(f, 0)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got := describe(towers); got != want {
			t.Errorf("%s is %q, wanted %q", path, got, want)
		}
	}
}

func describe(t *Towers) string {
	var parts []string
	if v := t.Vision; v != nil {
		parts = append(parts, fmt.Sprintf("v %dx%d side %d to %d", v.Blocks, v.Width, v.MaxSide, v.EmbeddingLength))
	}
	if a := t.Audio; a != nil {
		parts = append(parts, fmt.Sprintf("a %dx%d over %d to %d", a.Blocks, a.Width, a.OutputWidth, a.EmbeddingLength))
	}
	return strings.Join(parts, ", ")
}

func TestAudioTokens(t *testing.T) {
	for frames, want := range map[int]int{1: 1, 4: 1, 5: 2, 99: 25, 100: 25, 101: 26, 3000: 750} {
		if got := AudioTokens(frames); got != want {
			t.Errorf("%d frames make %d soft tokens, wanted %d", frames, got, want)
		}
	}
}
