"""Reads a small GGUF file of Gemma 4 into transformers' model, its weights decoded to float32.

Only the types of testdata/conformance/e2b.gguf are known: F32, F16, BF16, Q4_K and Q6_K, the last two by hand so that
nothing but numpy is needed for them. Text alone: the towers are left out.
"""
import struct

import numpy as np
import torch
from transformers import Gemma4Config, Gemma4ForConditionalGeneration, Gemma4TextConfig

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, fmt):
        value = struct.unpack_from("<" + fmt, self.data, self.at)[0]
        self.at += struct.calcsize("<" + fmt)
        return value

    def string(self):
        n = self.take("Q")
        self.at += n
        return self.data[self.at - n:self.at].decode("utf-8", "replace")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, n = self.take("I"), self.take("Q")
            return [self.value(inner) for _ in range(n)]
        return self.take(SCALARS[kind])


def read(path):
    """The metadata, and each tensor as a float32 array with the outer dimension first."""
    with open(path, "rb") as f:
        r = Reader(f.read())
    r.at = 8
    tensors, keys = r.take("Q"), r.take("Q")
    meta = {}
    for _ in range(keys):
        key = r.string()
        meta[key] = r.value(r.take("I"))
    infos = []
    for _ in range(tensors):
        name = r.string()
        dims = [r.take("Q") for _ in range(r.take("I"))]
        infos.append((name, dims, r.take("I"), r.take("Q")))
    align = meta.get("general.alignment", 32)
    begin = (r.at + align - 1) // align * align
    text = (i for i in infos if not i[0].startswith(("v.", "a.", "mm.")))
    return meta, {name: decode(r.data, begin + offset, kind, dims) for name, dims, kind, offset in text}


def decode(data, at, kind, dims):
    n, shape = int(np.prod(dims)), dims[::-1]
    if kind == 0:
        return np.frombuffer(data, "<f4", n, at).reshape(shape).copy()
    if kind == 1:
        return np.frombuffer(data, "<f2", n, at).astype(np.float32).reshape(shape)
    if kind == 30:
        return (np.frombuffer(data, "<u2", n, at).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    size, blocks = {12: (144, q4_k), 14: (210, q6_k)}[kind]
    raw = np.frombuffer(data, np.uint8, n // 256 * size, at).reshape(-1, size)
    return blocks(raw).astype(np.float32).reshape(shape)


def half(raw):
    return raw.copy().view("<f2").astype(np.float32)


def q4_k(raw):
    d, least, packed, quants = half(raw[:, 0:2]), half(raw[:, 2:4]), raw[:, 4:16], raw[:, 16:]
    low, mid, high = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scale = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)], 1)
    offset = np.concatenate([mid & 63, (high >> 4) | (mid >> 6 << 4)], 1)
    q = quants.reshape(-1, 4, 1, 32)
    q = np.concatenate([q & 15, q >> 4], 2).reshape(-1, 8, 32)
    return (d * scale)[:, :, None] * q - (least * offset)[:, :, None]


def q6_k(raw):
    low, high = raw[:, :128].reshape(-1, 2, 2, 32), raw[:, 128:192].reshape(-1, 2, 1, 32)
    scale, d = raw[:, 192:208].copy().view(np.int8).astype(np.float32), half(raw[:, 208:210])
    nibbles = np.concatenate([low & 15, low >> 4], 2)
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1)
    q = (nibbles | (high >> shifts & 3) << 4).astype(np.float32) - 32
    return (d * scale)[:, :, None] * q.reshape(-1, 16, 16)


LAYER = {
    "attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "inp_gate": "per_layer_input_gate", "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
}
WHOLE = {
    "token_embd.weight": "embed_tokens.weight", "output_norm.weight": "norm.weight", "per_layer_token_embd.weight": "embed_tokens_per_layer.weight",
    "per_layer_model_proj.weight": "per_layer_model_projection.weight", "per_layer_proj_norm.weight": "per_layer_projection_norm.weight",
}


def name_of(gguf):
    """Where transformers keeps a tensor, None for what it computes itself."""
    if gguf in WHOLE:
        return "model.language_model." + WHOLE[gguf]
    if not gguf.startswith("blk."):
        return None
    _, layer, rest = gguf.split(".", 2)
    prefix = f"model.language_model.layers.{layer}."
    if rest == "layer_output_scale.weight":
        return prefix + "layer_scalar"
    return prefix + LAYER[rest.removesuffix(".weight")] + ".weight"


def build(path):
    """The file's text model in float32, ready to be asked."""
    meta, tensors = read(path)
    get = lambda key: meta["gemma4." + key]
    layers, widths, kv = get("block_count"), get("feed_forward_length"), get("attention.head_count_kv")
    text = Gemma4TextConfig(
        vocab_size=tensors["token_embd.weight"].shape[0], vocab_size_per_layer_input=tensors["per_layer_token_embd.weight"].shape[0],
        hidden_size=get("embedding_length"), intermediate_size=widths[0], num_hidden_layers=layers,
        num_attention_heads=get("attention.head_count"), num_key_value_heads=kv if isinstance(kv, int) else kv[0],
        head_dim=get("attention.key_length_swa"), global_head_dim=get("attention.key_length"), sliding_window=get("attention.sliding_window"),
        layer_types=["sliding_attention" if s else "full_attention" for s in get("attention.sliding_window_pattern")],
        num_kv_shared_layers=get("attention.shared_kv_layers"), use_double_wide_mlp=widths[-1] == 2 * widths[0],
        hidden_size_per_layer_input=get("embedding_length_per_layer_input"), final_logit_softcapping=get("final_logit_softcapping"),
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"), use_cache=False,
    )
    config = Gemma4Config(text_config=text, vision_config=None, audio_config=None)
    config._attn_implementation = "eager"
    model = Gemma4ForConditionalGeneration(config).float().eval()
    state, used = model.state_dict(), {"lm_head.weight"}
    with torch.no_grad():
        for gguf, values in tensors.items():
            name = name_of(gguf)
            if name is None:
                continue
            state[name].copy_(torch.from_numpy(values).reshape(state[name].shape))
            used.add(name)
    missing = [n for n in state if n not in used and "embed_scale" not in n and "inv_freq" not in n]
    # Layers that share keys and values may have projections that nobody reads.
    shared = [f"layers.{i}." for i in range(layers - text.num_kv_shared_layers, layers)]
    missing = [n for n in missing if not any(s in n for s in shared)]
    if missing:
        raise SystemExit(f"the file has nothing for {missing}")
    return model
