"""Speaks the sentences that nano learns to write down, with six programs: many voices, speeds, pitches, throats and rooms.

python speech.py OUT [--count 40000] [--seed 1] [--workers 16]       for training: OUT.npy, OUT-lengths.npy and OUT.txt
python speech.py FOLDER --held-out 200 --seed 900                      as WAV files and questions.jsonl, by voices unheard
python speech.py --words WORDNET                                        makes banks/spoken.txt, the 1,000 words
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import wave
from multiprocessing import Pool

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RATE, LONGEST = 16_000, 64_000
ESPEAK, FLITE, RHVOICE, PICO, FESTIVAL = (os.environ.get(name.upper(), command).split() for name, command in (
    ("espeak", "espeak-ng"), ("flite", "flite"), ("rhvoice", "RHVoice-test"), ("pico", "pico2wave"), ("festival", "festival")))  # fmt: skip
LANGUAGES = "en-us en-us en-us en-gb en-gb en-gb-x-rp en-gb-scotland en-029 en-gb-x-gbclan".split()
VARIANTS = ("m1 m2 m4 m5 m6 m8 f1 f2 f4 Andy Annie Alex adam edward belinda john linda max michael Mike paul steph victor "
    "grandpa aunty Lee Denis ed rob travis Gene david quincy shelby klatt klatt2 klatt3 iven boris benjamin caleb anika").split()  # fmt: skip
# Of each program how many of 100 clips, its voices, and those kept for the evaluation. RHVoice's slt and festival's slt are
# left out, as they are the same woman; RHVoice's evgeniy-eng and lyubov, as their license forbids it.
PROGRAMS = {
    "espeak": (17, VARIANTS, "m3 m7 f3 f5".split()),
    "flite": (24, "awb rms kal16".split(), ["slt"]),
    "rhvoice": (25, "clb clb clb alan".split(), ["bdl"]),
    "pico": (13, "en-US en-US en-GB".split(), []),
    "hibari": (17, ["heart"], []),
    "festival": (4, ["ked"], []),
}
MEN = "awb rms kal16 alan ked".split()
SMALL = ("the a is are was on in under over with to from and or not my your his her our this that these what where who how when "
    "i you he she we they it do can will please now here there very too").split()  # fmt: skip
FIXED = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand red green blue yellow orange purple "
    "pink brown black white gray circle square triangle cross star heart monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december hello goodbye yes no thanks").split()  # fmt: skip
NUMBERS = FIXED[:30]


def choose(folder):
    """The 1,000 words with their parts of speech: small and fixed ones, and those that WordNet counted most."""
    import wordnet

    counts = {}
    for (word, part), found in wordnet.common(folder, 2).items():
        if word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 9 and part in "nva":
            n, best = sum(c for c, _ in found), counts.get(word)
            if best is None or n > best[0]:
                counts[word] = (n, part)
    ranked = [w for w in sorted(counts, key=lambda w: (-counts[w][0], w)) if w not in SMALL and w not in FIXED]
    by = {"n": 480, "v": 200, "a": 180}
    with open(os.path.join(HERE, "banks", "spoken.txt"), "w") as file:
        total = len(SMALL) + len(FIXED)
        for part, most in by.items():
            some = [w for w in ranked if counts[w][1] == part][: most if part != "a" else 1000 - total]
            total += len(some)
            file.write({"n": "noun", "v": "verb", "a": "adjective"}[part] + " " + " ".join(some) + "\n")


def words():
    with open(os.path.join(HERE, "banks", "spoken.txt")) as file:
        return {line.split()[0]: line.split()[1:] for line in file}


def sentence(r, of):
    noun, verb, adjective = (lambda k=k: r.choice(of[k]) for k in ("noun", "verb", "adjective"))
    x = r.random()
    if x < 0.45:
        every = [*SMALL, *FIXED, *of["noun"], *of["verb"], *of["adjective"]]
        return " ".join(r.choices(every, k=r.choice([1, 1, 2, 2, 3, 3, 4, 5])))
    if x < 0.57:
        return " ".join(r.choices(NUMBERS, k=r.randint(1, 5)))
    place = lambda: r.choice("on in under over with to from".split())  # noqa: E731
    who = lambda: r.choice("i you we they".split())  # noqa: E731
    day = lambda: r.choice("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: E731
    return r.choice([
        lambda: f"the {adjective()} {noun()} is {place()} the {noun()}",
        lambda: f"{who()} {verb()} the {noun()}",
        lambda: f"my {noun()} is {adjective()}",
        lambda: f"where is the {adjective()} {noun()}",
        lambda: f"{who()} will {verb()} to the {noun()} on {day()}",
        lambda: f"do you {verb()} this {noun()}",
        lambda: f"please {verb()} the {noun()} now",
        lambda: f"the {noun()} and the {noun()} are {adjective()}",
        lambda: f"what is your {noun()}",
        lambda: f"{r.choice(NUMBERS)} {adjective()} {noun()} {place()} {r.choice(FIXED[30:46])} {noun()}",
        lambda: f"this is not a {adjective()} {noun()}",
        lambda: f"can they {verb()} with her {noun()}",
    ])()  # fmt: skip


def resampled(samples, rate):
    if rate == RATE:
        return samples
    from math import gcd

    from scipy.signal import resample_poly

    g = gcd(rate, RATE)
    return np.clip(resample_poly(samples.astype(np.float32), RATE // g, rate // g), -32768, 32767).astype(np.int16)


class Heart:
    """Voices made of hibari's one: its network tells pitch and spectrum apart, so both can be shifted on their own."""

    loaded = None

    @classmethod
    def says(cls, text, speed, pitch, throat, seed):
        import hibari

        if cls.loaded is None:
            cls.loaded = hibari.Hibari(threads=1)
        model, parts = cls.loaded, []
        for phonemes in model.phonemize(text):
            feed = {"ids": np.asarray([model.ids(phonemes)], np.int64), "speed": np.asarray([speed], np.float32)}
            *spectra, f0 = (o[0] for o in model.sess.run(None, feed))
            at = np.minimum(np.arange(len(spectra[0])) / throat, len(spectra[0]) - 1).round().astype(int)
            loud, turn, noise, rest, phase = (x[at] for x in spectra)
            parts.append(hibari.dsp.synth(loud, turn, noise, rest, phase, f0 * pitch, np.random.default_rng(seed)))
        samples = np.concatenate(parts)
        return (samples / max(1e-3, np.abs(samples).max()) * 24_000).astype(np.int16)


def command(r, program, name, text, throat, heard, path):
    """How to run a program so that it speaks into a file. What is spoken for a shorter throat is slower and lower before."""
    speed = r.uniform(0.8, 1.25)  # 1.25 is slow
    if program == "espeak":
        name = r.choice(LANGUAGES if heard else LANGUAGES[:5]) + "+" + name
        return name, [*ESPEAK, "-v", name, "-s", str(r.randint(115, 185)), "-p", str(r.randint(25, 75)), "-w", path, text]
    if program == "flite":
        out = [*FLITE, "-voice", name, "--setf", f"duration_stretch={throat * speed:.2f}"]
        if heard:
            pitch, swing = r.uniform(80, 220) / throat, r.uniform(8, 35)
            out += ["--setf", f"int_f0_target_mean={pitch:.0f}", "--setf", f"int_f0_target_stddev={swing:.0f}"]
        return name, [*out, "-t", text, "-o", path]
    if program == "rhvoice":
        pitch = r.uniform(0.75, 1.3) / throat if heard else 1
        return name, [*RHVOICE, "-p", name, "-r", f"{100 / speed / throat:.0f}", "-t", f"{100 * pitch:.0f}", "-o", path]
    if program == "pico":
        pitch = min(200, max(50, 100 * r.uniform(0.7, 1.35) / throat))
        text = f"<speed level='{100 / speed / throat:.0f}'><pitch level='{pitch:.0f}'>{text}</pitch></speed>"
        return name, [*PICO, "-l", name, "-w", path, text]
    pitch, swing = r.uniform(85, 200) / throat, r.uniform(8, 30)
    return name, [*FESTIVAL, "--batch", f"(voice_{name}_diphone)", f"(Parameter.set 'Duration_Stretch {throat * speed:.2f})",
        f"(set! int_lr_params '((target_f0_mean {pitch:.0f}) (target_f0_std {swing:.0f}) (model_f0_mean 170) (model_f0_std 34)))",
        f'(utt.save.wave (utt.synth (Utterance Text "{text}")) "{path}" (quote riff))']  # fmt: skip


def spoken(r, text, heard=True, program=None, tries=5):
    """Samples at 16 kHz, and which voice it was."""
    some = {p: share for p, (share, _, kept) in PROGRAMS.items() if heard or kept}
    program = program or r.choices(list(some), some.values() if heard else None)[0]
    name = r.choice(PROGRAMS[program][1 if heard else 2])
    throat = 1.0
    if heard and program != "espeak":
        throat = r.uniform(0.95, 1.3) if name in MEN else r.uniform(0.85, 1.2)
    if program == "hibari":
        samples = resampled(Heart.says(text, 1 / r.uniform(0.8, 1.25), r.uniform(0.5, 1.3), throat, r.randrange(9999)), 24_000)
    else:
        with tempfile.NamedTemporaryFile(suffix=".wav", dir="/dev/shm") as file:
            name, line = command(r, program, name, text, throat, heard, file.name)
            said = subprocess.run(line, check=False, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if os.path.getsize(file.name) < 100:
                if tries > 1:  # festival dies now and then
                    return spoken(r, text, heard, program, tries - 1)
                raise RuntimeError(f"no sound came of {' '.join(line)}: {said.stderr.decode(errors='replace')[-500:]}")
            with wave.open(file.name) as w:
                samples = np.frombuffer(w.readframes(w.getnframes()), np.int16)
                samples = resampled(samples, round(w.getframerate() * throat / 160) * 160)  # a shorter throat, a higher voice
    loud = np.flatnonzero(np.abs(samples) > 200)
    if len(loud):
        samples = samples[max(0, loud[0] - 1600) : loud[-1] + 1600]
    return samples, name


def mouth(n, x):
    """Another speaker's formants: each part of the spectrum's envelope moves by up to 12 %, and the pitch stays."""
    window = np.hanning(513)[:512].astype(np.float32)
    padded = np.pad(x, (384, 896 - len(x) % 128))
    spectrum = np.fft.rfft(np.lib.stride_tricks.sliding_window_view(padded, 512)[::128] * window, axis=1)
    lifted = np.fft.irfft(np.log(np.abs(spectrum) + 1e-4), axis=1)
    lifted[:, 36:-35] = 0
    smooth = np.fft.rfft(lifted, axis=1).real
    bins, base = np.arange(257), n.normal(0, 0.04)
    knots = np.array([0, 16, 40, 64, 96, 160, 256])  # of 31 Hz
    moved = knots * np.append(1 + np.clip(base + n.normal(0, 0.035, 6), -0.12, 0.12), 1)
    at = np.clip(np.interp(bins, knots, moved), 0, 256)
    low = np.minimum(at.astype(int), 255)
    warped = smooth[:, low] + (smooth[:, low + 1] - smooth[:, low]) * (at - low)
    frames = np.fft.irfft(spectrum * np.exp(np.clip(warped - smooth, -3, 3)), axis=1) * window
    out = np.zeros(len(padded) + 512, np.float32)
    for part in range(4):
        some = frames[part::4].reshape(-1)
        out[part * 128 : part * 128 + len(some)] += some
    return out[384 : 384 + len(x)] / 1.5


def recorded(r, samples, others):
    """The same as a microphone somewhere would hear it: its tone and band, the room, noise, other voices, too loud or not."""
    from scipy.fft import irfft, next_fast_len, rfft

    n = np.random.default_rng(r.randrange(1 << 40))
    x = np.pad(samples.astype(np.float32) / 32768, [r.choice([0, r.randint(0, 4000)]) for _ in range(2)])
    if r.random() < 0.6:
        x = mouth(n, x)
    count, size = len(x), next_fast_len(len(x) + 6400, real=True)
    hertz = np.maximum(np.arange(size // 2 + 1, dtype=np.float32) * (RATE / size), 20)
    octave = np.log2(hertz)
    points = np.linspace(np.log2(60), 13, 8)
    gain = np.interp(octave, points, n.normal(0, r.uniform(0, 5), 8))  # decibels
    if r.random() < 0.3:
        gain -= 60 * np.maximum(0, octave - np.log2(r.uniform(3000, 7500)))
    if r.random() < 0.3:
        gain -= 25 * np.maximum(0, np.log2(r.uniform(80, 350)) - octave)
    if r.random() < 0.2:
        middle, wide = r.uniform(500, 6500), r.uniform(100, 700)
        gain -= r.uniform(6, 25) * (np.abs(hertz - middle) < wide)
    way = 10 ** (gain / 20).astype(np.float32)
    if r.random() < 0.25:
        length = r.uniform(0.06, 0.35)  # seconds until 60 decibels less
        t = np.arange(int(RATE * min(length, 0.4)), dtype=np.float32) / RATE
        room = n.normal(0, 1, len(t)).astype(np.float32) * np.exp(-6.9 * t / length)
        room *= r.uniform(0.1, 0.5) / np.sqrt((room**2).sum())
        room[0] = 1
        way = way * rfft(room, size)
    x = irfft(rfft(x, size) * way, size)[:count]
    power = np.sqrt((x**2).mean()) + 1e-6
    if r.random() < 0.6:
        noise = rfft(n.normal(0, 1, size).astype(np.float32)) * hertz ** -r.choice([0, 0, 0.5, r.uniform(0, 1)])
        noise = irfft(noise, size)[:count]
        x = x + noise * (power / np.sqrt((noise**2).mean()) * 10 ** (-r.uniform(14, 40) / 20))
    if others and r.random() < 0.1:
        other = np.resize(r.choice(others)[0], count).astype(np.float32)
        x = x + other * (power / (np.sqrt((other**2).mean()) + 1) * 10 ** (-r.uniform(16, 30) / 20))
    x = x / (np.abs(x).max() + 1e-6)
    if r.random() < 0.08:
        most = r.uniform(0.4, 0.8)
        x = np.clip(x, -most, most) / most
    return (x * r.uniform(0.15, 0.98) * 32767).astype(np.int16)


def several(job):
    seed, count = job
    r, of, out = random.Random(seed), words(), []
    for _ in range(count):
        text = sentence(r, of)
        samples, _ = spoken(r, text)
        if r.random() < 0.7:
            samples = recorded(r, samples, out)
        if 1600 < len(samples) <= LONGEST:
            out.append((samples, text))
    return out


def tried(program):
    return len(spoken(random.Random(1), "hello", program=program)[0])


def hold_out(folder, count, seed):
    os.makedirs(folder, exist_ok=True)
    r, of = random.Random(f"held out {seed}"), words()
    with open(os.path.join(folder, "questions.jsonl"), "w") as file:
        for i in range(count):
            text = sentence(r, of)
            samples, voice = spoken(r, text, heard=False)
            noise = np.random.default_rng(i).normal(0, 1, len(samples)) * np.abs(samples).max() * r.uniform(0, 0.02)
            samples = np.clip(samples + noise, -32768, 32767).astype(np.int16)
            with wave.open(os.path.join(folder, f"{i}.wav"), "wb") as w:
                w.setparams((1, 2, RATE, 0, "NONE", ""))
                w.writeframes(samples.tobytes())
            file.write(json.dumps(dict(file=f"{i}.wav", kind=voice, question="Transcribe this audio.", answer=text)) + "\n")


def main():
    if sys.argv[1:2] == ["--words"]:
        return choose(sys.argv[2])
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("out")
    p.add_argument("--count", type=int, default=40_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=16)
    p.add_argument("--held-out", type=int)
    p.add_argument("--without", nargs="*", default=[], choices=PROGRAMS, help="programs that are not there")
    a = p.parse_args()
    for program in a.without:
        del PROGRAMS[program]
    if a.held_out:
        return hold_out(a.out, a.held_out, a.seed)
    each, texts, lengths = 50, [], []
    sound = np.zeros((a.count, LONGEST), np.int16)
    with Pool(a.workers) as pool:
        pool.map(tried, PROGRAMS)  # each program once, to fail early
        for made in pool.imap_unordered(several, [(a.seed * 1_000_000 + i, each) for i in range(a.count // each)]):
            for samples, text in made:
                sound[len(texts), : len(samples)] = samples
                texts.append(text)
                lengths.append(len(samples))
    with open(a.out + ".txt", "w") as file:
        file.writelines(t + "\n" for t in texts)
    np.save(a.out + "-lengths.npy", np.array(lengths))
    np.save(a.out + ".part.npy", sound[: len(texts)])
    os.replace(a.out + ".part.npy", a.out + ".npy")
    print(f"{len(texts)} clips, {sum(lengths) / RATE / 3600:.1f} hours")


if __name__ == "__main__":
    main()
