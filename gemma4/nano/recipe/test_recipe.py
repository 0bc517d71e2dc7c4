"""Checks the recipe without a GPU, a teacher or training, in seconds: python test_recipe.py WORDNET"""

import random
import sys

import chats
import data
import evaluate
import evaluate_media
import pictures
import speech
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
    for seed in range(30):
        pixels, labels, _, asked = pictures.draw(seed)
        assert pixels.shape == (256, 256, 3) and labels.any() and all(q and a for q, a in asked), f"picture {seed}"
    known = {w for some in speech.words().values() for w in some} | {*speech.SMALL, *speech.FIXED}
    said = [speech.sentence(random.Random(i), speech.words()) for i in range(200)]
    assert all(w in known for s in said for w in s.split()), "a spoken word is not among the 1,000"
    assert evaluate_media.distance("a b c".split(), "a c d".split()) == 2, "wrong words are counted wrongly"
    print(f"{len(drawn)} chats, {len(questions)} held-out questions: the recipe holds together")


if __name__ == "__main__":
    main(*sys.argv[1:])
