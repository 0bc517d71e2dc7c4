"""Finds babble: answers off the subject, word salad, broken words. It looks at words, or asks the teacher.

python babble.py PACKED [LABELLED.jsonl]

scores the answers that were read and labelled by hand, and prints how well the threshold tells them apart. By words, an
answer is babble when it is empty, has a word of more than three letters that neither WordNet, the banks nor the
question know, or says four words twice in a row. More banks make fewer words strange, so compare this only between runs
with the same banks. By the teacher, an answer is babble when the mean log-probability of its tokens behind the question
is below THRESHOLD. The teacher does not mind loops and friendly phrases at the wrong place. PACKED is what teacher.py
packs.
"""

import argparse
import json
import os
import re
import time

import wordnet

HERE = os.path.dirname(os.path.abspath(__file__))
LETTERS = re.compile(r"[a-zà-ÿ]+")
THRESHOLD = -3.1  # set on the odd lines of heldout/labelled.jsonl
SYSTEM = (
    "You are Nano, a small Gemma model that runs on the user's computer with gemwire. You have no clock, no news and "
    "no memory. You answer in one short sentence. You often say that you do not know something or cannot do it, "
    "and then nothing else."
)  # so that the teacher finds such answers likely


def known(folder):
    """Words that are no babble: those of WordNet and of the banks."""
    out = set()
    for meaning in wordnet.meanings(folder).values():
        for text in [*meaning.words, meaning.gloss, *meaning.examples]:
            out.update(LETTERS.findall(text.lower()))
    for place, _, names in os.walk(os.path.join(HERE, "banks")):
        for name in (n for n in names if n.endswith(".txt")):
            with open(os.path.join(place, name), encoding="utf-8") as file:
                out.update(LETTERS.findall(file.read().lower()))
    return out


def babbles(answer, asked, words):
    """Whether the answer is babble by its words."""
    said, asked = LETTERS.findall(answer.lower()), asked.lower()
    if words and any(strange(word, words) for word in said if word not in asked):
        return True
    return not answer or any(said[i : i + 4] == said[i + 4 : i + 8] for i in range(len(said) - 7))


def strange(word, words):
    return len(word) > 3 and word not in words and word.rstrip("sd") not in words


def unlikely(score):
    return score < THRESHOLD


def prompt(turns):
    out = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n"
    for i, text in enumerate(turns):
        out += f"<|im_start|>{'assistant' if i % 2 else 'user'}\n{text}<|im_end|>\n"
    return out + "<|im_start|>assistant\n"


class Judge:
    """The teacher, who says how likely an answer is behind its question."""

    def __init__(self, folder):
        import torch
        import teacher

        self.torch, self.layers = torch, teacher
        self.teacher = teacher.Teacher(folder, "cpu")

    def ids(self, text):
        return self.teacher.text.encode(text, add_special_tokens=False).ids

    def scores(self, pairs, rows=16):
        """The mean log-probability of the tokens of each answer behind its turns, and -99 where there are none."""
        texts = [(self.ids(prompt(turns)), self.ids(answer)) for turns, answer in pairs]
        order = sorted(range(len(texts)), key=lambda i: len(texts[i][0]) + len(texts[i][1]))
        out = [-99.0] * len(texts)
        for at in range(0, len(order), rows):
            some = order[at : at + rows]
            for i, chances in zip(some, self.chances([texts[i] for i in some])):
                out[i] = sum(chances) / len(chances) if chances else -99.0
        return out

    def chances(self, texts):
        """For each (question, answer), in tokens: the log-probability of each of the answer's tokens."""
        torch, tm, t = self.torch, self.layers, self.teacher
        longest = max(len(q) + len(a) for q, a in texts)
        tokens = torch.tensor([q + a + [t.end] * (longest - len(q) - len(a)) for q, a in texts])
        here = torch.arange(longest)
        turn = tm.BASE ** (-torch.arange(0, tm.HEAD, 2).float() / tm.HEAD)
        angle = (here[:, None] * turn).repeat(1, 2)
        cos, sin = angle.cos().bfloat16(), angle.sin().bfloat16()
        bias = torch.full((longest, longest), -1e4).triu(1).bfloat16()
        size = (len(texts), tm.KV, longest, tm.HEAD)
        with torch.no_grad():
            x = tm.F.embedding(tokens, t.w["output.weight"])
            for i in range(tm.LAYERS):
                cache = {i: [torch.empty(size, dtype=torch.bfloat16) for _ in "kv"]}
                x = t.layer(i, x, cos, sin, cache, 0, bias)
            x = tm.rms(x, t.w["output_norm.weight"])
            out = []
            for row, (q, a) in zip(x, texts):
                logits = tm.F.linear(row[len(q) - 1 : len(q) - 1 + len(a)], t.w["output.weight"]).float()
                out.append(logits.log_softmax(-1).gather(1, torch.tensor(a, dtype=torch.long)[:, None])[:, 0].tolist())
        return out


def apart(cases, scores, threshold):
    """(precision, recall): how many of those found are babble, and how much of the babble is found."""
    found = [c["babble"] for c, s in zip(cases, scores) if s < threshold]
    return sum(found) / max(1, len(found)), sum(found) / max(1, sum(c["babble"] for c in cases))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("packed")
    p.add_argument("labelled", nargs="?", default=os.path.join(HERE, "heldout", "labelled.jsonl"))
    a = p.parse_args()
    with open(a.labelled, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    began = time.time()
    judge = Judge(a.packed)
    loaded = time.time()
    scores = judge.scores([(c["question"].split(" // "), c["answer"]) for c in cases])
    print(f"{len(cases)} answers, loaded in {loaded - began:.0f} s, scored in {time.time() - loaded:.0f} s")
    for name, some in ("odd lines", slice(0, None, 2)), ("even lines", slice(1, None, 2)), ("all lines", slice(None)):
        by_hand = [c["babble"] for c in cases[some]]
        print(f"{name}: by hand {sum(by_hand) / len(by_hand):.0%} of {len(by_hand)} are babble")
        for threshold in sorted({-4.5, -4.0, -3.5, THRESHOLD, -3.0, -2.5, -2.0}):
            share = sum(s < threshold for s in scores[some]) / len(by_hand)
            precision, recall = apart(cases[some], scores[some], threshold)
            mark = "  <- THRESHOLD" if threshold == THRESHOLD else ""
            print(f"  below {threshold:.1f}: {share:.0%}, precision {precision:.0%}, recall {recall:.0%}{mark}")


if __name__ == "__main__":
    main()
