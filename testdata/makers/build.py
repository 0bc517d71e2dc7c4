"""Makes models with random weights: the kinds of the conformance cases, as GGUF files."""

import os
from dataclasses import dataclass, field

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

import kblocks
import lowblocks

NANO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance", "nano", "nano.gguf")
MIXED = [
    Type.Q3_K,
    Type.Q4_K,
    Type.Q5_K,
    Type.Q6_K,
    Type.F16,
    Type.BF16,
    Type.Q4_0,
    Type.Q4_1,
    Type.Q5_0,
    Type.Q5_1,
    Type.Q8_0,
    Type.Q2_K,
]
SPREAD = 1.3  # of a linear's output over its input
LOUD = {7: 26500, 130: 6600, 201: 6600}  # channels of a loud model's stream, and the norms that make them so


@dataclass
class Kind:
    """Sizes under the names of the metadata, and what else tells one kind from another."""

    pattern: str  # S sliding, G global
    width: int = 256
    ff: int = 256
    heads: int = 4
    kv: tuple = (1, 1)  # sliding, global
    head: tuple = (64, 128)
    window: int = 16
    shared: int = 0
    wide: bool = False  # layers that share keys and values have twice the feed-forward
    per_layer: int = 0
    experts: tuple = ()  # how many, how many of them are used, their feed-forward
    vision: bool = False
    audio: bool = False
    clipped: bool = False
    standardised: bool = False
    loud: bool = False
    types: str = "q4_k_m"  # f32, mixed, q8_0, low

    @property
    def keys_are_values(self):
        return not self.per_layer


E_SERIES = dict(shared=3, per_layer=256, vision=True, audio=True)
LARGE = dict(heads=8, head=(32, 64), window=24, vision=True, standardised=True)
KINDS = {
    "f32": Kind("SSSGSSG", width=64, ff=96, kv=(2, 2), head=(16, 32), shared=3, per_layer=32, types="f32"),
    "e2b": Kind("SSSGSSG", wide=True, **E_SERIES),
    "types": Kind("SSSSSGSSG", ff=512, kv=(2, 2), window=24, clipped=True, types="mixed", **E_SERIES),
    "dense": Kind("SSSSSGSSSSSG", ff=512, kv=(4, 2), **LARGE),
    "moe": Kind("SSSSG", kv=(4, 1), experts=(12, 3, 256), **LARGE),
    "lowbit": Kind(
        "SSSSGSSSSG", ff=512, heads=4, kv=(2, 2), window=24, shared=3, wide=True, per_layer=256, types="low"
    ),
    "lowmoe": Kind("SSSSG", ff=224, heads=8, kv=(4, 1), head=(32, 64), window=24, experts=(8, 2, 96), types="low"),
    "loud": Kind("SSSGSSG", window=32, shared=3, wide=True, per_layer=32, loud=True, types="q8_0"),
    "louddense": Kind("SSSGSSSG", kv=(2, 1), head=(32, 64), window=24, loud=True, types="q8_0"),
}


@dataclass
class Weights:
    """Random numbers under the file's names, in the order in which they are made."""

    rng: np.random.Generator
    tensors: dict = field(default_factory=dict)

    def linear(self, name, out, inner, spread=SPREAD):
        self.tensors[name + ".weight"] = self.rng.normal(0, spread * inner**-0.5, (out, inner))

    def normal(self, name, shape, scale):
        self.tensors[name] = self.rng.normal(0, scale, shape)

    def norm(self, name, size, mean=1.0):
        self.tensors[name + ".weight"] = mean * (1 + 0.25 * self.rng.normal(size=size))

    def uniform(self, name, shape, low, high):
        self.tensors[name] = self.rng.uniform(low, high, shape)


def before_norm(w, k, name):
    """A norm of the stream. In a loud model it takes down the loud channels, and brings up the rest."""
    w.norm(name, k.width, 40.0 if k.loud else 1.0)
    if k.loud:
        w.tensors[name + ".weight"][list(LOUD)] = 0.02


def layer(w, k, i):
    p, whole = f"blk.{i}.", k.pattern[i] == "G"
    head, kv = k.head[whole], k.kv[whole]
    own = i < len(k.pattern) - k.shared
    ff = k.ff * (2 if k.wide and not own else 1)
    w.uniform(p + "layer_output_scale.weight", (1,), *((1, 1) if k.loud else (0.9, 1.1)))
    w.linear(p + "attn_q", k.heads * head, k.width)
    w.norm(p + "attn_q_norm", head, 1.2 * head**-0.25)
    if own:
        w.norm(p + "attn_k_norm", head, 1.2 * head**-0.25)
        w.linear(p + "attn_k", kv * head, k.width)
        if not (whole and k.keys_are_values):
            w.linear(p + "attn_v", kv * head, k.width)
    w.linear(p + "attn_output", k.width, k.heads * head)
    w.linear(p + "ffn_gate", ff, k.width)
    w.linear(p + "ffn_up", ff, k.width)
    w.linear(p + "ffn_down", k.width, ff)
    before_norm(w, k, p + "attn_norm")
    before_norm(w, k, p + "ffn_norm")
    for name in ("post_attention_norm", "post_ffw_norm"):
        w.norm(p + name, k.width, 70 if k.loud else 0.4)
        if k.loud:
            w.tensors[p + name + ".weight"][list(LOUD)] = list(LOUD.values()) * w.rng.uniform(0.8, 1.2, len(LOUD))
    if k.experts:
        count, _, inner = k.experts
        w.uniform(p + "ffn_gate_inp.scale", (k.width,), 8, 16)
        w.uniform(p + "ffn_down_exps.scale", (count,), 0.8, 1.2)
        w.linear(p + "ffn_gate_inp", count, k.width)
        w.normal(p + "ffn_gate_up_exps.weight", (count, 2 * inner, k.width), SPREAD * k.width**-0.5)
        w.normal(p + "ffn_down_exps.weight", (count, k.width, inner), SPREAD * inner**-0.5)
        for name in ("post_ffw_norm_1", "post_ffw_norm_2", "pre_ffw_norm_2"):
            w.norm(p + name, k.width)
    if k.per_layer:
        w.linear(p + "inp_gate", k.per_layer, k.width)
        w.linear(p + "proj", k.width, k.per_layer)
        w.norm(p + "post_norm", k.width, 0.4)


def clips(w, k, name):
    if k.clipped:
        for side in ("input", "output"):
            w.uniform(f"{name}.{side}_min", (1,), -3, -2)
            w.uniform(f"{name}.{side}_max", (1,), 2, 3)


def vision_tower(w, k, width=64, ff=128, blocks=2, heads=4):
    if k.standardised:
        w.normal("v.std_bias", (width,), 0.5)
        w.uniform("v.std_scale", (width,), 0.2, 0.3)
    w.normal("v.position_embd.weight", (2, 128, width), 0.3)
    w.normal("v.patch_embd.weight", (width, 3, 16, 16), SPREAD * 768**-0.5)
    for i in range(blocks):
        p = f"v.blk.{i}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_out", "ffn_gate", "ffn_up", "ffn_down"):
            clips(w, k, p + name)
            w.linear(p + name, ff if name in ("ffn_gate", "ffn_up") else width, ff if name == "ffn_down" else width)
        for name in ("attn_q_norm", "attn_k_norm"):
            w.norm(p + name, width // heads, 1.2 * (width // heads) ** -0.25)
        for name in ("ln1", "attn_post_norm", "ln2", "ffn_post_norm"):
            w.norm(p + name, width)
    w.linear("mm.input_projection", k.width, width)


def audio_tower(w, k, width=64, out=96, blocks=2, heads=4, taps=5, channels=(128, 32)):
    w.normal("a.conv1d.0.weight", (channels[0], 1, 3, 3), 1 / 3)
    w.norm("a.conv1d.0.norm", channels[0])
    w.normal("a.conv1d.1.weight", (channels[1], channels[0], 3, 3), (9 * channels[0]) ** -0.5)
    w.norm("a.conv1d.1.norm", channels[1])
    w.linear("a.pre_encode.out", width, 32 * channels[1])
    shapes = {
        "ffn_up": (4, 1),
        "ffn_down": (1, 4),
        "ffn_up_1": (4, 1),
        "ffn_down_1": (1, 4),
        "attn_q": (1, 1),
        "attn_k": (1, 1),
        "attn_v": (1, 1),
        "attn_out": (1, 1),
        "conv_pw1": (2, 1),
        "conv_pw2": (1, 1),
    }
    for i in range(blocks):
        p = f"a.blk.{i}."
        for name, (rows, columns) in shapes.items():
            clips(w, k, p + name)
            w.linear(p + name, rows * width, columns * width)
        w.linear(p + "linear_pos", width, width)
        w.tensors[p + "per_dim_scale.weight"] = np.log1p(np.exp(w.rng.normal(0, 0.3, width // heads)))
        w.normal(p + "conv_dw.weight", (width, taps), taps**-0.5)
        for name in (
            "ffn_norm",
            "ffn_post_norm",
            "ffn_norm_1",
            "ffn_post_norm_1",
            "conv_norm",
            "norm_conv",
            "ln1",
            "ln2",
            "layer_pre_norm",
        ):
            w.norm(p + name, width)
    w.linear("mm.a.fc", out, width)
    w.normal("mm.a.fc.bias", (out,), 0.2)
    w.linear("mm.a.input_projection", k.width, out)


def weights(k, vocabulary, seed):
    w, layers = Weights(np.random.default_rng(seed)), len(k.pattern)
    pairs = k.head[1] // 2
    w.tensors["rope_freqs.weight"] = np.array([1.0] * (pairs // 4) + [1e30] * (pairs - pairs // 4))
    w.linear("token_embd", vocabulary, k.width)
    for i in range(layers):
        layer(w, k, i)
    before_norm(w, k, "output_norm")
    if k.per_layer:
        w.normal("per_layer_token_embd.weight", (vocabulary, k.per_layer * layers), k.per_layer**-0.5)
        w.linear("per_layer_model_proj", k.per_layer * layers, k.width)
        w.norm("per_layer_proj_norm", k.per_layer)
    if k.vision:
        vision_tower(w, k)
    if k.audio:
        audio_tower(w, k)
    return w.tensors


def metadata(k):
    layers, sliding = len(k.pattern), [c == "S" for c in k.pattern]
    kv, ff = [k.kv[not s] for s in sliding], [k.ff] * (layers - k.shared) + [k.ff * (2 if k.wide else 1)] * k.shared
    meta = {
        "block_count": layers,
        "context_length": 4096,
        "embedding_length": k.width,
        "feed_forward_length": ff if k.wide else k.ff,
        "attention.head_count": k.heads,
        "attention.head_count_kv": kv if k.kv[0] != k.kv[1] else k.kv[0],
        "attention.key_length": k.head[1],
        "attention.value_length": k.head[1],
        "attention.key_length_swa": k.head[0],
        "attention.value_length_swa": k.head[0],
        "attention.sliding_window": k.window,
        "attention.shared_kv_layers": k.shared,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.sliding_window_pattern": sliding,
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
        "rope.dimension_count": k.head[1],
        "rope.dimension_count_swa": k.head[0],
        "final_logit_softcapping": 30.0,
        "embedding_length_per_layer_input": k.per_layer,
    }
    if k.experts:
        meta |= dict(zip(("expert_count", "expert_used_count", "expert_feed_forward_length"), k.experts))
    if k.vision:
        meta |= {
            "vision.block_count": 2,
            "vision.embedding_length": 64,
            "vision.attention.head_count": 4,
            "vision.feed_forward_length": 128,
            "vision.patch_size": 16,
            "vision.num_channels": 3,
            "vision.projector.scale_factor": 3,
            "vision.attention.layer_norm_epsilon": 1e-6,
        }
    if k.audio:
        meta |= {
            "audio.block_count": 2,
            "audio.embedding_length": 64,
            "audio.attention.head_count": 4,
            "audio.feed_forward_length": 256,
            "audio.conv_kernel_size": 5,
            "audio.attention.layer_norm_epsilon": 1e-6,
        }
    return meta


def more_bits(name, layers):
    """Where llama.cpp's Q4_K_M takes Q6_K: the embedding, and values and ffn_down of some layers."""
    if name == "token_embd.weight":
        return True
    if not name.endswith(("attn_v.weight", "ffn_down.weight")):
        return False
    i, eighth = int(name.split(".")[1]), layers / 8
    return i < eighth or i >= 7 * eighth or (i - int(eighth)) % 3 == 2


def type_of(name, values, k):
    """The type in which a tensor is written."""
    small = (
        values.ndim == 1 or "norm" in name or name.startswith(("rope", "v.position", "a.conv1d")) or ".conv_" in name
    )
    if k.types == "f32" or small or "ffn_gate_inp" in name:
        return Type.F32
    if name.startswith(("v.", "a.", "mm.")):
        return Type.F16
    if k.types == "q8_0":
        return Type.Q8_0
    if k.types == "low":
        return low_type(name, values.shape[-1])
    if k.types == "mixed":
        whole = {
            "token_embd.weight": Type.Q5_0,
            "per_layer_token_embd.weight": Type.Q8_0,
            "per_layer_model_proj.weight": Type.BF16,
        }
        if name in whole:
            return whole[name]
        part = {"attn_k": 6, "attn_v": 5, "ffn_gate": 11, "ffn_up": 3, "ffn_down": 10}.get(name.split(".")[2], 0)
        return MIXED[(int(name.split(".")[1]) + part) % len(MIXED)]
    if name.endswith(("inp_gate.weight", "proj.weight")) and name.startswith("blk."):
        return Type.F16
    if name == "per_layer_model_proj.weight":
        return Type.BF16
    return Type.Q6_K if more_bits(name, len(k.pattern)) else Type.Q4_K


def low_type(name, columns):
    """A low-bit type, by a tensor's name; in rows that are no multiple of 256, one of shorter blocks."""
    kinds = [Type.Q2_K, Type.Q3_K, *lowblocks.KINDS]
    turn = sum(map(ord, name)) + sum(int(part) for part in name.split(".") if part.isdigit())
    fitting = [kind for kind in kinds if columns % gguf.GGML_QUANT_SIZES[kind][0] == 0]
    return fitting[turn % len(fitting)]


def quantize(values, kind):
    values = np.ascontiguousarray(values, np.float32)
    if kind in lowblocks.KINDS:
        return lowblocks.encode(values, kind)
    return kblocks.encode(values, kind) if kind in kblocks.ENCODERS else gguf.quantize(values, kind)


def write(path, name, seed):
    """Writes a model of a kind. Its tokenizer is the small trained model's."""
    k, reader = KINDS[name], gguf.GGUFReader(NANO)
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    out = gguf.GGUFWriter(path, "gemma4")
    out.add_name(name)
    out.add_file_type(0 if k.types == "f32" else 15)
    kinds = {bool: out.add_bool, int: out.add_uint32, float: out.add_float32, list: out.add_array}
    for key, value in metadata(k).items():
        kinds[type(value)]("gemma4." + key, value)
    for key, f in reader.fields.items():
        if key.startswith("tokenizer."):
            out.add_key_value(key, f.contents(), f.types[0], f.types[-1] if len(f.types) > 1 else None)
    for tensor, values in weights(k, len(tokens), seed).items():
        kind = type_of(tensor, values, k)
        out.add_tensor(tensor, quantize(values, kind), raw_dtype=None if kind in (Type.F32, Type.F16) else kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
