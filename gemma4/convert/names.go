package convert

import (
	"strings"
)

// arrangement is how a tensor's values are laid out in the new file.
type arrangement int

const (
	asIs arrangement = iota
	channelsFirst
	softplus
	swapOuter // the first two of three dimensions
	squeezed  // the middle one of three dimensions, of length 1, left out
)

// target is where a tensor goes.
type target struct {
	name    string
	arrange arrangement
	tower   bool // to the projector's file
}

var textNames = map[string]string{
	"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight", "lm_head.weight": "output.weight",
	"embed_tokens_per_layer.weight": "per_layer_token_embd.weight", "embedding_projection.weight": "output.weight",
	"per_layer_model_projection.weight": "per_layer_model_proj.weight",
	"per_layer_projection_norm.weight":  "per_layer_proj_norm.weight",
	"pre_projection.weight":             "nextn.pre_projection.weight",
	"post_projection.weight":            "nextn.post_projection.weight",
	"masked_embedding.centroids.weight": "masked_embd_centroids.weight",
	"masked_embedding.token_ordering":   "masked_embd_ordering",
}

var layerNames = map[string]string{
	"input_layernorm.weight": "attn_norm.weight", "self_attn.q_proj.weight": "attn_q.weight",
	"self_attn.k_proj.weight": "attn_k.weight", "self_attn.v_proj.weight": "attn_v.weight",
	"self_attn.q_norm.weight": "attn_q_norm.weight", "self_attn.k_norm.weight": "attn_k_norm.weight",
	"self_attn.o_proj.weight": "attn_output.weight", "post_attention_layernorm.weight": "post_attention_norm.weight",
	"pre_feedforward_layernorm.weight": "ffn_norm.weight", "mlp.gate_proj.weight": "ffn_gate.weight",
	"mlp.up_proj.weight": "ffn_up.weight", "mlp.down_proj.weight": "ffn_down.weight",
	"post_feedforward_layernorm.weight": "post_ffw_norm.weight", "per_layer_input_gate.weight": "inp_gate.weight",
	"per_layer_projection.weight": "proj.weight", "post_per_layer_input_norm.weight": "post_norm.weight",
	"router.proj.weight": "ffn_gate_inp.weight", "router.scale": "ffn_gate_inp.scale",
	"router.per_expert_scale": "ffn_down_exps.scale", "experts.gate_up_proj": "ffn_gate_up_exps.weight",
	"experts.down_proj": "ffn_down_exps.weight", "layer_scalar": "layer_output_scale.weight",
	"post_feedforward_layernorm_1.weight": "post_ffw_norm_1.weight",
	"post_feedforward_layernorm_2.weight": "post_ffw_norm_2.weight",
	"pre_feedforward_layernorm_2.weight":  "pre_ffw_norm_2.weight",
}

var visionNames = map[string]string{
	"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
	"self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_out",
	"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
	"self_attn.q_norm": "attn_q_norm",
	"self_attn.k_norm": "attn_k_norm", "input_layernorm": "ln1", "post_attention_layernorm": "attn_post_norm",
	"pre_feedforward_layernorm": "ln2", "post_feedforward_layernorm": "ffn_post_norm",
}

var audioNames = map[string]string{
	"feed_forward1.ffw_layer_1": "ffn_up", "feed_forward1.ffw_layer_2": "ffn_down",
	"feed_forward2.ffw_layer_1": "ffn_up_1", "feed_forward2.ffw_layer_2": "ffn_down_1",
	"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.post": "attn_out",
	"lconv1d.linear_start": "conv_pw1", "lconv1d.linear_end": "conv_pw2", "feed_forward1.pre_layer_norm": "ffn_norm",
	"feed_forward1.post_layer_norm": "ffn_post_norm", "feed_forward2.pre_layer_norm": "ffn_norm_1",
	"feed_forward2.post_layer_norm": "ffn_post_norm_1", "self_attn.relative_k_proj": "linear_pos",
	"lconv1d.depthwise_conv1d": "conv_dw", "lconv1d.pre_layer_norm": "conv_norm", "lconv1d.conv_norm": "norm_conv",
	"norm_pre_attn": "ln1", "norm_post_attn": "ln2", "norm_out": "layer_pre_norm",
}

var towerNames = map[string]target{
	"vision_tower.patch_embedder.input_proj.weight": {
		name: "v.patch_embd.weight", arrange: channelsFirst},
	"vision_tower.patch_embedder.position_embedding_table":           {name: "v.position_embd.weight"},
	"vision_tower.std_bias":                                          {name: "v.std_bias"},
	"vision_tower.std_scale":                                         {name: "v.std_scale"},
	"audio_tower.subsample_conv_projection.layer0.conv.weight":       {name: "a.conv1d.0.weight"},
	"audio_tower.subsample_conv_projection.layer0.norm.weight":       {name: "a.conv1d.0.norm.weight"},
	"audio_tower.subsample_conv_projection.layer1.conv.weight":       {name: "a.conv1d.1.weight"},
	"audio_tower.subsample_conv_projection.layer1.norm.weight":       {name: "a.conv1d.1.norm.weight"},
	"audio_tower.subsample_conv_projection.input_proj_linear.weight": {name: "a.pre_encode.out.weight"},
	"audio_tower.output_proj.weight":                                 {name: "mm.a.fc.weight"},
	"audio_tower.output_proj.bias":                                   {name: "mm.a.fc.bias"},
	"embed_vision.embedding_projection.weight":                       {name: "mm.input_projection.weight"},
	"embed_audio.embedding_projection.weight":                        {name: "mm.a.input_projection.weight"},
	// The 12B kind, as published and as transformers has it in memory.
	"embed_vision.multimodal_embedder.embedding_projection.weight": {name: "mm.input_projection.weight"},
}

// patchNames are of the 12B kind, below vision_embedder or embed_vision.
var patchNames = map[string]target{
	"pos_embedding":      {name: "v.position_embd.weight", arrange: swapOuter},
	"patch_ln1.weight":   {name: "v.patch_norm.1.weight", arrange: channelsFirst},
	"patch_ln1.bias":     {name: "v.patch_norm.1.bias", arrange: channelsFirst},
	"patch_dense.weight": {name: "v.patch_embd.weight", arrange: channelsFirst},
	"patch_dense.bias":   {name: "v.patch_embd.bias"},
	"patch_ln2.weight":   {name: "v.patch_norm.2.weight"}, "patch_ln2.bias": {name: "v.patch_norm.2.bias"},
	"pos_norm.weight": {name: "v.patch_norm.3.weight"}, "pos_norm.bias": {name: "v.patch_norm.3.bias"},
}

// targetOf tells where a tensor goes; false for one that is unknown.
func targetOf(name string) (target, bool) {
	name = strings.TrimPrefix(name, "model.")
	if t, ok := towerNames[name]; ok {
		t.tower = true
		return t, true
	}
	for _, prefix := range []string{"vision_embedder.", "embed_vision."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			t, known := patchNames[rest]
			t.tower = true
			return t, known
		}
	}
	if rest, ok := strings.CutPrefix(name, "vision_tower.encoder.layers."); ok {
		return towerLayer("v.blk.", rest, visionNames)
	}
	if rest, ok := strings.CutPrefix(name, "audio_tower.layers."); ok {
		return towerLayer("a.blk.", rest, audioNames)
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "language_model."), "model.")
	if rest, ok := strings.CutPrefix(name, "layers."); ok {
		layer, part, _ := strings.Cut(rest, ".")
		short, known := layerNames[strings.TrimPrefix(part, "ple_block.")]
		return target{name: "blk." + layer + "." + short}, known && isNumber(layer)
	}
	full, known := textNames[strings.TrimPrefix(name, "ple.")]
	return target{name: full}, known
}

// towerLayer is a tensor of a tower's layer: a weight, a bias or one of four limits of a linear's values.
func towerLayer(prefix, rest string, names map[string]string) (target, bool) {
	layer, part, _ := strings.Cut(rest, ".")
	if part == "self_attn.per_dim_scale" {
		return target{name: prefix + layer + ".per_dim_scale.weight", arrange: softplus, tower: true}, isNumber(layer)
	}
	at := strings.LastIndexByte(part, '.')
	if at < 0 {
		return target{}, false
	}
	short, known := names[strings.TrimSuffix(part[:at], ".linear")]
	t := target{name: prefix + layer + "." + short + part[at:], tower: true}
	if short == "conv_dw" {
		t.arrange = squeezed
	}
	return t, known && isNumber(layer)
}

func isNumber(s string) bool { return s != "" && len(s) < 5 && strings.Trim(s, "0123456789") == "" }
