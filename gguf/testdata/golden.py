"""Writes golden.gguf with the PyPI package gguf: every kind of value, and tensors.

    pip install gguf==0.19.0 && python golden.py
"""
import numpy as np
from gguf import GGUFWriter, GGMLQuantizationType, quants

w = GGUFWriter("golden.gguf", "golden")
w.add_uint8("k.uint8", 250)
w.add_int8("k.int8", -120)
w.add_uint16("k.uint16", 65000)
w.add_int16("k.int16", -32000)
w.add_uint32("k.uint32", 4000000000)
w.add_int32("k.int32", -2000000000)
w.add_uint64("k.uint64", 18000000000000000000)
w.add_int64("k.int64", -9000000000000000000)
w.add_float32("k.float32", 0.1)
w.add_float64("k.float64", 0.1)
w.add_bool("k.true", True)
w.add_bool("k.false", False)
w.add_string("k.string", "naïve café 😺")
w.add_array("k.strings", ["a", "bc", "▁the"])
w.add_array("k.ints", [1, -2, 3])
w.add_array("k.floats", [0.5, -1.5])
w.add_array("k.bools", [True, False, True])
w.add_array("k.nested", [[1, 2], [3]])
w.add_custom_alignment(64)

ramp = np.arange(3 * 64, dtype=np.float32).reshape(3, 64) / 8 - 10
w.add_tensor("t.f32", ramp)
w.add_tensor("t.f16", ramp.astype(np.float16))
w.add_tensor("t.three", np.arange(24, dtype=np.float32).reshape(2, 3, 4))
w.add_tensor("t.q8_0", quants.quantize(ramp, GGMLQuantizationType.Q8_0), raw_dtype=GGMLQuantizationType.Q8_0)
w.add_tensor("t.i32", np.array([7, -7], dtype=np.int32))
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
