"""Makes what the teacher is asked for: questions and answers, chats and small texts about themes and words.

python prompts.py WORDNET OUT.jsonl [--count 60000] [--seed 1]
"""

import argparse
import json
import os
import random

import wordnet

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEM = "You write correct, simple, friendly English for a data set. Facts must be true. Follow the format exactly."
CONCRETE = "animal artifact body food object plant substance phenomenon event time location person act".split()
WAYS = [
    "in everyday words",
    "in many different wordings",
    "as a child would ask",
    "as short as possible",
    "as people type them in a chat",
    "beginning with different words such as which, who, where, when, why, how many, name, is, can",
    "indirectly, for example 'I forgot what ... is called' or 'Tell me ...'",
    "that a quiz for beginners would ask",
]
ANSWERS = ["of one short sentence", "of one short sentence", "of one or two short sentences", "of one simple sentence"]
# Each asks for pairs: what a user says behind "Q:", the answer behind "A:".
PAIRS = [
    ("Write 12 different easy general-knowledge questions about {t}, {way}, each with a correct answer {answer}.", 10),
    ("Write 12 different common-sense questions about {t}, {way}, each with a correct answer {answer}.", 5),
    ("Write 10 questions about {t} that offer two choices or can be answered with yes or no, each with a correct "
     "answer {answer}.", 2),
    ("Write 10 questions of the form 'What is ...?' or 'What does ... mean?' about things that have to do with {t}, "
     "each with a correct answer {answer}.", 3),
    ("Write 8 things that people say in small talk about {t} (not questions of knowledge), each with a kind, short "
     "reply of a chat assistant that is a computer program without a body.", 2),
    ("Write 8 short requests about {t} to a chat assistant, such as 'List three ...', 'Give me a tip ...', 'Explain ... "
     "simply', 'Describe ...', 'Compare ...', each with a good, short answer in plain text on one line.", 4),
    ("Write 6 exercises: a text of one or two short sentences about {t} with people's names and a question about that "
     "text, all behind Q:, and the correct short answer behind A:.", 2),
    ("Write 6 exercises about {t}: behind Q: a request to rewrite, translate, shorten, correct or sort a given sentence "
     "or words, behind A: just the result.", 1),
    ("Write 6 'how do I' questions about {t}, each with a correct answer of one to three short sentences.", 2),
    ("Write 8 'why' questions about {t}, each with a correct, simple answer {answer}.", 3),
]  # fmt: skip
TEXTS = [
    ("Write a very short story (five simple sentences) about {t}.", "Tell me a short story about {t}.", 2),
    ("Tell a short, clean joke about {t}.", "Tell me a joke about {t}.", 1),
    ("Write a poem of four short lines about {t}.", "Write a short poem about {t}.", 1),
    ("Explain {t} to a child in two or three simple sentences.", "Explain {t} to a child.", 2),
]


def themes():
    with open(os.path.join(HERE, "banks", "themes.txt")) as file:
        return [t.strip() for line in file for t in line.split(";")]


def nouns(folder):
    """Common nouns for things, with the kind of their first meaning."""
    all_meanings, out = wordnet.meanings(folder), []
    for (word, part), found in wordnet.common(folder, 2).items():
        meaning = all_meanings.get((part, found[0][1]))
        if part == "n" and meaning and meaning.kind.removeprefix("noun.") in CONCRETE and len(word) > 2:
            out.append(word)
    return sorted(out)


def make(folder, count, seed):
    r, hand, words = random.Random(seed), themes(), nouns(folder)
    for _ in range(count):
        topic = r.choice(hand) if r.random() < 0.55 else r.choice(words)
        if r.random() < 0.12:
            order, ask, _ = r.choices(TEXTS, [t[-1] for t in TEXTS])[0]
            yield dict(system=SYSTEM, user=order.format(t=topic) + " Write only the text.", ask=ask.format(t=topic))
            continue
        order, _ = r.choices(PAIRS, [p[-1] for p in PAIRS])[0]
        order = order.format(t=f'"{topic}"', way=r.choice(WAYS), answer=r.choice(ANSWERS))
        yield dict(system=SYSTEM, user=order + "\nFormat, with nothing else:\nQ: ...\nA: ...")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("wordnet")
    p.add_argument("out")
    p.add_argument("--count", type=int, default=60000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    with open(a.out, "w") as file:
        for prompt in make(a.wordnet, a.count, a.seed):
            file.write(json.dumps(prompt) + "\n")


if __name__ == "__main__":
    main()
