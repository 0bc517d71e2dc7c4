package arch

import "testing"

// unified drafts the mmproj file of a model without towers, with odd sizes: d = 10; soft
// tokens of 6 × 6 pixels, n = 8, 5 positions along a side; frames of 20 samples.
func unified() *draft {
	d := &draft{values: map[string]any{}, floats: map[string][]float32{}}
	d.set("general.architecture", "clip")
	for _, tower := range []string{"vision", "audio"} {
		d.set("clip."+tower+".block_count", uint32(0)).set("clip."+tower+".attention.head_count", uint32(0))
	}
	d.set("clip.vision.projector_type", "gemma4uv").set("clip.audio.projector_type", "gemma4ua")
	d.set("clip.vision.patch_size", uint32(2)).set("clip.vision.embedding_length", uint32(8))
	d.set("clip.vision.attention.layer_norm_epsilon", float32(1e-6)).set("clip.audio.embedding_length", uint32(20))
	for i, n := range []uint64{108, 8, 8} {
		name := "v.patch_norm." + string(rune('1'+i))
		d.add(name+".weight", n).add(name+".bias", n)
	}
	d.add("v.patch_embd.weight", 108, 8).add("v.patch_embd.bias", 8).add("v.position_embd.weight", 8, 5, 2)
	return d.add("mm.input_projection.weight", 8, 10).add("mm.a.input_projection.weight", 20, 10)
}

func TestUnified(t *testing.T) {
	for name, d := range map[string]*draft{
		"as published":       unified(),
		"with its pool":      unified().set("clip.vision.projector.scale_factor", uint32(3)),
		"without kinds":      unified().drop("clip.vision.projector_type").drop("clip.audio.projector_type"),
		"without patch size": unified().drop("clip.vision.patch_size"),
		"with a convolution": unified().remove("v.patch_embd.weight").add("v.patch_embd.weight", 6, 6, 3, 8),
		"of another patch": unified().set("clip.vision.patch_size", uint32(3)).
			set("clip.vision.projector.scale_factor", uint32(2)),
		"without block counts": unified().drop("clip.vision.block_count").drop("clip.audio.block_count"),
	} {
		t.Run(name, func(t *testing.T) {
			towers := open(t, d)
			if towers.Vision != nil || towers.Audio != nil || !towers.Images() || !towers.Sound() {
				t.Fatalf("%+v", towers)
			}
			p, f := towers.Patches, towers.Frames
			if p.Side != 6 || p.Width != 8 || p.MaxSide != 5 || p.EmbeddingLength != 10 || p.PatchValues() != 108 ||
				p.Eps != 1e-6 || p.PatchEmbd.Bias == nil {
				t.Errorf("%+v", p)
			}
			if f.Samples != 20 || f.EmbeddingLength != 10 || f.Bytes != 4*20*10 {
				t.Errorf("%+v", f)
			}
		})
	}
	only := open(t, unified().remove("mm.a.input_projection.weight").drop("clip.audio.projector_type"))
	if only.Sound() || !only.Images() {
		t.Errorf("%+v", only)
	}
	mentions(t, only.NeedSound(), ErrNoAudio, "mmproj")
	if err := only.NeedImages(); err != nil {
		t.Error(err)
	}
}

func TestUnifiedRefuses(t *testing.T) {
	wantError(t, unified().remove("v.patch_norm.3.bias"), ErrMissingTensor, "v.patch_norm.3.bias")
	wantError(t, unified().remove("v.patch_norm.1.weight"), ErrMissingTensor, "v.patch_norm.1.weight")
	wantError(t, unified().remove("mm.a.input_projection.weight"), ErrMissingTensor, "mm.a.input_projection.weight")
	wantError(t, unified().set("clip.vision.patch_size", uint32(16)), ErrConfig, "clip.vision.patch_size", "6 × 6")
	wantError(t, unified().set("clip.audio.embedding_length", uint32(640)), ErrConfig, "clip.audio.embedding_length")
	d := unified()
	d.tensor("v.patch_norm.1.weight").Dims = []uint64{109}
	wantError(t, d, ErrShape, "v.patch_norm.1.weight")
	d = unified()
	d.tensor("v.position_embd.weight").Dims = []uint64{8, 5, 3}
	wantError(t, d, ErrShape, "v.position_embd.weight")
	d = unified()
	d.tensor("mm.input_projection.weight").Dims = []uint64{9, 10}
	wantError(t, d, ErrShape, "mm.input_projection.weight")
}

func TestUnifiedInputs(t *testing.T) {
	towers := open(t, unified())
	p, f := towers.Patches, towers.Frames
	for _, sides := range [][2]int{{0, 1}, {6, 1}, {1, 6}, {2, 2}} {
		mentions(t, p.CheckImage(108, sides[0], sides[1]), ErrInput)
	}
	if err := p.CheckImage(108*10, 5, 2); err != nil {
		t.Error(err)
	}
	for _, frames := range []int{0, 2, MaxClipFrames + 1} {
		mentions(t, f.CheckClip(20, frames), ErrInput)
	}
	planes := p.Planes([]float32{0: 1, 1: 2, 2: 3, 3: 4, 107: 5})
	if planes[0] != 1 || planes[36] != 2 || planes[72] != 3 || planes[1] != 4 || planes[107] != 5 {
		t.Error(planes)
	}
}
