"""Speaks the sentences that nano learns to write down, with espeak-ng and flite: many voices, speeds and pitches.

python speech.py OUT [--count 30000] [--seed 1] [--workers 16]       for training: OUT.npy, OUT-lengths.npy and OUT.txt
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
ESPEAK = os.environ.get("ESPEAK", "espeak-ng").split()
FLITE = os.environ.get("FLITE", "flite").split()
LANGUAGES = "en-us en-us en-us en-gb en-gb en-gb-x-rp en-gb-scotland en-029 en-gb-x-gbclan".split()
VARIANTS = ("m1 m2 m4 m5 m6 m8 f1 f2 f4 Andy Annie Alex adam edward belinda john linda max michael Mike paul steph victor "
    "grandpa aunty Lee Denis ed rob travis Gene david quincy shelby").split()  # fmt: skip
UNHEARD = "m3 m7 f3 f5".split()
FLITE_VOICES = "awb rms kal".split()
FLITE_UNHEARD = "slt"
FLITE_SHARE = 0.6  # its voices are fewer and less alike, so they take more practice
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


def spoken(r, text, unheard=False):
    """Samples at 16 kHz, and which voice it was."""
    with tempfile.NamedTemporaryFile(suffix=".wav", dir="/dev/shm") as file:
        if r.random() < (0.5 if unheard else FLITE_SHARE):
            name = FLITE_UNHEARD if unheard else r.choice(FLITE_VOICES)
            throat = 1.0 if unheard else r.uniform(0.88, 1.25)
            command = [*FLITE, "-voice", name, "--setf", f"duration_stretch={throat * r.uniform(0.8, 1.25):.2f}", "-t", text, "-o", file.name]
            if not unheard:
                pitch, swing = r.uniform(80, 220) / throat, r.uniform(8, 35)
                command[-4:-4] = ["--setf", f"int_f0_target_mean={pitch:.0f}", "--setf", f"int_f0_target_stddev={swing:.0f}"]
        else:
            throat = 1.0
            name = r.choice(LANGUAGES[:5] if unheard else LANGUAGES) + "+" + r.choice(UNHEARD if unheard else VARIANTS)
            command = [*ESPEAK, "-v", name, "-s", str(r.randint(115, 185)), "-p", str(r.randint(25, 75)), "-w", file.name, text]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not os.path.getsize(file.name):
            raise RuntimeError(f"no sound came of {' '.join(command)}")
        with wave.open(file.name) as w:
            samples = np.frombuffer(w.readframes(w.getnframes()), np.int16)
            samples = resampled(samples, round(w.getframerate() * throat / 160) * 160)  # a shorter throat, a higher voice
    loud = np.flatnonzero(np.abs(samples) > 200)
    if len(loud):
        samples = samples[max(0, loud[0] - 1600) : loud[-1] + 1600]
    return samples, name


def several(job):
    seed, count = job
    r, of, out = random.Random(seed), words(), []
    for _ in range(count):
        text = sentence(r, of)
        samples, _ = spoken(r, text)
        if 1600 < len(samples) <= LONGEST:
            out.append((samples, text))
    return out


def hold_out(folder, count, seed):
    os.makedirs(folder, exist_ok=True)
    r, of = random.Random(f"held out {seed}"), words()
    with open(os.path.join(folder, "questions.jsonl"), "w") as file:
        for i in range(count):
            text = sentence(r, of)
            samples, voice = spoken(r, text, True)
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
    p.add_argument("--count", type=int, default=30_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=16)
    p.add_argument("--held-out", type=int)
    a = p.parse_args()
    if a.held_out:
        return hold_out(a.out, a.held_out, a.seed)
    each, texts, lengths = 50, [], []
    spoken(random.Random(1), "hello"), spoken(random.Random(4), "hello")  # each program once, to fail early
    sound = np.zeros((a.count, LONGEST), np.int16)
    with Pool(a.workers) as pool:
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
