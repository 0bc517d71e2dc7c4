"""Makes the animations of the tests, and what Pillow makes of their frames: `python make.py`, with Pillow 13.0.0.

Each animation has a NAME.frames.png beside it: its frames one below the other, with their alpha.
"""

import io
import os
import struct
import zlib

import numpy as np
from PIL import Image, ImageDraw, ImageSequence

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 37, 23


def drawn(i, alpha):
    """A disc that moves over stripes; every other stripe has an alpha of `alpha`, and of its inverse."""
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]]
    a = np.where((x // 5 + i) % 2 == 0, alpha, 255 if alpha == 0 else alpha + (255 - alpha) * (y % 2))
    pixels = np.stack([(x * 7) % 256, (y * 11) % 256, np.full_like(x, 40 * i), a], 2).astype(np.uint8)
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).ellipse([3 + 5 * i, 4, 12 + 5 * i, 13], fill=(220, 30, 40, 255))
    return image


def chunk(kind, payload):
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))


def composed(path):
    """The frames of a PNG by its specification: Pillow forgets to go back to what was before a frame."""
    with open(path, "rb") as f:
        rest, frames, shown = f.read()[8:], [], []
    while rest:
        size, kind = struct.unpack(">I", rest[:4])[0], rest[4:8]
        payload, rest = rest[8 : 8 + size], rest[12 + size :]
        if kind == b"IHDR":
            header = payload
        elif kind == b"fcTL":
            frames.append([struct.unpack(">IIIIIHHBB", payload), b""])
        elif kind in (b"IDAT", b"fdAT"):
            frames[-1][1] += payload[4 * (kind == b"fdAT") :]
    canvas = np.zeros((SIZE[1], SIZE[0], 4), np.uint8)
    for (_, w, h, x, y, _, _, dispose, blend), data in frames:
        parts = chunk(b"IHDR", struct.pack(">II", w, h) + header[8:]) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
        image = np.array(Image.open(io.BytesIO(b"\x89PNG\r\n\x1a\n" + parts)).convert("RGBA"))
        before, part = canvas.copy(), canvas[y : y + h, x : x + w]
        part[:] = np.where(image[..., 3:] == 255, image, part) if blend else image
        shown.append(Image.fromarray(canvas.copy()))
        if dispose == 2:
            canvas = before
    return shown


def write(name, frames, **options):
    path = os.path.join(HERE, name)
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)
    with Image.open(path) as stored:
        seen = [f.convert("RGBA") for f in ImageSequence.Iterator(stored)]
    if name.startswith("disposal2") and name.endswith(".png"):
        seen = composed(path)
    sheet = Image.new("RGBA", (SIZE[0], SIZE[1] * len(seen)))
    for i, f in enumerate(seen):
        sheet.paste(f, (0, i * SIZE[1]))
    sheet.save(os.path.join(HERE, name + ".frames.png"))
    print(name, len(seen), "frames,", os.path.getsize(path), "bytes")


plain, clear, half = [[drawn(i, alpha) for i in range(5)] for alpha in (255, 0, 128)]
write("plain.gif", [f.convert("RGB").quantize(64) for f in plain], duration=[40, 40, 200, 40, 80], loop=0)
# Of frames that go back to what was before them, Pillow gets only those right that do not follow one another.
for disposal, last in ((1, 1), (2, 2), (1, 3)):
    order = [disposal, last] * 2 + [disposal]
    write(f"disposal{last}.gif", [f.quantize(64) for f in clear], duration=100, disposal=order, loop=0)
write("lossless.webp", half, duration=[50, 60, 70, 80, 90], lossless=True)
write("lossy.webp", half, duration=100, quality=60)
write("plain.webp", plain, duration=100, lossless=True, minimize_size=True)
for disposal, last in ((0, 0), (1, 1), (0, 2)):
    order = [disposal, last] * 2 + [disposal]
    for blend in (0, 1):  # Pillow's own blending is right for all or nothing alone
        write(f"disposal{last}{blend}.png", half if blend == 0 else clear, duration=100, disposal=order, blend=blend)
write("palette.png", [f.convert("RGB").quantize(16) for f in plain], duration=125)
