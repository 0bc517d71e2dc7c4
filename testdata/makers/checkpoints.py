"""Makes small checkpoints with random weights, as transformers saves them, and what a GGUF file of each must hold.

    python checkpoints.py ../../gemma4/convert/testdata

Each folder has config.json, model.safetensors (bfloat16), tokenizer.json, and expected.json: for each tensor of the two
GGUF files its shape (outer dimension first) and the SHA-256 of its values as float32. Names and arrangements are those
that `gemma4.py` opens files by; of the 12B kind and of EmbeddingGemma 2 they stand here.
"""

import hashlib
import json
import os
import sys

import numpy as np
import torch
from transformers import (
    EmbeddingGemma2Config,
    EmbeddingGemma2Model,
    Gemma4AudioConfig,
    Gemma4TextConfig,
    Gemma4UnifiedConfig,
    Gemma4UnifiedForConditionalGeneration,
    Gemma4VisionConfig,
)

import gemma4

PIECES = ["<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<turn|>", "<|tool_call>"] + [f"<0x{i:02X}>" for i in range(8)]
PIECES += list("abcdefghijklmnopqrstuvwxyz") + ["▁", "ab", "▁a", "abc"]
MERGES = [["a", "b"], ["▁", "a"], ["ab", "c"]]
ADDED = 7  # of the pieces, the first ones
VOCABULARY = len(PIECES)
SLIDING, FULL = "sliding_attention", "full_attention"
TEXT = dict(
    vocab_size=VOCABULARY,
    vocab_size_per_layer_input=VOCABULARY,
    hidden_size=32,
    intermediate_size=32,
    num_attention_heads=2,
    num_key_value_heads=2,
    head_dim=16,
    global_head_dim=32,
    sliding_window=8,
)
LARGE = dict(attention_k_eq_v=True, num_global_key_value_heads=1, hidden_size_per_layer_input=0)


def vision(**more):
    return Gemma4VisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, head_dim=16,
        patch_size=4, pooling_kernel_size=3, position_embedding_size=16, **more,
    )


def small():
    text = Gemma4TextConfig(
        **TEXT, num_hidden_layers=4, layer_types=[SLIDING, FULL, SLIDING, FULL], num_kv_shared_layers=2,
        use_double_wide_mlp=True, hidden_size_per_layer_input=8,
    )
    audio = Gemma4AudioConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, subsampling_conv_channels=[8, 4], output_proj_dims=24,
        use_clipped_linears=True,
    )
    return gemma4.model_of(text, vision(use_clipped_linears=True), audio, PIECES)


def experts():
    text = Gemma4TextConfig(
        **TEXT, **LARGE, num_hidden_layers=2, layer_types=[SLIDING, FULL], enable_moe_block=True, num_experts=3,
        top_k_experts=2, moe_intermediate_size=8,
    )
    return gemma4.model_of(text, vision(standardize=True), None, PIECES)


def unified():
    config = Gemma4UnifiedConfig(
        text_config=dict(TEXT, **LARGE, num_hidden_layers=2, layer_types=[SLIDING, FULL]),
        vision_config=dict(mm_embed_dim=16, mm_posemb_size=6, output_proj_dims=16, patch_size=2, pooling_kernel_size=3),
        audio_config=dict(audio_embed_dim=20),
    )
    return Gemma4UnifiedForConditionalGeneration(config)


def embedding():
    text = {k: v for k, v in TEXT.items() if k not in ("vocab_size_per_layer_input", "global_head_dim")}
    text |= dict(num_hidden_layers=2, layer_types=[SLIDING, FULL], hidden_size_per_layer_input=8, embedding_dim=24)
    return EmbeddingGemma2Model(EmbeddingGemma2Config(text_config=text))


def channels_first(values):
    side = round((values.shape[-1] / 3) ** 0.5)
    pixels = values.reshape(*values.shape[:-1], side, side, 3)
    return np.moveaxis(pixels, -1, -3).reshape(values.shape)


PATCHES = {
    "patch_ln1.weight": ("v.patch_norm.1.weight", channels_first),
    "patch_ln1.bias": ("v.patch_norm.1.bias", channels_first),
    "patch_dense.weight": ("v.patch_embd.weight", channels_first),
    "patch_dense.bias": ("v.patch_embd.bias", None),
    "patch_ln2.weight": ("v.patch_norm.2.weight", None),
    "patch_ln2.bias": ("v.patch_norm.2.bias", None),
    "pos_norm.weight": ("v.patch_norm.3.weight", None),
    "pos_norm.bias": ("v.patch_norm.3.bias", None),
    "pos_embedding": ("v.position_embd.weight", lambda v: v.transpose(1, 0, 2)),
    "multimodal_embedder.embedding_projection.weight": ("mm.input_projection.weight", None),
}


def file_names():
    """The file's name of each of transformers' names, for up to four layers."""
    names = list(gemma4.WHOLE) + [n + ".weight" for n in gemma4.TEXT]
    for i in range(4):
        names += [f"blk.{i}.{n}.weight" for n in gemma4.TEXT_LAYER] + [f"blk.{i}.{n}" for n in gemma4.TEXT_LAYER_WHOLE]
        ends = ("weight", "input_min", "input_max", "output_min", "output_max")
        names += [f"v.blk.{i}.{n}.{e}" for n in {**gemma4.VISION_LINEAR, **gemma4.VISION_NORM} for e in ends]
        names += [f"a.blk.{i}.{n}.{e}" for n in {**gemma4.AUDIO_LINEAR, **gemma4.AUDIO_OTHER} for e in ends]
        names.append(f"a.blk.{i}.per_dim_scale.weight")
    return {gemma4.transformers_name(n): n for n in names}


NAMES = file_names()


def in_file(name, values):
    """Name and values in the GGUF file; None for what is in none."""
    if name == "lm_head.weight" or gemma4.computed(name):
        return None
    short = name.removeprefix("model.").removeprefix("embed_vision.").removeprefix("vision_embedder.")
    if short in PATCHES and "vision_tower" not in name:
        file_name, arrange = PATCHES[short]
        return file_name, arrange(values) if arrange else values
    if name.endswith("language_model.embedding_projection.weight"):
        return "output.weight", values
    known = "model." + name.removeprefix("model.").replace(".ple_block.", ".").replace("model.ple.", "model.")
    file_name = NAMES[known]
    return file_name, gemma4.arrange(file_name, values, to_file=True)


def rope_factors(config):
    head = TEXT["global_head_dim"]
    turned = int(head * config.rope_parameters["full_attention"]["partial_rotary_factor"] / 2)
    return np.array([1.0] * turned + [1e30] * (head // 2 - turned), dtype=np.float32)


def note(values):
    values = np.ascontiguousarray(values, dtype=np.float32)
    return {"shape": list(values.shape), "sha256": hashlib.sha256(values.tobytes()).hexdigest()}


def main(out):
    for kind in (small, experts, unified, embedding):
        torch.manual_seed(7)
        model, folder = kind(), os.path.join(out, kind.__name__)
        with torch.no_grad():
            for _, p in sorted(model.state_dict().items()):
                if p.is_floating_point():
                    p.copy_(torch.randn(p.shape).bfloat16().float())
        expected = {}
        for name, p in model.state_dict().items():
            found = in_file(name, p.float().numpy())
            if found:
                expected[found[0]] = note(found[1])
        if kind is not embedding:
            expected["rope_freqs.weight"] = note(rope_factors(model.config.text_config))
        model.bfloat16().save_pretrained(folder, max_shard_size="60kB" if kind is small else "1GB")
        vocabulary = {p: i for i, p in enumerate(PIECES) if i >= ADDED}
        added = [{"id": i, "content": p, "special": True} for i, p in enumerate(PIECES[:ADDED])]
        tokenizer = {"model": {"type": "BPE", "vocab": vocabulary, "merges": MERGES}, "added_tokens": added}
        for name, content in (("tokenizer.json", tokenizer), ("expected.json", expected)):
            with open(os.path.join(folder, name), "w") as f:
                json.dump(content, f, indent=1, sort_keys=True)


main(sys.argv[1])
