"""Makes this folder's references with Pillow (13.0, libjpeg-turbo 3, libwebp 1.6).

    pip install pillow numpy && python make.py [FOLDER WITH SHARED PICTURES]

NAME.EXT is a file of some format, NAME.want.png what Pillow makes of it:
ImageOps.exif_transpose(Image.open(f)).convert("RGB"). resized.json holds hashes
(SHA-256 of the RGB bytes) of images that Pillow resized with its bicubic filter:
of noise (see noise below), and of shared pictures by name. fitted.json lists
width, height, budget, and the size that they make.
"""

import hashlib
import io
import json
import math
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent


def noise(width, height, channels=3):
    """Bytes of a linear congruential generator: its upper eight bits, from state 1."""
    state, out = 1, bytearray()
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return np.frombuffer(bytes(out), np.uint8).reshape(height, width, channels)


def scene(width, height):
    """Smooth colours with a few hard edges, as in a picture of things."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    rgb = np.stack([
        128 + 100 * np.sin(x / 7) * np.cos(y / 9),
        255 * x / max(width - 1, 1),
        128 + 120 * np.cos((x + 2 * y) / 11),
    ], axis=-1)
    rgb[(x - width * 0.6) ** 2 + (y - height * 0.4) ** 2 < (min(width, height) / 4) ** 2] = (230, 20, 40)
    rgb[int(height * 0.7):, : int(width * 0.3)] = (10, 40, 220)
    return np.clip(rgb + 0.5, 0, 255).astype(np.uint8)


def keep(name, data):
    (HERE / name).write_bytes(data)
    with Image.open(io.BytesIO(data)) as f:
        want = ImageOps.exif_transpose(f).convert("RGB")
    want.save(HERE / (name.replace(".", "-") + ".want.png"), optimize=True)


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def orientation(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


def png_chunk(kind, payload):
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))


def png16(array, color_type):
    """A PNG of 16 bits per channel, which Pillow reads but does not write."""
    height, width = array.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, color_type, 0, 0, 0))
            + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))


def gif_frame_inside():
    """A first frame smaller than the screen, with a palette of its own and a transparent index."""
    palette = bytes([9, 8, 7, 200, 0, 0, 0, 200, 0, 250, 240, 230])
    # Codes of 3 bits: clear, then the pixels, cleared often enough not to grow, end.
    codes, clear, end = [], 4, 5
    for pixel in [0, 1, 2, 3, 1, 2, 0, 0, 3, 3, 2, 1]:
        codes += [clear, pixel]
    codes.append(end)
    bits = sum(code << (3 * i) for i, code in enumerate(codes))
    lzw = bits.to_bytes((3 * len(codes) + 7) // 8, "little")
    return (b"GIF89a" + struct.pack("<HHBBB", 7, 6, 0x80, 1, 0) + bytes([1, 2, 3, 4, 5, 6])
            + b"!\xfe\x05hello\x00" + b"!\xf9\x04\x01\x00\x00\x03\x00"
            + b"," + struct.pack("<HHHHB", 2, 1, 4, 3, 0x81) + palette + b"\x02" + bytes([len(lzw)]) + lzw + b"\x00;")


def files():
    wide = scene(45, 31)
    rgb = Image.fromarray(wide)
    alpha = noise(45, 31, 1)
    rgba = Image.fromarray(np.concatenate([wide, alpha], axis=-1))
    for name, subsampling in ("444", 0), ("422", 1), ("420", 2):
        keep(f"chroma{name}.jpg", encode(rgb, "JPEG", quality=90, subsampling=subsampling))
    keep("even420.jpg", encode(Image.fromarray(scene(48, 32)), "JPEG", quality=75, subsampling=2))
    keep("tiny420.jpg", encode(Image.fromarray(scene(3, 3)), "JPEG", quality=95, subsampling=2))
    keep("progressive.jpg", encode(rgb, "JPEG", quality=85, subsampling=2, progressive=True))
    keep("gray.jpg", encode(rgb.convert("L"), "JPEG", quality=90))
    keep("cmyk.jpg", encode(rgb.convert("CMYK"), "JPEG", quality=90))
    for value in range(1, 9):
        keep(f"turned{value}.jpg", encode(Image.fromarray(scene(24, 16)), "JPEG", quality=90, subsampling=0, exif=orientation(value)))
    keep("turned6.png", encode(rgb, "PNG", exif=orientation(6)))
    keep("turned6.webp", encode(rgb, "WEBP", lossless=True, exif=orientation(6)))
    keep("lossy.webp", encode(rgb, "WEBP", quality=80))
    keep("lossyeven.webp", encode(Image.fromarray(scene(48, 32)), "WEBP", quality=90))
    keep("tiny.webp", encode(Image.fromarray(scene(1, 3)), "WEBP", quality=90))
    keep("lossyalpha.webp", encode(rgba, "WEBP", quality=80, exact=True))
    keep("alpha.webp", encode(rgba, "WEBP", lossless=True, exact=True))
    keep("alpha.png", encode(rgba, "PNG"))
    keep("grayalpha.png", encode(rgba.convert("LA"), "PNG"))
    keep("bit.png", encode(rgb.convert("1"), "PNG"))
    keep("palette.png", encode(rgb.quantize(16), "PNG", transparency=3))
    wide16 = noise(20, 9, 6).copy().view(np.uint16).reshape(9, 20, 3)
    keep("deep.png", png16(wide16, 2))
    keep("deepalpha.png", png16(noise(20, 9, 8).copy().view(np.uint16).reshape(9, 20, 4), 6))
    keep("palette.gif", encode(rgb.quantize(32), "GIF"))
    keep("transparent.gif", encode(rgb.quantize(32), "GIF", transparency=5))
    keep("inside.gif", gif_frame_inside())
    keep("plain.bmp", encode(rgb, "BMP"))
    keep("alpha.bmp", encode(rgba, "BMP"))
    keep("palette.bmp", encode(rgb.quantize(64), "BMP"))


def hashed(image, width, height):
    # One axis after the other: Pillow 13 takes the vertical pass first where that is
    # less work, the Pillow of the models' reference never did.
    for size in (width, image.height), (width, height):
        image = image.resize(size, Image.Resampling.BICUBIC)
    small = image
    return {"width": width, "height": height, "sha256": hashlib.sha256(small.tobytes()).hexdigest()}


def fit(width, height, budget, patch=16, pool=3):
    """The size of an image for a budget, in the steps of the reference's processor."""
    side = patch * pool
    factor = math.sqrt(budget * pool**2 * patch**2 / (width * height))
    w, h = (math.floor(factor * v / side) * side for v in (width, height))
    if w == 0 and h == 0:
        raise ValueError("too small")
    if w == 0:
        w, h = side, min(math.floor(height / width) * side, budget * side)
    elif h == 0:
        w, h = min(math.floor(width / height) * side, budget * side), side
    return w, h


def fitted():
    sizes = [(w, h) for w in (1, 2, 47, 48, 49, 640, 1023, 4032) for h in (1, 5, 48, 96, 480, 1000, 3024, 60000)]
    cases = [[w, h, budget, *fit(w, h, budget)] for w, h in sizes for budget in (70, 280, 1120)]
    (HERE / "fitted.json").write_text("[\n" + ",\n".join("  " + json.dumps(c) for c in cases) + "\n]\n")


def resized(shared):
    noises = [
        ((64, 48), (48, 48)), ((64, 48), (336, 240)), ((7, 5), (96, 48)), ((1, 1), (48, 48)), ((3, 200), (48, 960)),
        ((100, 3), (1584, 48)), ((331, 217), (144, 96)), ((640, 3), (48, 48)), ((97, 89), (97, 48)), ((97, 89), (48, 89)),
        ((48, 48), (48, 48)), ((513, 511), (480, 480)), ((255, 255), (256, 254)), ((2, 2), (192, 192)),
    ]
    cases = [{"noise": [w, h]} | hashed(Image.fromarray(noise(w, h)), *to) for (w, h), to in noises]
    pictures = [("wide.png", 70), ("tall.png", 280), ("tiny.png", 70), ("photo.png", 70)]
    pictures += [(f"nano/scene{i}.png", budget) for i, budget in enumerate([70, 280, 70, 280])]
    for name, budget in pictures if shared else []:
        with Image.open(pathlib.Path(shared, name)) as f:
            cases.append({"file": name, "budget": budget} | hashed(f.convert("RGB"), *fit(*f.size, budget)))
    (HERE / "resized.json").write_text("[\n" + ",\n".join("  " + json.dumps(c) for c in cases) + "\n]\n")


files()
fitted()
resized(sys.argv[1] if len(sys.argv) > 1 else None)
