"""Makes this folder's recordings with FFmpeg's libraries (PyAV 18) and libsndfile 1.2.

    pip install av soundfile numpy && python make.py

Each holds what `signal` computes, which the tests compute again: what decodes to
something else, or to another length, is wrong.
"""

import pathlib

import av
import numpy as np
import soundfile

HERE = pathlib.Path(__file__).parent
SECONDS = 0.6


def signal(rate):
    """A tone of 440 Hz that swells, and one that rises from 300 Hz to 1740 Hz."""
    t = np.arange(int(rate * SECONDS)) / rate
    tone = 0.5 * np.sin(2 * np.pi * 440 * t) * (0.6 + 0.4 * np.cos(2 * np.pi * 3 * t))
    return tone + 0.2 * np.sin(2 * np.pi * (300 + 1200 * t) * t)


def channels(rate, count):
    """The signal, the second channel at half its strength."""
    return np.stack([signal(rate) / (i + 1) for i in range(count)]).astype(np.float32)


def lossy(name, codec, rate, count, bit_rate, container=None):
    layout = {1: "mono", 2: "stereo"}[count]
    pages = {"page_duration": "100000"} if container == "ogg" else {}  # µs: several pages
    with av.open(str(HERE / name), "w", format=container, options=pages) as file:
        stream = file.add_stream(codec, rate=rate, layout=layout)
        stream.bit_rate = bit_rate
        whole = av.AudioFrame.from_ndarray(channels(rate, count), format="fltp", layout=layout)
        whole.sample_rate, whole.pts = rate, 0
        fit = av.AudioResampler(format=stream.codec_context.format, layout=layout, rate=rate,
                                frame_size=stream.codec_context.frame_size or None)
        for frame in fit.resample(whole) + fit.resample(None):
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def write(name, rate, count, container, subtype):
    soundfile.write(HERE / name, channels(rate, count).T, rate, subtype=subtype, format=container)


write("mono16.flac", 16000, 1, "FLAC", "PCM_16")
write("stereo24.flac", 44100, 2, "FLAC", "PCM_24")
lossy("stereo44100.mp3", "libmp3lame", 44100, 2, 96000)
lossy("mono48000.mp3", "libmp3lame", 48000, 1, 64000)
lossy("mono24000.mp3", "libmp3lame", 24000, 1, 32000)
lossy("mono22050.mp3", "libmp3lame", 22050, 1, 32000)
lossy("stereo22050.mp3", "libmp3lame", 22050, 2, 128000)
lossy("mono11025.mp3", "libmp3lame", 11025, 1, 32000)
lossy("mono16000.opus.ogg", "libopus", 16000, 1, 24000, "ogg")
lossy("mono48000.opus.ogg", "libopus", 48000, 1, 32000, "ogg")
lossy("stereo48000.opus.ogg", "libopus", 48000, 2, 96000, "ogg")
write("mono16000.ogg", 16000, 1, "OGG", "VORBIS")
write("stereo44100.ogg", 44100, 2, "OGG", "VORBIS")
