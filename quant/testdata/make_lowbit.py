"""Writes the golden files of the types that generate.py has not, from ggml's own code, and measures ggml's encoders.

    pip install numpy==2.4.6 && pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36
    python make_lowbit.py llama_cpp_python-0.3.36.tar.gz

The archive (SHA-256 below) carries llama.cpp, whose ggml-quants.c is compiled alone, without fused multiply-add.

NAME.blocks      blocks of type NAME: random bytes that reach every entry of the codebook, with scales from the corners
NAME.values      what they decode to, float32
NAME.grid        the codebook of IQ1 to IQ3, one int8 a value, as the library decodes it: for the tests' twins
NAME.encoded     values.f32 in type NAME (for NVFP4 a sixteenth of them)

IQ4_NL, IQ4_XS, Q2_K and Q3_K are encoded with an importance of 1 for every value, which leaves less error than none
does.

    python make_lowbit.py llama_cpp_python-0.3.36.tar.gz --errors samples.f32 …

prints the relative error that ggml's encoders leave on float32 files, for the table in quantize_test.go, and then
that of rows of 256 with the importance of importance_of_columns(), errors weighted by it, for the table in weighted_test.go.
"""

import ctypes
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
RNG = np.random.default_rng(21)

# Values, bytes, and the offset of the float16 scale (None: made otherwise).
SIZES = {
    "IQ4_NL": (32, 18, 0), "IQ4_XS": (256, 136, 0), "IQ3_S": (256, 110, 0), "IQ3_XXS": (256, 98, 0),
    "IQ2_S": (256, 82, 0), "IQ2_XS": (256, 74, 0), "IQ2_XXS": (256, 66, 0), "IQ1_S": (256, 50, 0),
    "IQ1_M": (256, 56, None), "TQ1_0": (256, 54, 52), "TQ2_0": (256, 66, 64), "MXFP4": (32, 17, None),
    "NVFP4": (64, 36, None),
}
# Entries of the codebook, and values of each.
GRIDS = {
    "IQ2_XXS": (256, 8), "IQ2_XS": (512, 8), "IQ2_S": (1024, 8), "IQ1_S": (2048, 8),
    "IQ3_XXS": (256, 4), "IQ3_S": (512, 4),
}
WEIGHTED = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS"]
K_TYPES = {"Q2_K": (256, 84), "Q3_K": (256, 110)}
ENCODED = ["IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"]
CORNERS = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00]

STUB = """
#include <stdlib.h>
void ggml_abort(const char *file, int line, const char *format, ...) { abort(); }
void ggml_critical_section_start(void) {}
void ggml_critical_section_end(void) {}
void ggml_log_internal(int level, const char *format, ...) {}
const char *ggml_type_name(int type) { return ""; }
size_t ggml_type_size(int type) { return 0; }
size_t ggml_row_size(int type, long n) { return n / 256 * (type == 10 ? 84 : 110); }  // Q2_K, Q3_K
"""


def library(archive: Path) -> ctypes.CDLL:
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256, "another archive"
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (folder / "stub.c").write_text(STUB)
    ggml = next(folder.glob("*/vendor/llama.cpp/ggml"))
    subprocess.run(
        ["cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{ggml}/include", f"-I{ggml}/src",
         f"{ggml}/src/ggml-quants.c", "stub.c", "-lm", "-o", "quants.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "quants.so"))


def in_c(name: str) -> str:
    return name.lower().replace("_k", "_K")


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def decode(lib: ctypes.CDLL, name: str, blocks: np.ndarray) -> np.ndarray:
    blocks = np.ascontiguousarray(blocks, np.uint8)
    block_len, block_bytes = (SIZES | K_TYPES)[name][:2]
    values = np.zeros(blocks.size // block_bytes * block_len, np.float32)
    lib[f"dequantize_row_{in_c(name)}"](pointer(blocks), pointer(values), ctypes.c_int64(values.size))
    return values


def importance_of_columns() -> np.ndarray:
    return (np.arange(256) * 37 % 101 + 1).astype(np.float32) / 50


def encode_weighted(lib: ctypes.CDLL, name: str, values: np.ndarray) -> np.ndarray:
    rows = values.size // 256
    blocks = np.zeros(values.size // SIZES[name][0] * SIZES[name][1], np.uint8)
    importance = importance_of_columns()
    quantize = lib[f"quantize_{name.lower()}"]
    quantize.restype = ctypes.c_size_t
    quantize(pointer(values), pointer(blocks), ctypes.c_int64(rows), ctypes.c_int64(256), pointer(importance))
    return blocks


def encode(lib: ctypes.CDLL, name: str, values: np.ndarray) -> np.ndarray:
    values = np.ascontiguousarray(values.reshape(-1), np.float32)
    block_len, block_bytes = (SIZES | K_TYPES)[name][:2]
    blocks = np.zeros(values.size // block_len * block_bytes, np.uint8)
    ones = np.ones(values.size, np.float32)
    importance = pointer(ones) if name.startswith("IQ") or name in K_TYPES else None
    quantize = lib[f"quantize_{in_c(name)}"]
    quantize.restype = ctypes.c_size_t
    quantize(pointer(values), pointer(blocks), ctypes.c_int64(1), ctypes.c_int64(values.size), importance)
    return blocks


def put_scale(name: str, blocks: np.ndarray, scales: np.ndarray) -> None:
    """Writes float16 scales where blocks of the type have them."""
    halves = scales.astype(np.float16).view(np.uint16)
    if name == "IQ1_M":
        for i in range(4):
            nibble = (halves >> (4 * i) & 15).astype(np.uint8)
            blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | nibble << 4
    elif SIZES[name][2] is not None:
        at = SIZES[name][2]
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)


def put_entries(name: str, blocks: np.ndarray) -> None:
    """Makes the first blocks go through the codebook: entry e stands at place e of those that all blocks have."""
    name, count = ("IQ1_S", 2048) if name == "IQ1_M" else (name, GRIDS[name][0])
    groups = 256 // GRIDS[name][1]
    for e in range(count):
        put_entry(blocks[e // groups], e % groups, e)


def put_entry(block: np.ndarray, k: int, e: int) -> None:
    """Writes entry e at place k of a block of some type, told by its size."""
    low, high = e & 255, e >> 8
    match block.size:
        case 66:  # IQ2_XXS
            block[2 + k // 4 * 8 + k % 4] = low
        case 74:  # IQ2_XS
            block[2 + 2 * k], block[3 + 2 * k] = low, block[3 + 2 * k] & 0xFE | high
        case 82:  # IQ2_S
            block[2 + k] = low
            put_bits(block, 66 + k // 4, k % 4 * 2, 2, high)
        case 50:  # IQ1_S
            block[2 + k] = low
            word = int(block[34 + k // 4 * 2]) | int(block[35 + k // 4 * 2]) << 8
            word = word & ~(7 << (k % 4 * 3)) | high << (k % 4 * 3)
            block[34 + k // 4 * 2], block[35 + k // 4 * 2] = word & 255, word >> 8
        case 56:  # IQ1_M
            block[k] = low
            put_bits(block, 32 + k // 2, k % 2 * 4, 3, high)
        case 98:  # IQ3_XXS
            block[2 + k] = low
        case 110:  # IQ3_S
            block[2 + k] = low
            put_bits(block, 66 + k // 8, k % 8, 1, high)


def put_bits(block: np.ndarray, at: int, shift: int, width: int, value: int) -> None:
    block[at] = int(block[at]) & ~((2**width - 1) << shift) | value << shift


def write_decoding(lib: ctypes.CDLL) -> None:
    for name, (block_len, block_bytes, _) in SIZES.items():
        grid = GRIDS.get("IQ1_S" if name == "IQ1_M" else name)
        covering = grid[0] * grid[1] // 256 if grid else 0
        count = max(covering, 20 if block_len == 256 else 64) + 2 + len(CORNERS)
        blocks = RNG.integers(0, 256, (count, block_bytes), dtype=np.uint8)
        if grid:
            put_entries(name, blocks)
        # Full range for the integers that random bytes miss seldom: all zeros, all ones.
        blocks[-1], blocks[-2] = 0x00, 0xFF
        scales = RNG.normal(0, 0.02, count).astype(np.float16)
        scales[-2 - len(CORNERS) : -2] = np.array(CORNERS, np.uint16).view(np.float16)
        put_scale(name, blocks, scales)
        (HERE / f"{name}.blocks").write_bytes(blocks.tobytes())
        (HERE / f"{name}.values").write_bytes(decode(lib, name, blocks).tobytes())


def write_grids(lib: ctypes.CDLL) -> None:
    for name, (count, width) in GRIDS.items():
        groups, block_bytes = 256 // width, SIZES[name][1]
        blocks = np.zeros((count // groups, block_bytes), np.uint8)
        put_entries(name, blocks)
        # A scale that makes the levels whole; IQ1's shift of an eighth is taken off again.
        unit = {"IQ2": 8, "IQ3": 4, "IQ1": 1}[name[:3]] if name != "IQ3_S" else 1
        put_scale(name, blocks, np.full(len(blocks), unit))
        values = decode(lib, name, blocks) - (0.125 if name == "IQ1_S" else 0)
        assert (values == values.astype(np.int8)).all()
        (HERE / f"{name}.grid").write_bytes(values.astype(np.int8).tobytes())


def write_encoding(lib: ctypes.CDLL) -> None:
    values = np.frombuffer((HERE / "values.f32").read_bytes(), np.float32)
    for name in ENCODED:
        blocks = encode(lib, name, values / 16 if name == "NVFP4" else values)
        (HERE / f"{name}.encoded").write_bytes(blocks.tobytes())


def print_errors(lib: ctypes.CDLL, files: list[str]) -> None:
    for file in files:
        values = np.frombuffer(Path(file).read_bytes(), np.float32)
        errors = []
        for name in [*ENCODED, *K_TYPES]:
            off = decode(lib, name, encode(lib, name, values)).astype(np.float64) - values
            errors.append(f"{name} {np.sqrt((off**2).sum() / (values.astype(np.float64) ** 2).sum()):.5f}")
        print(Path(file).stem, *errors)
    for kind in (16, 17, 19, 22, 29):  # IQ2_XXS, IQ2_XS, IQ1_S, IQ2_S, IQ1_M
        lib.iq2xs_init_impl(kind)
    for size in (256, 512):  # IQ3_XXS, IQ3_S
        lib.iq3xs_init_impl(size)
    importance = importance_of_columns().astype(np.float64)
    for file in files:
        values = np.frombuffer(Path(file).read_bytes(), np.float32)
        errors = []
        for name in WEIGHTED:
            off = decode(lib, name, encode_weighted(lib, name, values)).astype(np.float64) - values
            of_values = (values.astype(np.float64).reshape(-1, 256) ** 2 * importance).sum()
            errors.append(f"{name} {np.sqrt((off.reshape(-1, 256) ** 2 * importance).sum() / of_values):.5f}")
        print(Path(file).stem, "weighted", *errors)


def main() -> None:
    lib = library(Path(sys.argv[1]))
    if sys.argv[2:3] == ["--errors"]:
        print_errors(lib, sys.argv[3:])
        return
    write_decoding(lib)
    write_grids(lib)
    write_encoding(lib)


if __name__ == "__main__":
    main()
