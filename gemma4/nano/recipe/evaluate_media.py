"""Scores a model on held-out pictures and clips, with gemwire itself, and prints a table.

python evaluate_media.py GEMWIRE MODEL FOLDER … [--answers FILE] [--budget 280]

A FOLDER is what pictures.py or speech.py made with --held-out. A picture's answer is right when it has the same words as
the drawing's own (a scene's in any order, so that only what is there counts). Speech is counted in wrong words per word
spoken: words put in, left out or changed.
"""

import argparse
import json
import os
import re
import subprocess
from collections import defaultdict


def said(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def distance(a, b):
    """How many words must be put in, left out or changed."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def ask(gemwire, model, path, question, budget):
    command = [gemwire, "run", "--device", "cpu", "--greedy", "--max-tokens", "60", "--context", "1024", "--model", model]
    command += ["--audio", path] if path.endswith(".wav") else ["--image", path, "--image-budget", str(budget)]
    done = subprocess.run([*command, question], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"gemwire run failed: {done.stderr.strip()}")
    return done.stdout.strip()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("gemwire")
    p.add_argument("model")
    p.add_argument("folders", nargs="+")
    p.add_argument("--answers", help="a FILE for what was answered")
    p.add_argument("--budget", type=int, default=280)
    p.add_argument("--first", type=int, help="only so many of each folder")
    a = p.parse_args()
    log = open(a.answers, "w", encoding="utf-8") if a.answers else None
    pictures, speech = defaultdict(list), defaultdict(list)
    for folder in a.folders:
        with open(os.path.join(folder, "questions.jsonl"), encoding="utf-8") as file:
            some = [json.loads(line) for line in file][: a.first]
        for q in some:
            answer = ask(a.gemwire, a.model, os.path.join(folder, q["file"]), q["question"], a.budget)
            if q["file"].endswith(".wav"):
                wrong = distance(said(q["answer"]), said(answer))
                voice = {"slt": "slt of flite", "bdl": "bdl of RHVoice"}.get(q["kind"], "espeak-ng")
                speech[voice].append((wrong, len(said(q["answer"]))))
            else:
                wrong = sorted(said(q["answer"])) != sorted(said(answer))
                pictures[q["kind"]].append(not wrong)
            if log:
                print("wrong" if wrong else "right", q["kind"], q["question"], q["answer"], answer, sep=" | ", file=log, flush=True)
    if pictures:
        every = [good for some in pictures.values() for good in some]
        print("| pictures |", " | ".join(pictures), "|")
        print("|---" * (len(pictures) + 1) + "|")
        print(f"| {sum(every) / len(every):.1%} of {len(every)} |", " | ".join(f"{sum(s)}/{len(s)}" for s in pictures.values()), "|")
    for voice, some in sorted(speech.items()):
        print(f"{voice}: {sum(w for w, _ in some) / sum(n for _, n in some):.1%} word errors, {len(some)} clips")


if __name__ == "__main__":
    main()
