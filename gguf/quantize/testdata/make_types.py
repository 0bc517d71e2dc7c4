"""Asks llama.cpp which types its quantizer gives to the tensors of Gemma 4's five sizes, and writes types.txt.gz.

    npm pack @node-llama-cpp/linux-x64@3.22.1 && tar -xzf node-llama-cpp-linux-x64-3.22.1.tgz
    pip install gguf==0.19.0 numpy
    python make_types.py package/bins/linux-x64

A file of each size is written with all of its metadata and none of its data (a hole as large as the data), which is
enough for a dry run. Each size is a line with its metadata, a line for each tensor, and a line for each mix with one
letter for each tensor, see letters; "MIX!" is the mix with an importance matrix.
"""

import ctypes
import gzip
import json
import os
import re
import sys
import tempfile

import gguf

LETTERS = {
    t: chr(65 + i)
    for i, t in enumerate(
        "f32 f16 bf16 q4_0 q4_1 q5_0 q5_1 q8_0 q2_K q3_K q4_K q5_K q6_K iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s "
        "iq4_nl iq4_xs tq1_0 tq2_0 mxfp4 nvfp4".split()
    )
}
FTYPES = {
    "F32": 0,
    "F16": 1,
    "Q4_0": 2,
    "Q4_1": 3,
    "Q8_0": 7,
    "Q5_0": 8,
    "Q5_1": 9,
    "Q2_K": 10,
    "Q3_K_S": 11,
    "Q3_K_M": 12,
    "Q3_K_L": 13,
    "Q4_K_S": 14,
    "Q4_K_M": 15,
    "Q5_K_S": 16,
    "Q5_K_M": 17,
    "Q6_K": 18,
    "IQ2_XXS": 19,
    "IQ2_XS": 20,
    "Q2_K_S": 21,
    "IQ3_XS": 22,
    "IQ3_XXS": 23,
    "IQ1_S": 24,
    "IQ4_NL": 25,
    "IQ3_S": 26,
    "IQ3_M": 27,
    "IQ2_S": 28,
    "IQ2_M": 29,
    "IQ4_XS": 30,
    "IQ1_M": 31,
    "BF16": 32,
    "TQ1_0": 36,
    "TQ2_0": 37,
    "MXFP4_MOE": 38,
}
# blocks, width, heads, kv heads (sliding, global), period, feed-forward, shared kv, per-layer width, experts
SIZES = {
    "e2b": dict(blocks=35, width=1536, heads=8, kv=(1, 1), period=5, ff=6144, shared=20, wide=True, per_layer=256),
    "e4b": dict(blocks=42, width=2560, heads=8, kv=(2, 2), period=6, ff=10240, shared=18, per_layer=256),
    "12b": dict(blocks=48, width=3840, heads=16, kv=(8, 1), period=6, ff=15360),
    "26b": dict(blocks=30, width=2816, heads=16, kv=(8, 2), period=6, ff=2112, experts=(128, 8, 704)),
    "31b": dict(blocks=60, width=5376, heads=32, kv=(16, 4), period=6, ff=21504),
}
VOCABULARY = 262144


def size_of(blocks, width, heads, kv, period, ff, shared=0, wide=False, per_layer=0, experts=None):
    """The metadata and the tensors, with ggml's order of dimensions; norms are F32, the rest BF16."""
    sliding = [(i + 1) % period != 0 for i in range(blocks)]
    meta = {
        "block_count": blocks,
        "context_length": 131072,
        "embedding_length": width,
        "feed_forward_length": [ff * (2 if wide and i >= blocks - shared else 1) for i in range(blocks)],
        "attention.head_count": heads,
        "attention.head_count_kv": [kv[not s] for s in sliding],
        "attention.key_length": 512,
        "attention.value_length": 512,
        "attention.key_length_swa": 256,
        "attention.value_length_swa": 256,
        "attention.sliding_window": 512,
        "attention.shared_kv_layers": shared,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.sliding_window_pattern": sliding,
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
        "rope.dimension_count": 512,
        "rope.dimension_count_swa": 256,
        "final_logit_softcapping": 30.0,
        "embedding_length_per_layer_input": per_layer,
    }
    if experts:
        meta |= dict(zip(("expert_count", "expert_used_count", "expert_feed_forward_length"), experts))
    t = {"token_embd.weight": (width, VOCABULARY), "output_norm.weight": (width,), "rope_freqs.weight": (256,)}
    if per_layer:
        t["per_layer_token_embd.weight"] = (per_layer * blocks, VOCABULARY)
        t["per_layer_model_proj.weight"] = (width, per_layer * blocks)
        t["per_layer_proj_norm.weight"] = (per_layer,)
    for i in range(blocks):
        b, head, keys = f"blk.{i}.", 256 if sliding[i] else 512, kv[not sliding[i]]
        wider = meta["feed_forward_length"][i]
        t[b + "attn_q.weight"] = (width, heads * head)
        t[b + "attn_k.weight"] = (width, keys * head)
        if per_layer or sliding[i]:
            t[b + "attn_v.weight"] = (width, keys * head)
        t[b + "attn_output.weight"] = (heads * head, width)
        t[b + "ffn_gate.weight"] = t[b + "ffn_up.weight"] = (width, wider)
        t[b + "ffn_down.weight"] = (wider, width)
        for norm in ("attn_q_norm", "attn_k_norm"):
            t[b + norm + ".weight"] = (head,)
        norms = ["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"]
        t[b + "layer_output_scale.weight"] = (1,)
        if per_layer:
            t[b + "inp_gate.weight"], t[b + "proj.weight"] = (width, per_layer), (per_layer, width)
            norms.append("post_norm")
        if experts:
            count, _, inner = experts
            t[b + "ffn_gate_inp.weight"] = (width, count)
            t[b + "ffn_gate_inp.scale"], t[b + "ffn_down_exps.scale"] = (width,), (count,)
            t[b + "ffn_gate_up_exps.weight"] = (width, 2 * inner, count)
            t[b + "ffn_down_exps.weight"] = (inner, width, count)
            norms += ["post_ffw_norm_1", "post_ffw_norm_2", "pre_ffw_norm_2"]
        for norm in norms:
            t[b + norm + ".weight"] = (width,)
    return meta, t


def type_of(name, dims):
    return "f32" if len(dims) == 1 or "ffn_gate_inp" in name else "bf16"


def write(path, meta, tensors):
    w = gguf.GGUFWriter(path, "gemma4")
    for key, value in meta.items():
        key = "gemma4." + key
        if isinstance(value, list):
            w.add_array(key, value)
        elif isinstance(value, float):
            w.add_float32(key, value)
        else:
            w.add_uint32(key, value)
    import numpy as np

    for name, dims in tensors.items():
        kind = type_of(name, dims)
        raw = gguf.GGMLQuantizationType.F32 if kind == "f32" else gguf.GGMLQuantizationType.BF16
        count = int(np.prod(dims))
        w.add_tensor_info(name, list(reversed(dims)), np.dtype(np.float32), count * (4 if kind == "f32" else 2), raw)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    w.close()
    os.truncate(path, os.path.getsize(path) + 64 + sum(
        -(-int(np.prod(d)) * (4 if type_of(n, d) == "f32" else 2) // 32) * 32 for n, d in tensors.items()
    ))


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.POINTER(ctypes.c_float)), ("size", ctypes.c_size_t)]


class Parameters(ctypes.Structure):
    _fields_ = (
        [(n, ctypes.c_int32) for n in ("threads", "ftype", "output", "embedding")]
        + [(n, ctypes.c_bool) for n in ("again", "with_output", "copy", "pure", "split", "dry_run")]
        + [(n, ctypes.c_void_p) for n in ("imatrix", "metadata", "types", "prune")]
    )


LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Library:
    def __init__(self, folder):
        for name in ("libggml-base.so", "libggml-cpu-x64.so", "libggml.v0.5.0.so"):
            ctypes.CDLL(os.path.join(folder, name), ctypes.RTLD_GLOBAL)
        self.llama = ctypes.CDLL(os.path.join(folder, "libllama.v0.5.0.so"))
        self.llama.llama_model_quantize_default_params.restype = Parameters
        self.llama.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Parameters)]
        self.log = []
        self.keep = LOG(lambda level, text, _: self.log.append(text.decode()))
        self.llama.llama_log_set(self.keep, None)

    def types(self, path, ftype, importance):
        p = self.llama.llama_model_quantize_default_params()
        p.ftype, p.dry_run, p.threads = ftype, True, 1
        entries = (Entry * 2)()
        entries[0] = Entry(b"none", (ctypes.c_float * 1)(1.0), 1)
        if importance:
            p.imatrix = ctypes.cast(entries, ctypes.c_void_p)
        self.log = []
        if self.llama.llama_model_quantize(path.encode(), (path + ".out").encode(), ctypes.byref(p)) != 0:
            raise SystemExit("".join(self.log[-20:]))
        out = {}
        for line in "".join(self.log).split("\n"):
            m = re.match(r"\[ *\d+/ *\d+\] (\S+) +- \[.*\], type = +(\S+), size = .*?(?:\((\S+)\))?$", line)
            if m:
                out[m[1]] = m[3] or m[2]
        return out


def main(folder):
    library, lines = Library(folder), []
    for size, shape in SIZES.items():
        meta, tensors = size_of(**shape)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, size + ".gguf")
            write(path, meta, tensors)
            lines.append(f"size {size} " + json.dumps(meta, separators=(",", ":")))
            for name, dims in tensors.items():
                lines.append(f"tensor {name} {type_of(name, dims)} " + "x".join(map(str, dims)))
            for mix, ftype in FTYPES.items():
                for mark in ("", "!"):
                    types = library.types(path, ftype, mark == "!")
                    lines.append(f"mix {mix}{mark} " + "".join(LETTERS[types[n]] for n in tensors))
    here = os.path.dirname(os.path.abspath(__file__))
    lines.insert(0, "letters " + json.dumps({v: k for k, v in LETTERS.items()}, separators=(",", ":")))
    with open(os.path.join(here, "types.txt.gz"), "wb") as f:
        with gzip.GzipFile(filename="", fileobj=f, mode="wb", mtime=0) as z:
            z.write(("\n".join(lines) + "\n").encode())


main(sys.argv[1])
