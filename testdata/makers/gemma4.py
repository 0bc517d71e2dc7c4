"""Opens a GGUF file of Gemma 4 as transformers' model, in float32 and with the numbers that the file holds.

The file may be in the one-file form, with the towers in it. Every block type that the gguf package decodes is read.
Names are those of llama.cpp's converter; what is no renaming stands in `arrange`.
"""

import gguf
import numpy as np
import torch
from transformers import (
    Gemma4AudioConfig,
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4TextConfig,
    Gemma4VisionConfig,
)

TEXT = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "per_layer_token_embd": "embed_tokens_per_layer",
    "per_layer_model_proj": "per_layer_model_projection",
    "per_layer_proj_norm": "per_layer_projection_norm",
}
TEXT_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
    "ffn_gate_inp": "router.proj",
    "post_ffw_norm_1": "post_feedforward_layernorm_1",
    "post_ffw_norm_2": "post_feedforward_layernorm_2",
    "pre_ffw_norm_2": "pre_feedforward_layernorm_2",
}
# Those whose last part is not "weight" in transformers.
TEXT_LAYER_WHOLE = {
    "layer_output_scale.weight": "layer_scalar",
    "ffn_gate_inp.scale": "router.scale",
    "ffn_down_exps.scale": "router.per_expert_scale",
    "ffn_gate_up_exps.weight": "experts.gate_up_proj",
    "ffn_down_exps.weight": "experts.down_proj",
}
VISION_LINEAR = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
VISION_NORM = {
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ln1": "input_layernorm",
    "attn_post_norm": "post_attention_layernorm",
    "ln2": "pre_feedforward_layernorm",
    "ffn_post_norm": "post_feedforward_layernorm",
}
AUDIO_LINEAR = {
    "ffn_up": "feed_forward1.ffw_layer_1",
    "ffn_down": "feed_forward1.ffw_layer_2",
    "ffn_up_1": "feed_forward2.ffw_layer_1",
    "ffn_down_1": "feed_forward2.ffw_layer_2",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.post",
    "conv_pw1": "lconv1d.linear_start",
    "conv_pw2": "lconv1d.linear_end",
}
AUDIO_OTHER = {
    "ffn_norm": "feed_forward1.pre_layer_norm",
    "ffn_post_norm": "feed_forward1.post_layer_norm",
    "ffn_norm_1": "feed_forward2.pre_layer_norm",
    "ffn_post_norm_1": "feed_forward2.post_layer_norm",
    "linear_pos": "self_attn.relative_k_proj",
    "conv_dw": "lconv1d.depthwise_conv1d",
    "conv_norm": "lconv1d.pre_layer_norm",
    "norm_conv": "lconv1d.conv_norm",
    "ln1": "norm_pre_attn",
    "ln2": "norm_post_attn",
    "layer_pre_norm": "norm_out",
}
WHOLE = {
    "v.patch_embd.weight": "vision_tower.patch_embedder.input_proj.weight",
    "v.position_embd.weight": "vision_tower.patch_embedder.position_embedding_table",
    "v.std_bias": "vision_tower.std_bias",
    "v.std_scale": "vision_tower.std_scale",
    "a.conv1d.0.weight": "audio_tower.subsample_conv_projection.layer0.conv.weight",
    "a.conv1d.0.norm.weight": "audio_tower.subsample_conv_projection.layer0.norm.weight",
    "a.conv1d.1.weight": "audio_tower.subsample_conv_projection.layer1.conv.weight",
    "a.conv1d.1.norm.weight": "audio_tower.subsample_conv_projection.layer1.norm.weight",
    "a.pre_encode.out.weight": "audio_tower.subsample_conv_projection.input_proj_linear.weight",
    "mm.a.fc.weight": "audio_tower.output_proj.weight",
    "mm.a.fc.bias": "audio_tower.output_proj.bias",
    "mm.input_projection.weight": "embed_vision.embedding_projection.weight",
    "mm.a.input_projection.weight": "embed_audio.embedding_projection.weight",
}


def transformers_name(name):
    """Where transformers keeps a tensor of the file; None for rope_freqs, which it computes itself."""
    if name in WHOLE:
        return "model." + WHOLE[name]
    if name == "rope_freqs.weight":
        return None
    if name.startswith("blk."):
        _, layer, rest = name.split(".", 2)
        base = TEXT_LAYER_WHOLE.get(rest) or TEXT_LAYER[rest.removesuffix(".weight")] + ".weight"
        return f"model.language_model.layers.{layer}.{base}"
    if name.startswith(("v.blk.", "a.blk.")):
        tower, _, layer, rest = name.split(".", 3)
        vision = tower == "v"
        base = "model." + ("vision_tower.encoder" if vision else "audio_tower") + f".layers.{layer}."
        if rest == "per_dim_scale.weight":
            return base + "self_attn.per_dim_scale"
        part, last = rest.rsplit(".", 1)
        linear = (VISION_LINEAR if vision else AUDIO_LINEAR).get(part)
        if linear:
            return base + linear + (".linear.weight" if last == "weight" else "." + last)
        return base + (VISION_NORM if vision else AUDIO_OTHER)[part] + "." + last
    return "model.language_model." + TEXT[name.removesuffix(".weight")] + ".weight"


def arrange(name, values, to_file=False):
    """What transformers keeps in another order, or in another form, than the file does; and back."""
    if name == "v.patch_embd.weight":  # [n, channel, row, column] in the file, [n, row·column·channel] here
        if to_file:
            side = int((values.shape[1] / 3) ** 0.5)
            return values.reshape(-1, side, side, 3).transpose(0, 3, 1, 2)
        return values.transpose(0, 2, 3, 1).reshape(len(values), -1)
    if name.endswith("per_dim_scale.weight"):  # after softplus in the file, before it here
        values = values.astype(np.float64)
        return np.log1p(np.exp(values)) if to_file else np.log(np.expm1(values))
    if name.endswith("conv_dw.weight"):
        return values[:, 0] if to_file else values[:, None]
    if to_file and values.ndim == 0:
        return values[None]
    return values


class File:
    """A GGUF file: `meta` by key, `tensors` as float32 arrays with the outer dimension first."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.meta = {name: field.contents() for name, field in reader.fields.items()}
        self.types = {t.name: t.tensor_type for t in reader.tensors}
        self.tensors = {t.name: decode(t) for t in reader.tensors}
        self.tokens = self.meta.get("tokenizer.ggml.tokens", [])

    def get(self, key, default=None):
        value = self.meta.get("gemma4." + key, default)
        if value is None:
            raise KeyError("gemma4." + key)
        return value


def decode(tensor):
    shape = [int(n) for n in reversed(tensor.shape)]
    values = gguf.dequantize(tensor.data, tensor.tensor_type)
    return np.ascontiguousarray(values, dtype=np.float32).reshape(shape)


def first(value):
    return value[0] if isinstance(value, list) else value


def text_config(file):
    layers = file.get("block_count")
    sliding = file.get("attention.sliding_window_pattern")
    kv = file.get("attention.head_count_kv")
    kv = kv if isinstance(kv, list) else [kv] * layers
    widths = file.get("feed_forward_length")
    widths = widths if isinstance(widths, list) else [widths] * layers
    whole = [i for i in range(layers) if not sliding[i]]
    same = f"blk.{whole[0]}.attn_v.weight" not in file.tensors  # keys are values, too
    experts = file.get("expert_count", 0)
    per_layer = file.get("embedding_length_per_layer_input", 0)
    return Gemma4TextConfig(
        vocab_size=len(file.tokens),
        vocab_size_per_layer_input=len(file.tokens),
        hidden_size=file.get("embedding_length"),
        intermediate_size=widths[0],
        use_double_wide_mlp=widths[-1] == 2 * widths[0],
        num_hidden_layers=layers,
        num_attention_heads=file.get("attention.head_count"),
        num_key_value_heads=kv[sliding.index(True)],
        num_global_key_value_heads=kv[whole[0]],
        attention_k_eq_v=same,
        head_dim=file.get("attention.key_length_swa"),
        global_head_dim=file.get("attention.key_length"),
        sliding_window=file.get("attention.sliding_window"),
        layer_types=["sliding_attention" if s else "full_attention" for s in sliding],
        num_kv_shared_layers=file.get("attention.shared_kv_layers", 0),
        hidden_size_per_layer_input=per_layer,
        enable_moe_block=experts > 0,
        num_experts=experts or None,
        top_k_experts=file.get("expert_used_count", 0) or None,
        moe_intermediate_size=file.get("expert_feed_forward_length", 0) or None,
        use_bidirectional_attention=None if per_layer else "vision",
        final_logit_softcapping=file.get("final_logit_softcapping", 0) or None,
        rms_norm_eps=file.get("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=file.get("context_length"),
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": file.get("rope.freq_base_swa")},
            "full_attention": {
                "rope_type": "proportional",
                "partial_rotary_factor": 0.25,
                "rope_theta": file.get("rope.freq_base"),
            },
        },
    )


def vision_config(file):
    if "v.patch_embd.weight" not in file.tensors:
        return None
    width, heads = file.get("vision.embedding_length"), file.get("vision.attention.head_count")
    return Gemma4VisionConfig(
        hidden_size=width,
        intermediate_size=file.get("vision.feed_forward_length"),
        num_hidden_layers=file.get("vision.block_count"),
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=width // heads,
        patch_size=file.get("vision.patch_size"),
        pooling_kernel_size=file.get("vision.projector.scale_factor"),
        rms_norm_eps=file.get("vision.attention.layer_norm_epsilon"),
        position_embedding_size=file.tensors["v.position_embd.weight"].shape[1],
        standardize="v.std_bias" in file.tensors,
        use_clipped_linears="v.blk.0.attn_q.input_min" in file.tensors,
    )


def audio_config(file):
    if "a.conv1d.0.weight" not in file.tensors:
        return None
    return Gemma4AudioConfig(
        hidden_size=file.get("audio.embedding_length"),
        num_hidden_layers=file.get("audio.block_count"),
        num_attention_heads=file.get("audio.attention.head_count"),
        conv_kernel_size=file.get("audio.conv_kernel_size", 5),
        rms_norm_eps=file.get("audio.attention.layer_norm_epsilon"),
        subsampling_conv_channels=[len(file.tensors[f"a.conv1d.{i}.weight"]) for i in (0, 1)],
        output_proj_dims=len(file.tensors["mm.a.fc.weight"]),
        use_clipped_linears="a.blk.0.attn_q.input_min" in file.tensors,
    )


def model_of(text, vision, audio, tokens):
    """A model of these sizes, its weights as they come."""

    def place(name, default):
        return tokens.index(name) if name in tokens else default

    config = Gemma4Config(
        text_config=text,
        vision_config=vision,
        audio_config=audio,
        image_token_id=place("<|image|>", 258880),
        audio_token_id=place("<|audio|>", 258881),
        video_token_id=place("<|video|>", 258884),
    )
    for c in (config, text, vision, audio):
        if c is not None:
            c._attn_implementation = "eager"
    return Gemma4ForConditionalGeneration(config).float().eval()


def computed(name):
    """Whether a name of transformers' is of a buffer that it computes."""
    return "inv_freq" in name or "embed_scale" in name or name == "lm_head.weight" or name.endswith("softcap")


def load(path):
    """The file's model and the file. Every weight of the model comes from the file, and the other way round."""
    file = File(path)
    model = model_of(text_config(file), vision_config(file), audio_config(file), file.tokens)
    state, used = model.state_dict(), set()
    shared = range(file.get("block_count") - file.get("attention.shared_kv_layers", 0), file.get("block_count"))
    unread = tuple(f"model.language_model.layers.{i}.self_attn.{p}_" for i in shared for p in "kv")
    with torch.no_grad():
        for name, values in file.tensors.items():
            target = transformers_name(name)
            if target is None or target.startswith(unread) and target not in state:
                continue
            values = torch.from_numpy(np.array(arrange(name, values), dtype=np.float32))
            state[target].copy_(values.reshape(state[target].shape))
            used.add(target)
    missing = [n for n in state if n not in used and not computed(n) and not n.startswith(unread)]
    if missing:
        raise SystemExit(f"{path} has nothing for {missing}")
    return model, file
