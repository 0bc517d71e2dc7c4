"""Makes the images of the cases, and clips like those of the cases.

The clips in testdata/conformance came out of a speech synthesizer and are kept as they are; those made here have the
same lengths. 16160 samples, of `edge`, are one more than 101 frames take.
"""

import os

import numpy as np
from PIL import Image
from scipy.io import wavfile

IMAGES = {"wide": (211, 120), "tall": (97, 240), "tiny": (9, 7), "photo": (1100, 700)}
CLIPS = {"short": 15975, "edge": 16160, "long": 83646}
BUDGETS = {"wide": 70, "tall": 280, "tiny": 70, "photo": 70}
RATE = 16000


def image(width, height):
    """Red grows to the right, green downwards, blue waves; a red disc stands in the upper middle."""
    y, x = np.mgrid[0:height, 0:width]
    waves = 127 + 127 * np.sin(x / 5) * np.cos(y / 9)
    pixels = np.stack([255 * x / (width - 1), 255 * y / (height - 1), waves], 2)
    disc = (x - width / 2) ** 2 + (y - height / 3) ** 2 < (min(width, height) / 4) ** 2
    pixels[disc] = 220, 30, 40
    return pixels.astype(np.uint8)


def clip(samples, seed):
    """Harmonics of a gliding voice, louder and softer by syllables, over a little noise."""
    rng, t = np.random.default_rng(seed), np.arange(samples) / RATE
    phase = 2 * np.pi * np.cumsum(140 + 40 * np.sin(2 * np.pi * 0.7 * t)) / RATE
    voice = sum(np.sin(n * phase + rng.uniform(0, 6)) * rng.uniform(0.3, 1) / n for n in range(1, 20))
    sound = voice * np.maximum(np.sin(2 * np.pi * 3 * t), 0) + 0.02 * rng.normal(size=samples)
    return np.rint(24000 * sound / np.abs(sound).max()).astype(np.int16)


def write(folder):
    for name, size in IMAGES.items():
        Image.fromarray(image(*size)).save(os.path.join(folder, name + ".png"))
    for seed, (name, samples) in enumerate(CLIPS.items()):
        wavfile.write(os.path.join(folder, name + ".wav"), RATE, clip(samples, seed))


def differences(folder):
    """The images of a folder whose pixels are not the formula's."""
    for name, size in IMAGES.items():
        with Image.open(os.path.join(folder, name + ".png")) as stored:
            yield name + ".png: pixels", float(np.abs(np.asarray(stored).astype(int) - image(*size)).max())
