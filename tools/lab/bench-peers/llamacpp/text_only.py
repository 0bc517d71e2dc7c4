#!/usr/bin/env python3
"""Copies a GGUF without its vision and audio tensors: llama.cpp wants those in a file of their own.

A file that has none is linked to instead.

usage: text_only.py IN.gguf OUT.gguf
"""

import os
import struct
import sys

TOWERS = ("v.", "a.", "mm.")
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY, UINT32 = 8, 9, 4
CHUNK = 1 << 24


def number(file, layout):
    return struct.unpack(layout, file.read(struct.calcsize(layout)))[0]


def text(file):
    return file.read(number(file, "<Q")).decode()


def skip_value(file, kind):
    if kind == STRING:
        file.seek(number(file, "<Q"), 1)
    elif kind == ARRAY:
        item, count = number(file, "<I"), number(file, "<Q")
        if item in SCALAR_BYTES:
            file.seek(SCALAR_BYTES[item] * count, 1)
        else:
            for _ in range(count):
                skip_value(file, item)
    elif kind in SCALAR_BYTES:
        file.seek(SCALAR_BYTES[kind], 1)
    else:
        sys.exit(f"text_only: unknown value type {kind}")


def read_header(file):
    """Version, metadata count, the metadata's extent, the alignment, and the tensors as (name, dims, type, offset)."""
    if file.read(4) != b"GGUF":
        sys.exit("text_only: not a GGUF file")
    version, tensor_count, pair_count = number(file, "<I"), number(file, "<Q"), number(file, "<Q")
    alignment, start = 32, file.tell()
    for _ in range(pair_count):
        key, kind = text(file), number(file, "<I")
        if key == "general.alignment" and kind == UINT32:
            alignment = number(file, "<I")
        else:
            skip_value(file, kind)
    stop = file.tell()
    tensors = []
    for _ in range(tensor_count):
        name = text(file)
        dims = [number(file, "<Q") for _ in range(number(file, "<I"))]
        tensors.append((name, dims, number(file, "<I"), number(file, "<Q")))
    return version, pair_count, (start, stop), alignment, tensors


def round_up(value, alignment):
    return -(-value // alignment) * alignment


def copy(source, start, length, target):
    source.seek(start)
    while length > 0:
        part = source.read(min(length, CHUNK))
        if not part:
            sys.exit("text_only: the file ends within a tensor")
        target.write(part)
        length -= len(part)


def write_text_part(source, target):
    """Writes what is no tower's to target; False if that is all of it."""
    version, pair_count, (start, stop), alignment, tensors = read_header(source)
    data = round_up(source.tell(), alignment)
    end = source.seek(0, 2)
    ordered = sorted(tensors, key=lambda t: t[3])
    following = [t[3] for t in ordered[1:]] + [end - data]
    length = {t[0]: after - t[3] for t, after in zip(ordered, following)}  # padding included
    kept = [t for t in ordered if not t[0].startswith(TOWERS)]
    if len(kept) == len(tensors):
        return False

    target.write(b"GGUF" + struct.pack("<IQQ", version, len(kept), pair_count))
    copy(source, start, stop - start, target)
    offset = 0
    for name, dims, kind, _ in kept:
        raw = name.encode()
        target.write(struct.pack("<Q", len(raw)) + raw + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
        target.write(struct.pack("<IQ", kind, offset))
        offset = round_up(offset + length[name], alignment)
    for name, _, _, old in kept:
        target.write(bytes(-target.tell() % alignment))
        copy(source, data + old, length[name], target)
    target.write(bytes(-target.tell() % alignment))
    return True


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source_path, target_path = sys.argv[1:]
    if os.path.lexists(target_path):
        os.remove(target_path)
    with open(source_path, "rb") as source, open(target_path, "wb") as target:
        split = write_text_part(source, target)
    if not split:
        os.remove(target_path)
        os.symlink(os.path.abspath(source_path), target_path)


if __name__ == "__main__":
    main()
