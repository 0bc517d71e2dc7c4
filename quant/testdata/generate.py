"""Writes the golden files beside it, from the reference that the gguf package carries.

    pip install gguf==0.19.0 numpy==2.4.6 && python generate.py

NAME.blocks      blocks of type NAME: random bytes, with scales from the corners of their format
NAME.values      what they decode to, float32
values.f32       inputs for encoders, float32: eight rows of 256
NAME.encoded     values.f32 in type NAME, for the types that the package encodes

All little-endian.
"""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import quants

HERE = Path(__file__).parent
RNG = np.random.default_rng(2024)

# Byte offsets of the float16 fields of a block.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}
# Zeros, the smallest and largest subnormals, the smallest normals, ones, the largest, and the infinities.
CORNERS = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00]


def blocks_of(name: str, size: int, count: int) -> np.ndarray:
    blocks = RNG.integers(0, 256, (count, size), dtype=np.uint8)
    for k, offset in enumerate(HALVES[name]):
        scales = RNG.normal(0, 0.02, count).astype(np.float16)
        corners = np.array(CORNERS, dtype=np.uint16).view(np.float16)
        scales[: len(corners)] = np.roll(corners, 5 * k)
        blocks[:, offset : offset + 2] = scales.view(np.uint8).reshape(count, 2)
    return blocks


def write_decoding() -> None:
    for name in HALVES:
        kind = Type[name]
        block_len, block_bytes = quants.GGML_QUANT_SIZES[kind]
        blocks = blocks_of(name, block_bytes, 20 if block_len == 256 else 64)
        # Full range for the integers that numpy's random bytes miss seldom: all zeros, all ones.
        blocks[-1] = 0xFF
        blocks[-2] = 0x00
        for offset in HALVES[name]:
            blocks[-1, offset : offset + 2] = np.array([-0.0171], np.float16).view(np.uint8)
            blocks[-2, offset : offset + 2] = np.array([0.0171], np.float16).view(np.uint8)
        with np.errstate(all="ignore"):
            save(name, blocks, quants.dequantize(blocks, kind))


def write_decoding_plain() -> None:
    """F16, BF16, and Q8_K, which the package does not decode: float32 d, 256 int8, 16 int16 that decoding ignores."""
    halves = np.concatenate([np.array(CORNERS, np.uint16), RNG.integers(0, 0x10000, 498).astype(np.uint16)])
    save("F16", halves, quants.dequantize(halves, Type.F16))
    save("BF16", halves, quants.dequantize(halves.view(np.uint8).reshape(1, -1), Type.BF16))
    blocks = RNG.integers(0, 256, (8, 292), dtype=np.uint8)
    scales = np.array([0, -0.0, 1e-45, -1e-39, 3e38, 0.013, -0.2, 1], np.float32)
    blocks[:, :4] = scales.view(np.uint8).reshape(8, 4)
    with np.errstate(over="ignore"):
        save("Q8_K", blocks, scales[:, None] * blocks[:, 4:260].view(np.int8).astype(np.float32))


def save(name: str, blocks: np.ndarray, values: np.ndarray) -> None:
    assert values.dtype == np.float32
    (HERE / f"{name}.blocks").write_bytes(blocks.tobytes())
    (HERE / f"{name}.values").write_bytes(values.tobytes())


def write_encoding() -> None:
    rows = RNG.normal(0, 0.05, (8, 256)).astype(np.float32)
    rows[1] = RNG.laplace(0, 0.02, 256)
    rows[2] = np.abs(rows[2])  # one sign
    rows[3] = -0.75  # constant
    rows[4] = 0
    rows[4, 32:64] = np.linspace(-1, 1, 32)  # a block of ties among zeros
    rows[4, 64:96] = np.arange(-16, 16) / 8  # values exactly on and between steps
    rows[5] *= np.float32(1e-6)  # float16 scales become subnormal
    rows[6] *= np.float32(1e5)
    rows[7, ::17] *= 40  # outliers
    (HERE / "values.f32").write_bytes(rows.tobytes())
    for kind in [Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1]:
        with np.errstate(all="ignore"):
            (HERE / f"{kind.name}.encoded").write_bytes(quants.quantize(rows, kind).tobytes())
    (HERE / "Q8_K.encoded").write_bytes(encode_q8_k(rows))


def encode_q8_k(rows: np.ndarray) -> bytes:
    """What ggml makes of rows of 256, which the package does not have: the value of largest magnitude becomes -127."""
    blocks = b""
    for row in rows:
        largest = row[np.abs(row).argmax()]
        scale = np.float32(-127) / largest
        q = np.minimum(127, np.rint(row * scale)).astype(np.int8)
        sums = q.reshape(16, 16).sum(axis=1, dtype=np.int16)
        blocks += (np.float32(1) / scale).tobytes() + q.tobytes() + sums.tobytes()
    return blocks


if __name__ == "__main__":
    write_decoding()
    write_decoding_plain()
    write_encoding()
