package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// kinds are the architectures of config.json, and those of the files made of them.
var kinds = map[string]string{
	"Gemma4ForConditionalGeneration": "gemma4", "Gemma4ForCausalLM": "gemma4",
	"Gemma4UnifiedForConditionalGeneration": "gemma4", "Gemma4UnifiedForCausalLM": "gemma4",
	"Gemma4AssistantForCausalLM": "gemma4-assistant", "Gemma4UnifiedAssistantForCausalLM": "gemma4-assistant",
	"EmbeddingGemma2Model": "gemma-embedding2",
}

// Architecture is what the text model's file will be of.
func (f *Folder) Architecture() (string, error) {
	names := f.config.texts("architectures")
	for _, n := range names {
		if k, ok := kinds[n]; ok {
			return k, nil
		}
	}
	return "", fmt.Errorf("config.json is of the architecture %q: %w", names, ErrConfig)
}

// text is the text model's part of the configuration.
func (f *Folder) text() fields {
	if t := f.config.object("text_config"); t != nil {
		return t
	}
	return f.config
}

// pairs are keys with values, in the order of the file.
type pairs struct {
	keys   []string
	values map[string]any
}

func (p *pairs) set(key string, value any) {
	if p.values == nil {
		p.values = map[string]any{}
	}
	if _, there := p.values[key]; !there {
		p.keys = append(p.keys, key)
	}
	p.values[key] = value
}

// textMetadata has the sizes of the text model.
func (f *Folder) textMetadata(p *pairs, arch string) error {
	c := f.text()
	layers := c.integer("num_hidden_layers")
	kinds := c.texts("layer_types")
	if layers < 1 || len(kinds) != layers {
		return fmt.Errorf("config.json has %d layers and %d layer_types: %w", layers, len(kinds), ErrConfig)
	}
	for _, key := range []string{"hidden_size", "intermediate_size", "num_attention_heads", "head_dim"} {
		if c.integer(key) < 1 {
			return fmt.Errorf("config.json lacks %s: %w", key, ErrConfig)
		}
	}
	s := sizes{c: c, layers: layers, kinds: kinds}
	k := func(key string) string { return arch + "." + key }
	p.set("general.architecture", arch)
	p.set("general.type", "model")
	p.set("general.name", filepath.Base(filepath.Clean(f.Path)))
	p.set(k("block_count"), uint32(layers))
	p.set(k("context_length"), uint32(max(c.integer("max_position_embeddings"), 1)))
	p.set(k("embedding_length"), uint32(c.integer("hidden_size")))
	p.set(k("feed_forward_length"), s.feedForward())
	p.set(k("attention.head_count"), uint32(c.integer("num_attention_heads")))
	p.set(k("attention.head_count_kv"), s.keyHeads())
	local, global := uint32(c.integer("head_dim")), uint32(s.globalHead())
	p.set(k("attention.key_length"), global)
	p.set(k("attention.value_length"), global)
	p.set(k("attention.key_length_swa"), local)
	p.set(k("attention.value_length_swa"), local)
	p.set(k("attention.sliding_window"), uint32(c.integer("sliding_window")))
	p.set(k("attention.shared_kv_layers"), uint32(c.integer("num_kv_shared_layers")))
	p.set(k("attention.layer_norm_rms_epsilon"), float32(c.float("rms_norm_eps")))
	p.set(k("attention.sliding_window_pattern"), s.sliding())
	rope := c.object("rope_parameters")
	p.set(k("rope.freq_base"), float32(rope.object("full_attention").float("rope_theta")))
	p.set(k("rope.freq_base_swa"), float32(rope.object("sliding_attention").float("rope_theta")))
	p.set(k("rope.dimension_count"), global)
	p.set(k("rope.dimension_count_swa"), local)
	p.set(k("embedding_length_per_layer_input"), uint32(c.integer("hidden_size_per_layer_input")))
	if v := c.float("final_logit_softcapping"); v > 0 {
		p.set(k("final_logit_softcapping"), float32(v))
	}
	if n := c.integer("num_experts"); n > 0 && c.flag("enable_moe_block") {
		p.set(k("expert_count"), uint32(n))
		p.set(k("expert_used_count"), uint32(c.integer("top_k_experts")))
		p.set(k("expert_feed_forward_length"), uint32(c.integer("moe_intermediate_size")))
	}
	f.special(p, arch, k)
	return nil
}

// special are the keys of assistants and of embedding models.
func (f *Folder) special(p *pairs, arch string, k func(string) string) {
	c := f.text()
	switch arch {
	case "gemma4-assistant":
		p.set(k("embedding_length_out"), uint32(f.config.integer("backbone_hidden_size")))
		p.set(k("nextn_predict_layers"), uint32(c.integer("num_hidden_layers")))
		if f.config.flag("use_ordered_embeddings") {
			p.set(k("n_centroids"), uint32(f.config.integer("num_centroids")))
			p.set(k("centroid_top_k"), uint32(f.config.integer("centroid_intermediate_top_k")))
			p.set(k("use_ordered_embeddings"), true)
		}
	case "gemma-embedding2":
		p.set(k("embedding_length_out"), uint32(c.integer("embedding_dim")))
		p.set(k("attention.causal"), false)
		p.set(k("pooling_type"), uint32(1)) // the mean
	}
}

// sizes are those that differ between layers.
type sizes struct {
	c      fields
	layers int
	kinds  []string
}

func (s sizes) isSliding(i int) bool { return s.kinds[i] == "sliding_attention" }

func (s sizes) sliding() []bool {
	out := make([]bool, s.layers)
	for i := range out {
		out[i] = s.isSliding(i)
	}
	return out
}

// own is a number of one layer, where a file has some for single layers, and else the one for all.
func (s sizes) own(i int, key string) int {
	for name, v := range s.c.object("per_layer_config") {
		o, _ := v.(map[string]any)
		if n, err := strconv.Atoi(name); err == nil && n == i && fields(o).integer(key) > 0 {
			return fields(o).integer(key)
		}
	}
	return s.c.integer(key)
}

// each is one number, or one for each layer where they differ.
func (s sizes) each(of func(i int) int) any {
	out := make([]int32, s.layers)
	for i := range out {
		out[i] = int32(of(i))
	}
	if len(slices.Compact(slices.Clone(out))) == 1 {
		return uint32(out[0])
	}
	return out
}

// feedForward is twice as wide in layers that share keys and values, where the configuration says so.
func (s sizes) feedForward() any {
	return s.each(func(i int) int {
		width := s.own(i, "intermediate_size")
		wide := s.c.flag("use_double_wide_mlp") && i >= s.layers-s.c.integer("num_kv_shared_layers")
		if wide && width == s.c.integer("intermediate_size") {
			width *= 2
		}
		return width
	})
}

// globalHead is the length of a head in global layers.
func (s sizes) globalHead() int {
	if n := s.c.integer("global_head_dim"); n > 0 {
		return n
	}
	for i := range s.kinds {
		if !s.isSliding(i) {
			return s.own(i, "head_dim")
		}
	}
	return s.c.integer("head_dim")
}

// keyHeads are fewer in the global layers of the large models.
func (s sizes) keyHeads() any {
	return s.each(func(i int) int {
		if n := s.c.integer("num_global_key_value_heads"); n > 0 && !s.isSliding(i) {
			return n
		}
		return s.own(i, "num_key_value_heads")
	})
}

// towerMetadata has the sizes of the projector's file.
func (f *Folder) towerMetadata(p *pairs) {
	vision, audio := f.config.object("vision_config"), f.config.object("audio_config")
	width := uint32(f.text().integer("hidden_size"))
	unified := vision.integer("mm_embed_dim") > 0
	p.set("general.architecture", "clip")
	p.set("general.type", "mmproj")
	p.set("general.name", filepath.Base(filepath.Clean(f.Path)))
	p.set("clip.has_vision_encoder", vision != nil)
	p.set("clip.has_audio_encoder", audio != nil)
	if vision != nil {
		kind, embedding := "gemma4v", vision.integer("hidden_size")
		if unified {
			kind, embedding = "gemma4uv", vision.integer("mm_embed_dim")
		}
		p.set("clip.vision.projector_type", kind)
		p.set("clip.vision.patch_size", uint32(vision.integer("patch_size")))
		p.set("clip.vision.image_size", uint32(224))
		p.set("clip.vision.projector.scale_factor", uint32(vision.integer("pooling_kernel_size")))
		p.set("clip.vision.image_mean", []float32{0, 0, 0})
		p.set("clip.vision.image_std", []float32{1, 1, 1})
		setTower(p, "clip.vision.", vision, embedding, vision.integer("intermediate_size"), width)
	}
	if audio != nil {
		kind, embedding := "gemma4a", audio.integer("hidden_size")
		if n := audio.integer("audio_embed_dim"); n > 0 {
			kind, embedding = "gemma4ua", n
		}
		forward := 4 * embedding
		if unified {
			forward = 0
		}
		p.set("clip.audio.projector_type", kind)
		p.set("clip.audio.num_mel_bins", uint32(128))
		setTower(p, "clip.audio.", audio, embedding, forward, width)
	}
}

func setTower(p *pairs, prefix string, c fields, embedding, forward int, width uint32) {
	eps := c.float("rms_norm_eps")
	if eps == 0 {
		eps = 1e-6
	}
	p.set(prefix+"block_count", uint32(c.integer("num_hidden_layers")))
	p.set(prefix+"embedding_length", uint32(embedding))
	p.set(prefix+"feed_forward_length", uint32(forward))
	p.set(prefix+"attention.head_count", uint32(c.integer("num_attention_heads")))
	p.set(prefix+"attention.layer_norm_epsilon", float32(eps))
	p.set(prefix+"projection_dim", width)
}
