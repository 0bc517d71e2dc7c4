#!/usr/bin/env python3
"""Writes the case of testdata/conformance/assistant: an assistant with random weights for the model
testdata/conformance/e2b.gguf, and what transformers' Gemma4AssistantForCausalLM drafts with it.

    make.py [FOLDER]        (default: testdata/conformance/assistant)

assistant.gguf has the metadata and the names that llama.cpp's converter gives an assistant, and the clusters of E2B's
and E4B's, which that converter leaves out. reference.safetensors holds, for each prompt n of prompts.json:

    n.hidden        [d]                 the output of the model's final norm at the prompt's last position
    n.full.logits   [steps, vocab]      of a chain of greedy steps whose logits are of the whole vocabulary
    n.full.hidden   [steps, d]          what each step hands to the next
    n.few.logits, n.few.hidden          the same where clusters narrow the logits; others have the least of them less one

A step sees the keys before the token it is given, and of sliding layers as many as the window leaves a query at that
token's position. transformers' own loop hands over keys as its cache has them, which are more or fewer in places.

Wants torch, transformers 5.17 (5.23 refuses to make an assistant) and safetensors, no GPU and no network.
"""
import json
import os
import struct
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import Gemma4AssistantConfig, Gemma4AssistantForCausalLM, Gemma4TextConfig

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "peft-check"))
import ggufmodel  # noqa: E402

DATA = os.path.join(HERE, "..", "..", "..", "testdata", "conformance")
WIDTH, LAYERS, HEADS, FF, CLUSTERS, USED, STEPS = 32, ["sliding", "sliding", "full"], 2, 64, 64, 4, 3
PROMPTS = [
    [2, 5, 384, 279, 866, 6, 279, 5, 383, 279],
    [2] + [(i * i * 37 + 11 * i) % 1800 + 100 for i in range(44)],  # longer than the window
]


def assistant_of(sizes, clusters):
    """sizes is the metadata of the model's file, without the prefix."""
    text = Gemma4TextConfig(
        vocab_size=sizes["vocab"], vocab_size_per_layer_input=0, hidden_size=WIDTH, intermediate_size=FF, num_hidden_layers=len(LAYERS),
        num_attention_heads=HEADS, num_key_value_heads=sizes["attention.head_count_kv"], head_dim=sizes["attention.key_length_swa"],
        global_head_dim=sizes["attention.key_length"], sliding_window=sizes["attention.sliding_window"],
        layer_types=[f"{kind}_attention" for kind in LAYERS], num_kv_shared_layers=len(LAYERS), use_double_wide_mlp=False,
        hidden_size_per_layer_input=0, final_logit_softcapping=None, rms_norm_eps=sizes["attention.layer_norm_rms_epsilon"],
    )
    config = Gemma4AssistantConfig(
        text_config=text, backbone_hidden_size=sizes["embedding_length"], use_ordered_embeddings=clusters, num_centroids=CLUSTERS,
        centroid_intermediate_top_k=USED,
    )
    config._attn_implementation = text._attn_implementation = "eager"
    return Gemma4AssistantForCausalLM(config).float().eval()


def randomize(model):
    """Weights that keep what a layer computes near 1, as float16 holds them."""
    torch.manual_seed(5)
    with torch.no_grad():
        for name, p in sorted(model.state_dict().items()):
            if name == "lm_head.weight" or "inv_freq" in name or "embed_scale" in name:
                continue
            if name.endswith("token_ordering"):
                p.copy_(torch.randperm(p.numel()))
            elif "norm" in name or name.endswith("layer_scalar"):
                mean = p.numel() ** -0.25 * 2 if "q_norm" in name else 1.0
                p.copy_(mean * (1 + 0.1 * torch.randn(p.shape)))
            else:
                p.copy_((torch.randn(p.shape) / p.shape[-1] ** 0.5).half().float())


def chain(target, assistant, token, hidden, position, keys):
    """STEPS greedy steps: logits and hidden states."""
    logits, hiddens, embed = [], [], target.get_input_embeddings()
    for _ in range(STEPS):
        out = assistant(
            inputs_embeds=torch.cat([embed(token), hidden], -1), position_ids=torch.tensor([[position]]), shared_kv_states=dict(keys),
        )
        token, hidden = out.logits.argmax(-1), out.last_hidden_state
        logits.append(out.logits[0, 0])
        hiddens.append(hidden[0, 0])
    return torch.stack(logits), torch.stack(hiddens)


STRING, ARRAY, UINT32, INT32, FLOAT32, BOOL = 8, 9, 4, 5, 6, 7


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(v):
    if isinstance(v, str):
        return struct.pack("<I", STRING) + text(v)
    if isinstance(v, list):  # of bools
        return struct.pack("<IIQ", ARRAY, BOOL, len(v)) + struct.pack(f"<{len(v)}?", *v)
    if isinstance(v, float):
        return struct.pack("<If", FLOAT32, v)
    return struct.pack("<II", UINT32, v)


def write_gguf(path, meta, tensors):
    kinds = {"float32": 0, "float16": 1, "int32": 26}
    head, body = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta)), b""
    for key, v in meta.items():
        head += text(key) + value(v)
    for name, t in tensors.items():
        head += text(name) + struct.pack("<I", t.ndim) + struct.pack(f"<{t.ndim}Q", *t.shape[::-1]) + struct.pack("<IQ", kinds[str(t.dtype)], len(body))
        body += t.tobytes()
        body += bytes(-len(body) % 32)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + body)


LAYER = {hf: gguf for gguf, hf in ggufmodel.LAYER.items()}
WHOLE = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "pre_projection.weight": "nextn.pre_projection.weight",
    "post_projection.weight": "nextn.post_projection.weight", "masked_embedding.centroids.weight": "masked_embd_centroids.weight",
    "masked_embedding.token_ordering": "masked_embd_ordering",
}


def gguf_name(name):
    if name in WHOLE:
        return WHOLE[name]
    _, _, layer, rest = name.split(".", 3)
    if rest == "layer_scalar":
        return f"blk.{layer}.layer_output_scale.weight"
    return f"blk.{layer}.{LAYER[rest.removesuffix('.weight')]}.weight"


# What an assistant has in common with its model.
SAME = [
    "context_length", "attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.key_length_swa",
    "attention.value_length_swa", "attention.sliding_window", "attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.freq_base_swa",
    "rope.dimension_count", "rope.dimension_count_swa",
]


def save_assistant(path, sizes, rope_freqs, model):
    keys = {
        "block_count": len(LAYERS), "embedding_length": WIDTH, "embedding_length_out": sizes["embedding_length"],
        "nextn_predict_layers": len(LAYERS), "feed_forward_length": FF, "attention.head_count": HEADS,
        "attention.shared_kv_layers": len(LAYERS), "attention.sliding_window_pattern": [kind == "sliding" for kind in LAYERS],
        "embedding_length_per_layer_input": 0, "centroid_top_k": USED,
    } | {key: sizes[key] for key in SAME}
    meta = {"general.architecture": "gemma4-assistant", "general.name": "e2b assistant", "general.file_type": 1}
    meta |= {"gemma4-assistant." + key: v for key, v in keys.items()}
    tensors = {"rope_freqs.weight": rope_freqs}
    for name, p in model.state_dict().items():
        if name == "lm_head.weight" or "inv_freq" in name or "embed_scale" in name:
            continue
        p = p.detach().numpy()
        if name.endswith("token_ordering"):
            p = p.astype(np.int32)
        elif p.ndim > 1 and "centroids" not in name:
            p = p.astype(np.float16)
        tensors[gguf_name(name)] = p
    write_gguf(path, meta, tensors)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(DATA, "e2b.gguf")
    target, (meta, tensors) = ggufmodel.build(path), ggufmodel.read(path)
    sizes = {key.removeprefix("gemma4."): v for key, v in meta.items()} | {"vocab": len(tensors["token_embd.weight"])}
    few = assistant_of(sizes, True)
    randomize(few)
    full = assistant_of(sizes, False)
    full.load_state_dict({n: p for n, p in few.state_dict().items() if "masked_embedding" not in n})
    save_assistant(os.path.join(folder, "assistant.gguf"), sizes, tensors["rope_freqs.weight"], few)

    reference, prompts = {}, []
    for n, ids in enumerate(PROMPTS):
        with torch.no_grad():
            out = target(input_ids=torch.tensor([ids]), output_hidden_states=True, return_shared_kv_states=True)
            token, hidden = out.logits[:, -1:].argmax(-1), out.hidden_states[-1][:, -1:]
            seen = {"full_attention": len(ids), "sliding_attention": min(len(ids), sizes["attention.sliding_window"] - 1)}
            keys = {kind: tuple(t[:, :, -seen[kind]:] for t in out.shared_kv_states[kind]) for kind in seen}
            reference[f"{n}.hidden"] = hidden[0, 0]
            for name, assistant in (("full", full), ("few", few)):
                logits, hiddens = chain(target, assistant, token, hidden, len(ids), keys)
                reference[f"{n}.{name}.logits"], reference[f"{n}.{name}.hidden"] = logits, hiddens
                print(n, name, logits.argmax(-1).tolist(), f"deviation {logits.std().item():.2f}")
        prompts.append({"ids": ids, "token": token.item()})
    save_file({name: t.contiguous().clone() for name, t in reference.items()}, os.path.join(folder, "reference.safetensors"))
    with open(os.path.join(folder, "prompts.json"), "w") as f:
        json.dump({"prompts": prompts}, f)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(DATA, "assistant"))
