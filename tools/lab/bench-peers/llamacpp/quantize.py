#!/usr/bin/env python3
"""Quantizes a GGUF file with llama.cpp's prebuilt library: what gemwire's quantizer is held against.

    quantize.py FOLDER IN.gguf OUT.gguf TYPE

FOLDER has libllama.*.so, as npm's @node-llama-cpp/linux-x64 brings it (bins/linux-x64).
"""
import ctypes
import glob
import os
import sys

# llama_ftype of llama.h.
TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_S": 11, "Q3_K_M": 12,
         "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18, "IQ4_NL": 25, "IQ3_S": 26,
         "IQ3_M": 27, "IQ4_XS": 30, "BF16": 32, "TQ1_0": 36, "TQ2_0": 37, "MXFP4_MOE": 38, "NVFP4": 39}


class Params(ctypes.Structure):
    """The fields that are set; what follows is llama.cpp's own, and passes through memory as it came."""
    _fields_ = [("threads", ctypes.c_int32), ("type", ctypes.c_int32), ("output", ctypes.c_int32),
                ("embedding", ctypes.c_int32), ("requantize", ctypes.c_bool), ("rest", ctypes.c_uint8 * 239)]


def main():
    folder, source, target, kind = sys.argv[1:5]
    for name in ("libggml-base.so", "libggml.*so", "libllama.*so"):
        for path in sorted(glob.glob(os.path.join(folder, name))):
            library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            if "libggml." in path:
                library.ggml_backend_load_all_from_path(folder.encode())
    library.llama_model_quantize_default_params.restype = Params
    library.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Params)]
    params = library.llama_model_quantize_default_params()
    params.threads, params.type, params.requantize = os.cpu_count() or 1, TYPES[kind], True
    library.llama_backend_init()
    status = library.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params))
    sys.exit(int(status != 0))


if __name__ == "__main__":
    main()
