package arch

import (
	"math"
	"testing"

	"github.com/gemwire/gemwire/gguf"
)

func TestMissingKeys(t *testing.T) {
	for _, key := range []string{"block_count", "embedding_length", "attention.head_count", "feed_forward_length"} {
		wantError(t, small().drop("gemma4.vision."+key), gguf.ErrMissingKey, "image tower", "gemma4.vision."+key)
		wantError(t, small().drop("gemma4.audio."+key), gguf.ErrMissingKey, "audio tower", "gemma4.audio."+key)
		if key != "block_count" { // by which the form of the keys is known
			wantError(t, mmproj().drop("clip.vision."+key), gguf.ErrMissingKey, "clip.vision."+key)
		}
	}
}

func TestDefaults(t *testing.T) {
	d := small().drop("gemma4.vision.patch_size").drop("gemma4.vision.num_channels").
		drop("gemma4.vision.projector.scale_factor")
	d.drop("gemma4.vision.attention.layer_norm_epsilon").drop("gemma4.audio.attention.layer_norm_epsilon")
	d.drop("gemma4.audio.conv_kernel_size")
	for _, name := range []string{"a.blk.0.conv_dw.weight", "a.blk.1.conv_dw.weight"} {
		d.tensor(name).Dims[0] = 5
	}
	towers := open(t, d)
	v, a := towers.Vision, towers.Audio
	if v.PatchSize != 2 || v.Pool != 3 || v.Eps != 1e-6 || a.Eps != 1e-6 || a.Kernel != 5 {
		t.Errorf("%+v\n%+v", v, a)
	}
}

func TestUnusableValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		key   string
		value any
		want  error
	}{
		{"vision.block_count", uint32(0), ErrConfig},
		{"vision.block_count", uint32(3), ErrMissingTensor},
		{"vision.block_count", uint32(1000), ErrConfig},
		{"vision.block_count", uint32(math.MaxUint32), ErrConfig},
		{"vision.block_count", "two", gguf.ErrWrongType},
		{"vision.block_count", int32(-2), gguf.ErrWrongType},
		{"vision.embedding_length", uint32(0), ErrConfig},
		{"vision.embedding_length", uint32(1 << 31), ErrConfig},
		{"vision.embedding_length", uint32(48), ErrShape},
		{"vision.attention.head_count", uint32(0), ErrConfig},
		{"vision.attention.head_count", uint32(5), ErrConfig},
		{"vision.attention.head_count", uint32(4), ErrConfig}, // heads of 6, whose halves cannot be paired
		{"vision.attention.head_count", uint32(math.MaxUint32), ErrConfig},
		{"vision.feed_forward_length", uint32(0), ErrConfig},
		{"vision.feed_forward_length", uint32(1 << 24), ErrShape},
		{"vision.patch_size", uint32(3), ErrConfig},
		{"vision.num_channels", uint32(4), ErrConfig},
		{"vision.projector.scale_factor", uint32(0), ErrConfig},
		{"vision.projector.scale_factor", uint32(9), ErrConfig},
		{"vision.projector.scale_factor", uint32(1 << 20), ErrConfig},
		{"vision.attention.layer_norm_epsilon", float32(0), ErrConfig},
		{"vision.attention.layer_norm_epsilon", nan, ErrConfig},
		{"vision.attention.layer_norm_epsilon", inf, ErrConfig},
		{"vision.attention.layer_norm_epsilon", "small", gguf.ErrWrongType},
		{"audio.block_count", uint32(0), ErrConfig},
		{"audio.block_count", uint64(1 << 40), gguf.ErrWrongType},
		{"audio.embedding_length", uint32(3), ErrConfig},
		{"audio.attention.head_count", uint32(4), ErrConfig},
		{"audio.feed_forward_length", uint32(12), ErrShape},
		{"audio.conv_kernel_size", uint32(0), ErrConfig},
		{"audio.conv_kernel_size", uint32(4), ErrShape},
		{"audio.num_mel_bins", uint32(80), ErrConfig},
		{"audio.attention.layer_norm_epsilon", float32(-1), ErrConfig},
	}
	for _, tt := range tests {
		words := []string{"gemma4." + tt.key}
		if tt.want == ErrShape || tt.want == ErrMissingTensor {
			words = nil // it is a tensor that is named
		}
		wantError(t, small().set("gemma4."+tt.key, tt.value), tt.want, words...)
	}
}

func TestOddWidthOfAudio(t *testing.T) {
	wantError(t, small().set("gemma4.audio.embedding_length", uint32(9)), ErrConfig, "gemma4.audio.embedding_length")
}

func TestOtherProjectors(t *testing.T) {
	wantError(t, mmproj().set("clip.vision.projector_type", "gemma3"), ErrConfig, "clip.vision.projector_type",
		"gemma3", "gemma4v")
	wantError(t, mmproj().set("clip.audio.projector_type", "ultravox"), ErrConfig, "clip.audio.projector_type",
		"ultravox", "gemma4a")
	// A file with towers that says it has none.
	wantError(t, mmproj().set("clip.vision.projector_type", "gemma4uv"), ErrConfig, "clip.vision.block_count")
	wantError(t, mmproj().set("clip.audio.projector_type", "gemma4ua"), ErrConfig, "clip.audio.block_count")
	wantError(t, mmproj().set("clip.audio.projector_type", uint32(4)), gguf.ErrWrongType, "clip.audio.projector_type")
}

func TestPixelsOfSoftToken(t *testing.T) {
	d := small().set("gemma4.vision.projector.scale_factor", uint32(8)).set("gemma4.vision.patch_size", uint32(17))
	d.tensor("v.patch_embd.weight").Dims = []uint64{17, 17, 3, 24}
	wantError(t, d, ErrConfig, "gemma4.vision.projector.scale_factor", "136 × 136 pixels")
}
