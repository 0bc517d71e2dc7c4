"""Tells what a model knows from what it guesses, by how sure it is of its own words.

python unsure.py TEACHER.jsonl CHECKPOINT.pt|MODEL.gguf VOCABULARY.json OUT.jsonl [--count 30000]

The questions are those of the teacher's that data.py leaves out, so the model has never seen them. It answers each
greedily; the mean log-probability of its own words says how sure it is. Of 200 answers that were read by hand, nearly
all below -0.12 were babble, and few above -0.05. OUT gets {"q", "a"}: a is null for a guess, and the model's own answer
where it is sure. The next run learns to admit the former and keeps the latter (data.py --unsure OUT.jsonl).
"""

import argparse
import json
import random

import torch
import torch.nn.functional as F

import data
import export
import vocabulary
from model import Model, Shape, rms

GUESSED, KNOWN = -0.12, -0.04
LENGTH, TOKENS, END = 96, 32, "<turn|>"


def unseen(teacher, count):
    """Questions that no data has."""
    secret = data.held_out()
    seen = {q for q, _ in data.taught(teacher, secret)}
    found = set()
    with open(teacher, encoding="utf-8") as file:
        for line in file:
            d = json.loads(line)
            found.update(q for q, _ in data.pairs_of(d["text"]) if 8 <= len(q) <= 140 and "\n" not in q and "ask" not in d)
    some = sorted(q for q in found - seen if q[0].isupper() and not data.BANNED.search(q) and data.plain(q) not in secret)
    random.Random(1).shuffle(some)
    return some[:count]


@torch.no_grad()
def answers(model, words, questions, device, rows=512):
    """How sure the model is of its answer to each, and the answer, or None for one that did not end."""
    out, end, cap = [], words.token_to_id(END), model.shape.softcap
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=device).tril()[None, None]
    for at in range(0, len(questions), rows):
        ids = [words.encode(f"<bos><|turn>user\n{q}<turn|>\n<|turn>model\n", add_special_tokens=False).ids for q in questions[at : at + rows]]
        ids = [i[: LENGTH - TOKENS] for i in ids]
        sizes = torch.tensor([len(i) for i in ids], device=device)
        tokens = torch.zeros(len(ids), LENGTH, dtype=torch.long, device=device)
        for row, i in enumerate(ids):
            tokens[row, : len(i)] = torch.tensor(i, device=device)
        total, count = torch.zeros(len(ids), device=device), torch.zeros(len(ids), device=device)
        going, row = torch.ones(len(ids), dtype=torch.bool, device=device), torch.arange(len(ids), device=device)
        for step in range(TOKENS):
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                x = model.hidden(tokens, [mask, mask])[row, sizes + step - 1]
            logits = F.linear(rms(x, model.output_norm).float(), model.token_embd.weight)
            best, taken = (cap * torch.tanh(logits / cap)).log_softmax(-1).max(-1)
            total += best * going
            count += going
            tokens[row, sizes + step] = torch.where(going, taken, end)
            going &= taken != end
            if not going.any():
                break
        for sure, more, said, size in zip((total / count).tolist(), going.tolist(), tokens.tolist(), sizes.tolist()):
            text = said[size : said.index(end, size)] if end in said[size:] else []
            out.append((sure, None if more else words.decode(text, skip_special_tokens=False)))
    return out


def load(path, words):
    if path.endswith(".gguf"):
        model = Model(Shape(vocabulary=words.get_vocab_size()))
        model.load_state_dict(export.read(path, list(model.state_dict())))
        return model
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = Model(Shape(**saved["shape"]))
    model.load_state_dict(saved["model"])
    return model


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("teacher", "model", "vocabulary", "out"):
        p.add_argument(name)
    p.add_argument("--count", type=int, default=30000)
    a = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    words, questions = vocabulary.load(a.vocabulary), unseen(a.teacher, a.count)
    said = answers(load(a.model, words).to(device), words, questions, device)
    rows = [{"q": q, "a": None} for q, (sure, _) in zip(questions, said) if sure < GUESSED]
    guessed = len(rows)
    rows += [{"q": q, "a": text} for q, (sure, text) in zip(questions, said) if sure > KNOWN and text and len(text) > 8]
    with open(a.out, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"of {len(questions)} unseen questions, {guessed} are guessed and {len(rows) - guessed} known", flush=True)


if __name__ == "__main__":
    main()
