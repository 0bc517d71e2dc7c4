"""Blocks of ggml's low-bit types, for random weights: bits are noise, and scales give the values their spread.

The gguf package decodes these types but encodes few of them. A model of random weights loses nothing by it: what the
reference computes with is decoded from the file. Layouts are drawn in quant/*.go.
"""

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# Where a block has its float16 scale; Q2_K's minima have one, too, which is left at 0.
HALF = {
    Type.IQ4_NL: 0,
    Type.IQ4_XS: 0,
    Type.IQ3_S: 0,
    Type.IQ3_XXS: 0,
    Type.IQ2_S: 0,
    Type.IQ2_XS: 0,
    Type.IQ2_XXS: 0,
    Type.IQ1_S: 0,
    Type.TQ1_0: 52,
    Type.TQ2_0: 64,
}
KINDS = [*HALF, Type.IQ1_M, Type.MXFP4, Type.NVFP4]


def put_scale(blocks, kind, scale):
    """Sets the scale of all blocks to the nearest there is."""
    if kind in HALF:
        blocks[:, HALF[kind] : HALF[kind] + 2] = np.array([scale], "<f2").view(np.uint8)
    elif kind == Type.IQ1_M:  # in the top bits of four numbers
        bits = int(np.array([scale], "<f2").view("<u2")[0])
        for i in range(4):
            blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | (bits >> 4 * i & 15) << 4
    elif kind == Type.MXFP4:
        blocks[:, 0] = 127 + round(float(np.log2(scale)))
    else:  # UE4M3: four bits of exponent, three of fraction
        exponent = max(int(np.floor(np.log2(scale))), -6)
        blocks[:, :4] = (exponent + 7) * 8 + min(round((scale / 2.0**exponent - 1) * 8), 7)


def encode(values, kind):
    """Noise with the spread of values, rows of whole blocks."""
    length, size = gguf.GGML_QUANT_SIZES[kind]
    rng = np.random.default_rng(int(np.abs(values).sum() * 1e3))
    blocks = rng.integers(0, 256, (values.size // length, size), np.uint8)
    if kind == Type.TQ1_0:  # bytes that stand for digits: ⌈256·n / 243⌉
        blocks = ((blocks.astype(np.uint32) % 243 * 256 + 242) // 243).astype(np.uint8)
    put_scale(blocks, kind, 1.0)
    put_scale(blocks, kind, float(values.std() / gguf.dequantize(blocks, kind).std()))
    return blocks.reshape(*values.shape[:-1], -1)
