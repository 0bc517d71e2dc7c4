#!/usr/bin/env python3
"""Writes a small instruction set, which turns a base model into one that answers: train.jsonl and held.jsonl.

    instructions.py FOLDER

Questions and answers are those of the built-in model's banks (gemma4/nano/recipe/banks): small talk, capitals, opposites,
plurals, past tenses. Of what is asked in several ways, one way is held out, and of the others every tenth: held.jsonl
says whether the form was learned, not whether the lines were. Standard library alone; the same files every time.
"""

import json
import os
import random
import sys

BANKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gemma4", "nano", "recipe", "banks")
WORDS = {
    "opposite": ("What is the opposite of {a}?", "The opposite of {a} is {b}."),
    "plural": ("What is the plural of {a}?", "The plural of {a} is {b}."),
    "past": ("What is the past tense of {a}?", "The past tense of {a} is {b}."),
}
TENTH = 10


def lines(name):
    with open(os.path.join(BANKS, name), encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def talk():
    """Pairs, and whether one is held out: the last way to ask of three and more."""
    for line in lines("talk.txt"):
        if "=>" not in line:
            continue
        asked, answered = ([part.strip() for part in side.split("|")] for side in line.split("=>", 1))
        for i, question in enumerate(asked):
            yield question, answered[0], len(asked) > 2 and i == len(asked) - 1


def words():
    for line in lines("words.txt"):
        name, _, rows = line[1:].partition("] ")
        for i, row in enumerate(rows.split(";") if name in WORDS else []):
            a, b = row.split(" ", 1)
            question, answer = WORDS[name]
            yield question.format(a=a), answer.format(a=a, b=b), i % TENTH == TENTH - 1


def capitals():
    rows, inside = [], False
    for line in lines("facts.txt"):
        if line.startswith("["):
            inside = line == "[capital]"
        elif inside and ";" in line and line[0] not in "?><~":
            rows.append(line.split(";"))
    for i, (country, city, *_) in enumerate(rows):
        yield f"What is the capital of {country}?", f"The capital of {country} is {city}.", i % TENTH == TENTH - 1


def write(path, pairs):
    with open(path, "w", encoding="utf-8") as f:
        for prompt, completion in pairs:
            f.write(json.dumps({"prompt": prompt, "completion": completion}, ensure_ascii=False) + "\n")
    print(path, len(pairs), "lines")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    pairs = [pair for bank in (talk, words, capitals) for pair in bank()]
    random.Random(1).shuffle(pairs)
    for name, held in (("train", False), ("held", True)):
        write(os.path.join(sys.argv[1], name + ".jsonl"), [(q, a) for q, a, h in pairs if h == held])


if __name__ == "__main__":
    main()
