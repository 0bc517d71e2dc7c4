"""Encodes rows of values into ggml's K blocks of 256, which the gguf package decodes but does not encode.

Scales are taken from a sub-block's extremes, without a search: a case needs blocks that are valid and hold varied
numbers, not the best ones. Layouts are drawn in quant/*.go.
"""

import numpy as np
from gguf import GGMLQuantizationType as Type


def half(x):
    """As float16 holds it: float32 values, and their bytes."""
    x = x.astype("<f2")
    return x.astype(np.float32), x.view(np.uint8)


def over(x, y):
    return np.divide(x, y, out=np.zeros_like(x), where=y != 0)


def affine(x, sub, levels, scale_levels):
    """x ≈ d·s·q − dmin·m in sub-blocks: the halves, s, m and q."""
    x = x.reshape(len(x), -1, sub)
    least = np.minimum(x.min(2), 0)
    scale = (x.max(2) - least) / levels
    d, d_bytes = half(scale.max(1, keepdims=True) / scale_levels)
    dmin, dmin_bytes = half(-least.min(1, keepdims=True) / scale_levels)
    s = np.clip(np.rint(over(scale, d + 0 * scale)), 0, scale_levels)
    m = np.clip(np.rint(over(-least, dmin + 0 * scale)), 0, scale_levels)
    q = over(x + (dmin * m)[:, :, None], (d * s)[:, :, None] + 0 * x)
    q = np.clip(np.rint(q), 0, levels)
    return d_bytes, dmin_bytes, s.astype(np.uint8), m.astype(np.uint8), q.reshape(len(x), 256).astype(np.uint8)


def symmetric(x, levels, scale_levels):
    """x ≈ d·s·(q − levels) in sub-blocks of 16: the half, s and q."""
    x = x.reshape(len(x), 16, 16)
    scale = np.abs(x).max(2) / levels
    d, d_bytes = half(scale.max(1, keepdims=True) / scale_levels)
    s = np.clip(np.rint(over(scale, d + 0 * scale)), 0, scale_levels)
    q = np.rint(over(x, (d * s)[:, :, None] + 0 * x))
    return d_bytes, s.astype(np.uint8), (np.clip(q, -levels, levels - 1) + levels).reshape(len(x), 256).astype(np.uint8)


def pairs_of_bits(q):
    """Two bits of each value: bits 2j of a half's byte i are those of its value 32j + i."""
    q = q.reshape(len(q), 2, 4, 32)
    return (q[:, :, 0] | q[:, :, 1] << 2 | q[:, :, 2] << 4 | q[:, :, 3] << 6).reshape(len(q), 64)


def nibbles(q):
    q = q.reshape(len(q), 4, 2, 32)
    return (q[:, :, 0] | q[:, :, 1] << 4).reshape(len(q), 128)


def six_bits(s, m):
    """Eight scales and eight minima of six bits in 12 bytes."""
    low = s[:, :4] | s[:, 4:] >> 4 << 6
    mid = m[:, :4] | m[:, 4:] >> 4 << 6
    return np.concatenate([low, mid, s[:, 4:] & 15 | m[:, 4:] << 4], 1)


def q2_k(x):
    d, dmin, s, m, q = affine(x, 16, 3, 15)
    return [s | m << 4, pairs_of_bits(q), d, dmin]


def q3_k(x):
    d, s, q = symmetric(x, 4, 31)
    s += 32
    high = np.zeros((len(x), 32), np.uint8)
    for k in range(8):
        high |= (q[:, 32 * k : 32 * k + 32] >> 2) << k
    top = np.zeros((len(x), 4), np.uint8)
    for j in range(16):
        top[:, j % 4] |= s[:, j] >> 4 << 2 * (j // 4)
    return [high, pairs_of_bits(q & 3), s[:, :8] & 15 | s[:, 8:] << 4, top, d]


def q4_k(x):
    d, dmin, s, m, q = affine(x, 32, 15, 63)
    return [d, dmin, six_bits(s, m), nibbles(q)]


def q5_k(x):
    d, dmin, s, m, q = affine(x, 32, 31, 63)
    high = np.zeros((len(x), 32), np.uint8)
    for k in range(8):
        high |= (q[:, 32 * k : 32 * k + 32] >> 4) << k
    return [d, dmin, six_bits(s, m), high, nibbles(q & 15)]


def q6_k(x):
    d, s, q = symmetric(x, 32, 127)
    a, b, c, e = q.reshape(len(x), 2, 4, 32).transpose(2, 0, 1, 3)
    low = np.stack([a & 15 | c << 4, b & 15 | e << 4], 2)
    high = a >> 4 | b >> 4 << 2 | c >> 4 << 4 | e >> 4 << 6
    return [low.reshape(len(x), 128), high.reshape(len(x), 64), s, d]


ENCODERS = {Type.Q2_K: q2_k, Type.Q3_K: q3_k, Type.Q4_K: q4_k, Type.Q5_K: q5_k, Type.Q6_K: q6_k}


def encode(values, kind):
    """Bytes of an array's rows; the last dimension is a multiple of 256."""
    parts = ENCODERS[kind](values.reshape(-1, 256).astype(np.float32))
    return np.concatenate(parts, 1).reshape(*values.shape[:-1], -1)
