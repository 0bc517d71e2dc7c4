"""Writes a checkpoint as a GGUF file that gemwire opens, and reads one back to go on from.

python export.py CHECKPOINT VOCABULARY OUT.gguf [--types q8_0|q6_k|q4_k_m|f32] [--towers q8_0|f16]
"""

import argparse
import os
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

import vocabulary
from model import Shape

MAKERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "testdata", "makers")
LAYERS = {"q8_0": Type.Q8_0, "q6_k": Type.Q6_K, "q4_k_m": Type.Q4_K}


def encode(values, kind):
    """Values in blocks. The K blocks are written by the makers of the conformance cases."""
    sys.path.insert(0, os.environ.get("MAKERS", MAKERS))
    import kblocks

    return kblocks.encode(values, kind) if kind in kblocks.ENCODERS else gguf.quantize(values, kind)


def metadata(s):
    sliding = [c == "S" for c in s.pattern]
    return {
        "block_count": len(s.pattern),
        "context_length": s.context,
        "embedding_length": s.width,
        "feed_forward_length": [s.of(i)[1] for i in range(len(s.pattern))],
        "attention.head_count": s.heads,
        "attention.head_count_kv": 1,
        "attention.key_length": s.head[1],
        "attention.value_length": s.head[1],
        "attention.key_length_swa": s.head[0],
        "attention.value_length_swa": s.head[0],
        "attention.sliding_window": s.window,
        "attention.shared_kv_layers": s.shared,
        "attention.layer_norm_rms_epsilon": s.epsilon,
        "attention.sliding_window_pattern": sliding,
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
        "rope.dimension_count": s.head[1],
        "rope.dimension_count_swa": s.head[0],
        "final_logit_softcapping": s.softcap,
        "embedding_length_per_layer_input": s.per_layer,
    }


def type_of(name, values, types):
    if values.ndim == 1 or types == "f32":
        return Type.F32
    if name.endswith((".inp_gate.weight", ".proj.weight")) or name == "per_layer_model_proj.weight":
        return Type.F16
    if name == "per_layer_token_embd.weight":
        return Type.Q4_K if types == "q4_k_m" else Type.Q6_K
    if name == "token_embd.weight" or types == "q4_k_m" and name.endswith(("ffn_down.weight", "attn_v.weight")):
        return Type.Q8_0 if types == "q8_0" else Type.Q6_K
    return LAYERS[types]


def tensors(state, shape):
    """Arrays under the file's names."""
    pairs = shape.head[1] // 2
    yield "rope_freqs.weight", np.array([1.0] * (pairs // 4) + [1e30] * (pairs - pairs // 4), np.float32)
    for i in range(len(shape.pattern)):
        yield f"blk.{i}.layer_output_scale.weight", np.ones(1, np.float32)
    for name, values in state.items():
        yield name.removesuffix(".weight") + ".weight", values.float().cpu().numpy()


def tower_type(name, values, types):
    """Matrices of the towers in blocks or halves; what is small, or no matrix of a product, in full or in halves."""
    if values.ndim == 1 or values.ndim == 4 and name[0] == "a" or "conv_dw" in name:
        return Type.F32
    return Type.Q8_0 if types == "q8_0" and values.ndim == 2 else Type.F16


def write(path, state, shape, words, types, name="Nano", seen=None, seen_types="q8_0"):
    out = gguf.GGUFWriter(path, "gemma4")
    out.add_name(name)
    out.add_file_type({"f32": 0, "q8_0": 7, "q6_k": 18, "q4_k_m": 15}[types])
    out.add_license("Apache-2.0 OR MIT")
    kinds = {bool: out.add_bool, int: out.add_uint32, float: out.add_float32, list: out.add_array}
    keys, more = metadata(shape), []
    if seen:
        import towers

        keys, more = keys | towers.metadata(seen[0].s), towers.tensors(*seen)
    for key, value in keys.items():
        kinds[type(value)]("gemma4." + key, value)
    vocabulary.write(out, words)
    for tensor, values in [*tensors(state, shape), *more]:
        kind = tower_type(tensor, values, seen_types) if tensor.startswith(("v.", "a.", "mm.")) else type_of(tensor, values, types)
        if kind == Type.F32:
            out.add_tensor(tensor, values.astype(np.float32))
        elif kind == Type.F16:
            out.add_tensor(tensor, values.astype(np.float16))
        else:
            out.add_tensor(tensor, encode(np.ascontiguousarray(values, np.float32), kind), raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def read(path, names):
    """The weights of a file, as those of a model whose parameters have these names."""
    import torch

    stored = {t.name: t for t in gguf.GGUFReader(path).tensors}
    state = {}
    for name in names:
        tensor = stored[name.removesuffix(".weight") + ".weight"]
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        shape = [int(n) for n in reversed(tensor.shape)]
        state[name] = torch.from_numpy(np.array(values, np.float32).reshape(shape))
    return state


def seen_by(saved):
    """The towers of a checkpoint that has some."""
    if "eyes" not in saved:
        return None
    import towers

    sizes = towers.Sizes(**saved["sizes"])
    eyes, ears = (of(sizes, saved["shape"]["width"]) for of in (towers.Eyes, towers.Ears))
    eyes.load_state_dict(saved["eyes"])
    ears.load_state_dict(saved["ears"])
    return eyes, ears


def main():
    import torch

    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("checkpoint")
    p.add_argument("vocabulary")
    p.add_argument("out")
    p.add_argument("--types", default="q6_k", choices=["f32", *LAYERS])
    p.add_argument("--towers", default="q8_0", choices=["q8_0", "f16"])
    a = p.parse_args()
    saved = torch.load(a.checkpoint, map_location="cpu", weights_only=True)
    write(a.out, saved["model"], Shape(**saved["shape"]), vocabulary.load(a.vocabulary), a.types, seen=seen_by(saved), seen_types=a.towers)
    print(f"{a.out}: {os.path.getsize(a.out) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
