"""Makes the training data: chats from the banks, WordNet and the teacher's answers, as tokens.

python data.py WORDNET TEACHER.jsonl OUT [--chats 400000] [--seed 1] [--workers 16] [--vocabulary FILE] [--unsure FILE]

OUT gets vocabulary.json (unless one is given), tokens.bin and weights.bin, as train.py wants them. Questions of the
held-out set are left out, whoever asked them.
"""

import argparse
import json
import os
import random
import re
from collections import Counter, defaultdict
from multiprocessing import Pool

import numpy as np

import vocabulary
import wordnet
from answers import Answers
from calls import Calls
from chats import Maker, loosely

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = dict(words=3, glosses=4, examples=2)  # how often WordNet must have counted a word
WRITTEN, TAUGHT = 0.45, 0.2  # the shares of what was written by hand, and of the teacher's pairs: it is often wrong
UNSURE = 0.14  # the share of questions that no data has, where a run before was asked them: guessed ones, and known ones
ADMITTED = [
    "I am not sure about that. I am a small model and know only simple things.",
    "I do not know that well enough to answer.",
    "That is more than a small model like me knows.",
]
OFTEN = 25  # in how many of the teacher's pairs each word must be
ASKED, FULL = 15, 100  # weights in percent: what users say, and what the model says
PERSON = re.compile(r"\b(I (like|love|am|was|have|had|enjoy|usually|often|went|go|prefer|think|feel)|[Mm]y|me|we|our)\b")
BANNED = re.compile(r"Qwen|Alibaba|OpenAI|language model|\bQ:|\bA:|\.\.\.|[^\x00-\xff–—‘’“”…]|https?:|```", re.I)


def plain(question):
    return re.sub(r"[^a-z0-9+*/=-]+", " ", question.lower()).strip()


def held_out():
    """What is asked last in held-out chats. Up to three words ("hi") are what everybody says: only questions.txt has those."""

    def asked(name):
        with open(os.path.join(HERE, "heldout", name), encoding="utf-8") as file:
            return {plain(line.rsplit(" | ", 1)[-1].split(" // ")[-1]) for line in file if not line.startswith("#")}

    return asked("questions.txt") | {q for name in ("fresh.txt", "tasks.txt") for q in asked(name) if q.count(" ") > 2}


def pairs_of(text):
    """The questions and answers of a list that the teacher wrote."""
    return re.findall(r"Q:\s*(.+?)\s*\n+\s*A:\s*(.+?)\s*(?=\n\s*\n?\s*Q:|\Z)", text, re.S)


def taught(path, secret):
    """The teacher's pairs: of each list the first ones, of several answers to a question the one given most often."""
    answers = defaultdict(Counter)
    with open(path, encoding="utf-8") as file:
        for line in file:
            d = json.loads(line)
            if "ask" in d:
                if d["done"] and not BANNED.search(d["text"]) and len(d["text"]) < 900:
                    answers[d["ask"]][d["text"].strip()] += 1
                continue
            found = pairs_of(d["text"])
            for q, a in found[: 7 if d["done"] else min(7, len(found) - 1)]:
                if 8 <= len(q) <= 240 and 1 < len(a) <= 320 and "\n" not in q and not BANNED.search(q + a):
                    answers[q][a] += 1
    pairs = [(q, best.most_common(1)[0][0]) for q, best in answers.items() if plain(q) not in secret]
    return without_rare_words([(q, a) for q, a in pairs if len(a) >= 12 and not of_a_person(q, a)])


def of_a_person(question, answer):
    """Whether the teacher answers as if it had a life, or tells of somebody who was not spoken of."""
    return bool(PERSON.search(answer) or re.search(r"\byour?\b", question) and not re.search(r"\b(can|do|would) you\b", question, re.I)
                or re.match(r"(Why|When|Where|What|How) did (?!the |people|humans)", question))  # fmt: skip


def without_rare_words(pairs):
    """Pairs whose words the teacher used often: a small model learns rare ones only in parts, and says those."""
    found = [set(re.findall(r"[^\W\d_]{4,}", q + " " + a)) for q, a in pairs]
    used = Counter(word for words in found for word in words)
    return [pair for pair, words in zip(pairs, found) if all(used[word] >= OFTEN for word in words)]


def from_wordnet(folder):
    """Common words, (word, gloss, example) of common meanings, and those of them with an example."""
    all_meanings, words, glosses = wordnet.meanings(folder), Counter(), []
    for (word, part), found in wordnet.common(folder, 2).items():
        count, place = found[0]
        places = [place] if part != "a" else [place]
        meaning = next((all_meanings[p, q] for p in (part, "a") for q in places if (p, q) in all_meanings), None)
        if meaning is None or not re.fullmatch(r"[a-z]+", word) or len(word) < 3:
            continue
        if len(word) <= 10:
            words[word] += count
        example = next((e for e in meaning.examples if word in e and 12 < len(e) < 90), None)
        if len(meaning.gloss) < 110 and BANNED.search(meaning.gloss) is None:
            glosses.append((word, meaning.gloss, example))
    common = [w for w, _ in words.most_common(6000)]
    usual = set(common[:4000])
    glosses = [g for g in glosses if all(known(w, usual) for w in re.findall(r"[a-z]{4,}", g[1]))]
    return common, glosses, [g for g in glosses if g[2]]


def known(word, usual):
    return any(word[: len(word) - n] + e in usual for n, e in ((0, ""), (1, ""), (2, ""), (3, ""), (3, "e"), (1, "e"), (3, "y")))


class Chats:
    """An endless mixture of chats."""

    def __init__(self, folder, teacher, seed, unsure=()):
        r = self.r = random.Random(seed)
        self.secret = held_out()
        self.taught = taught(teacher, self.secret) if teacher else []
        self.unsure, self.sure = ([p for p in unsure if bool(p[1]) == known] for known in (False, True))
        m = self.maker = Maker(r)
        away = {plain(q) for q, _ in m.facts}  # what a bank answers in its own words
        self.taught = [p for p in self.taught if plain(p[0]) not in away]
        self.answers = Answers(r, m.name, lambda q: plain(q) in self.secret or q.startswith("What is the capital"))
        self.calls = Calls(r, self.pair)
        m.common, m.glosses, m.exemplified = from_wordnet(folder)
        m.facts = [f for f in m.facts if plain(f[0]) not in self.secret]
        m.talk = [t for t in m.talk if plain(t[0]) not in self.secret]

    def pair(self):
        """A question and its answer, of the makers, the teacher or a hand."""
        while True:
            turns = self.said()
            if len(turns) == 1:
                return turns[0]

    def said(self):
        """One or more turns that belong together."""
        while True:
            x = self.r.random()
            if self.unsure and x < UNSURE:
                q, a = self.r.choice(self.unsure if self.r.random() < 0.65 or not self.sure else self.sure)
                turns = [(loosely(self.r, q), a or self.r.choice(ADMITTED))]
            elif x < UNSURE + WRITTEN:
                turns = self.answers.draw()
                if self.r.random() < 0.2 and len(turns) == 1:
                    turns = [(loosely(self.r, turns[0][0]), turns[0][1])]
            elif self.taught and x < UNSURE + WRITTEN + TAUGHT:
                turns = [self.r.choice(self.taught)]
            else:
                turns = [self.maker.pair()]
            if plain(turns[0][0]) not in self.secret:
                return turns

    def next(self):
        r, x = self.r, self.r.random()
        if x < 0.11:
            return self.maker.remembered()
        if x < 0.14:
            return self.maker.directed()
        if x < 0.20:
            system, turns = self.answers.draw_led()
            return system, turns + (self.said() if r.random() < 0.1 else [])
        if x < 0.33:
            return self.calls.next()
        if x < 0.34:
            return self.maker.thinking()
        if x < 0.37:
            return None, [self.calls.json()]
        count = 1 if r.random() < 0.5 else r.randint(15, 40) if r.random() < 0.02 else r.randint(2, 6)
        return None, [turn for _ in range(count) for turn in self.said()]


def segments(system, turns):
    """The chat in the template's form, as (text, weight). A turn is (q, answer), or (q, call, response, ..., answer)."""
    out = [("<bos>" + (f"<|turn>system\n{system}<turn|>\n" if system is not None else ""), 0)]
    for turn in turns:
        out += [("<|turn>user\n", 0), (turn[0].strip(), ASKED), ("<turn|>\n<|turn>model\n", ASKED)]
        for call, response in zip(turn[1:-1:2], turn[2:-1:2]):
            out += [(call + "<|tool_response>", FULL), (response.removeprefix("<|tool_response>"), 0)]
        out += [(turn[-1].strip() + "<turn|>", FULL), ("\n", 0)]
    return out


def unsure(a):
    """(question, the model's own answer or None), as unsure.py found."""
    if not a.unsure:
        return []
    with open(a.unsure, encoding="utf-8") as file:
        return [(d["q"], d["a"]) for d in map(json.loads, file)]


def work(job):
    a, words, index, count = job
    chats, t = Chats(a.wordnet, a.teacher, a.seed * 1000 + index, unsure(a)), vocabulary.load(words)
    texts, weights = [], []
    for _ in range(count):
        for text, weight in segments(*chats.next()):
            texts.append(text)
            weights.append(weight)
    ids = [e.ids for e in t.encode_batch(texts, add_special_tokens=False)]
    sizes = [len(i) for i in ids]
    return np.concatenate([np.array(i, np.uint16) for i in ids]), np.repeat(np.array(weights, np.uint8), sizes)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("wordnet")
    p.add_argument("teacher", help="the teacher's answers, or '' for none")
    p.add_argument("out")
    p.add_argument("--chats", type=int, default=400_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=16)
    p.add_argument("--size", type=int, default=8192)
    p.add_argument("--unsure", help="a FILE that unsure.py wrote")
    p.add_argument("--vocabulary", help="of the checkpoint that is gone on with")
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    words = os.path.join(a.out, "vocabulary.json")
    if a.vocabulary:
        vocabulary.load(a.vocabulary).save(words)
    else:
        chats = Chats(a.wordnet, a.teacher, a.seed)
        some = [chats.next()[1] for _ in range(min(a.chats, 60_000))]
        vocabulary.make((text for turns in some for turn in turns for text in turn if "<|" not in text), a.size).save(words)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    each = a.chats // a.workers
    paths = [os.path.join(a.out, name) for name in ("tokens.bin", "weights.bin")]
    with Pool(a.workers) as pool, open(paths[0] + ".part", "wb") as t, open(paths[1], "wb") as w:
        total = 0
        for tokens, weights in pool.imap(work, [(a, words, i, each) for i in range(a.workers)]):
            tokens.tofile(t)
            weights.tofile(w)
            total += len(tokens)
    os.replace(paths[0] + ".part", paths[0])
    print(f"{each * a.workers} chats, {total / 1e6:.1f} M tokens")


if __name__ == "__main__":
    main()
