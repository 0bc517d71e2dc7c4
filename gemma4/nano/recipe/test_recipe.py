"""Checks the recipe without a GPU, a teacher or training, in seconds: python test_recipe.py WORDNET"""

import random
import sys

import chats
import data
import evaluate
import vocabulary


def main(folder):
    maker = data.Chats(folder, "", 1)
    drawn = [maker.next() for _ in range(2000)]
    asked = {data.plain(turn[0]) for _, turns in drawn for turn in turns if len(turns) == 1}
    assert len(asked) > 300, "the makers ask too little"
    assert all(q for q, _ in chats.Maker(random.Random(1)).talk), "an empty question in talk.txt"
    questions = list(evaluate.questions())
    assert len(questions) >= 300, f"{len(questions)} held-out questions"
    text = "".join(part for system, turns in drawn[:300] for part, _ in data.segments(system, turns))
    pieces = vocabulary.make([text.replace("<|turn>", "")], 1200)
    ids = pieces.encode(text, add_special_tokens=False).ids
    assert pieces.decode(ids, skip_special_tokens=False) == text, "the vocabulary does not give the text back"
    assert evaluate.babbles("The shapeight shapeight", "", {"the"}), "a non-word passes"
    assert not evaluate.babbles("The sky is blue.", "", {"the", "sky", "blue"}), "a sentence counts as babble"
    print(f"{len(drawn)} chats, {len(questions)} held-out questions: the recipe holds together")


if __name__ == "__main__":
    main(*sys.argv[1:])
