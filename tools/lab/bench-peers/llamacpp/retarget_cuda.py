#!/usr/bin/env python3
"""Narrows a prebuilt CUDA library to one GPU architecture, compiled ahead of time.

The library in npm's @node-llama-cpp/linux-x64-cuda holds each kernel seven times: as PTX for three architectures and as
machine code for four, none of which is sm_90. On Hopper it depends on the driver compiling its PTX, which a driver
older than the toolkit that wrote the PTX refuses to do, and at 159 MB it compresses to no less than 124 MB.

This script takes the PTX of one architecture out of every fat binary in the library, compiles it with ptxas as the
driver would have, and writes a library whose fat binaries hold that machine code alone. Host code is not touched.
It needs ptxas and fatbinary (both in PyPI's nvidia-cuda-nvcc) and the zstd program.

usage: retarget_cuda.py IN.so OUT.so --tools DIR [--arch 90] [--isa 9.0] [--jobs 1] [--cache DIR]
"""

import argparse
import concurrent.futures
import pathlib
import re
import struct
import subprocess
import sys

FATBIN_MAGIC = 0xBA55ED50
FATBIN_HEADER = struct.Struct("<IHHQ")  # magic, version, header bytes, payload bytes
IMAGE_HEADER = struct.Struct("<HHIQIIHHI")  # kind, version, header bytes, payload bytes, compressed bytes, _, minor, major, arch
KIND_PTX = 1
FLAGS_OFFSET = 40
COMPRESSED = 0x8000
RAW_SIZE_OFFSET = 56


def fail(message):
    sys.exit(f"retarget_cuda: {message}")


def find_section(library, wanted):
    """Offset and size of a section of a 64-bit little-endian ELF file."""
    if library[:6] != b"\x7fELF\x02\x01":
        fail("not a 64-bit little-endian ELF file")
    table = struct.unpack_from("<Q", library, 0x28)[0]
    entry_size, count, names_index = struct.unpack_from("<HHH", library, 0x3A)
    entries = [struct.unpack_from("<IIQQQQ", library, table + i * entry_size) for i in range(count)]
    names = entries[names_index][4]
    for name, _, _, _, offset, size in entries:
        start = names + name
        if library[start : library.index(b"\0", start)] == wanted:
            return offset, size
    fail(f"no section {wanted.decode()}")


def fat_binaries(library, offset, size):
    """Start and end of every fat binary in the section."""
    at, end = offset, offset + size
    while at + FATBIN_HEADER.size <= end:
        magic, _, header, payload = FATBIN_HEADER.unpack_from(library, at)
        if magic != FATBIN_MAGIC:
            at += 8
            continue
        stop = at + header + payload
        if stop > end:
            fail(f"the fat binary at {at:#x} reaches past its section")
        yield at, stop
        at = stop


def ptx_of(library, start, stop, arch):
    """The PTX text of one architecture in the fat binary at start."""
    at = start + FATBIN_HEADER.unpack_from(library, start)[2]
    while at < stop:
        kind, _, header, payload, packed, _, _, _, image_arch = IMAGE_HEADER.unpack_from(library, at)
        if kind == KIND_PTX and image_arch == arch:
            flags = struct.unpack_from("<Q", library, at + FLAGS_OFFSET)[0]
            if not flags & COMPRESSED:
                return library[at + header : at + header + payload].rstrip(b"\0")
            raw_size = struct.unpack_from("<Q", library, at + RAW_SIZE_OFFSET)[0]
            body = library[at + header : at + header + packed]
            text = subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout
            if len(text) != raw_size:
                fail(f"the PTX at {at:#x} has {len(text)} bytes, not {raw_size}")
            return text.rstrip(b"\0")
        at += header + payload
    fail(f"the fat binary at {start:#x} has no PTX for sm_{arch}")


def compile_ptx(index, ptx, options):
    """Machine code for one module's PTX, kept in the cache folder."""
    cubin = options.cache / f"{index:03d}.cubin"
    if not cubin.exists():
        source = options.cache / f"{index:03d}.ptx"
        source.write_bytes(re.sub(rb"(?m)^\.version [0-9.]+$", b".version " + options.isa.encode(), ptx, count=1))
        partial = cubin.with_suffix(".partial")
        ptxas = [options.tools / "ptxas", f"-arch=sm_{options.arch}", "-O3", "-o", partial, source]
        subprocess.run(ptxas, check=True)
        partial.rename(cubin)
        source.unlink()
    return cubin


def pack(cubin, room, options):
    """A fat binary of at most room bytes; stored plainly where that fits, so that an archive can compress it better."""
    for compress in (["--compress=false"], ["--compress-all"], ["--compress-all", "--compress-mode=size"]):
        out = cubin.with_suffix(".fatbin")
        image = f"--image3=kind=elf,sm={options.arch},file={cubin}"
        subprocess.run([options.tools / "fatbinary", f"--create={out}", "-64", *compress, image], check=True)
        body = out.read_bytes()
        out.unlink()
        if len(body) <= room:
            return body
    fail(f"{cubin.name} does not fit into the {room} bytes that its module had")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="folder of ptxas and fatbinary")
    parser.add_argument("--arch", type=int, default=90, help="compute capability without the dot")
    parser.add_argument("--isa", default="9.0", help="PTX version to declare: the one ptxas knows")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("cubins"))
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)

    library = bytearray(options.source.read_bytes())
    modules = list(fat_binaries(library, *find_section(library, b".nv_fatbin")))
    if not modules:
        fail("no fat binaries found")

    def compiled(numbered):
        index, (start, stop) = numbered
        return compile_ptx(index, ptx_of(library, start, stop, options.arch), options)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cubins = list(pool.map(compiled, enumerate(modules)))
    for (start, stop), cubin in zip(modules, cubins):
        body = pack(cubin, stop - start, options)
        library[start:stop] = body + bytes(stop - start - len(body))
    options.target.write_bytes(library)
    print(f"{options.target}: {len(modules)} modules, sm_{options.arch} only")


if __name__ == "__main__":
    main()
