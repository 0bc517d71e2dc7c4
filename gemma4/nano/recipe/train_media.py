"""Teaches a trained language model to see and hear: both towers, their projections, and lightly the language itself.

python train_media.py DATA PICTURES SPEECH OUT.pt --from LANGUAGE.gguf|LANGUAGE.pt [--towers TOWERS.pt]
    [--seconds 300 [--until 420] | --steps N]

DATA is what data.py wrote, PICTURES and SPEECH the names that pictures.py and speech.py were given. A step has pictures,
clips and text in one batch of rows, so that the language is not forgotten. Besides the answers the image tower says for
each soft token what is there, and the audio tower spells (CTC): only a run that goes on needs both heads again. For
that, OUT.towers.pt has the towers and the heads alone, in halves, and --towers takes it.
"""

import argparse
import json
import os
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import export
import pictures
import vocabulary
from model import TINY, Model, Shape
from towers import Ears, Eyes, Sizes, mel, mel_filters
from train import BOS, Muon, Rows, scale, wait

FEW = [(8, 8)] * 4 + [(9, 7), (7, 9), (10, 6), (6, 10)]  # soft tokens across and down, of a budget of 70
MANY = [(16, 16)] * 4 + [(19, 14), (14, 19), (20, 13)]  # of 280
LETTERS = " abcdefghijklmnopqrstuvwxyz"
HEARD = ["Transcribe this audio.", "Transcribe this audio.", "What is said here?", "Write down what you hear.", "What do you hear?",
    "What did I say?"]  # fmt: skip
PARTS = "eyes ears there letters".split()
ASKED, FULL = 0.15, 4.0  # weights of what is asked and of the answer; text has 0.15 and 1


class Spelled:
    """Texts as ids, each encoded once."""

    def __init__(self, path):
        self.words, self.known = vocabulary.load(path), {}

    def __call__(self, text):
        if text not in self.known:
            self.known[text] = self.words.encode(text, add_special_tokens=False).ids
        return self.known[text]


def document(spell, kind, count, turns):
    """Ids and weights of a chat about a picture or a clip of count soft tokens."""
    ids, weights = [BOS, *spell("<|turn>user\n"), *spell(f"<|{kind}>")], []
    first = len(ids)
    ids += spell(f"<|{kind}|>") * count + spell(f"<{kind}|>")
    weights = [0.0] * len(ids)
    for i, (q, answer) in enumerate(turns):
        for text, weight in ((("<|turn>user\n" if i else ""), 0), (q, ASKED), ("<turn|>\n<|turn>model\n", 0), (answer + "<turn|>", FULL), ("\n", 0)):
            if text:
                ids += spell(text)
                weights += [weight] * (len(ids) - len(weights))
    return ids, weights, first


class Packed:
    """Documents behind one another in rows, none of them cut."""

    def __init__(self, rows, length):
        self.tokens = np.zeros((rows, length + 1), np.int64)
        self.weights, self.row, self.at = np.zeros((rows, length + 1), np.float32), 0, 0

    def add(self, ids, weights, first, count):
        """The flat places of the soft tokens; None if there is no room."""
        rows, wide = self.tokens.shape
        if self.at + len(ids) > wide - 1:
            self.row, self.at = self.row + 1, 0
        if self.row >= rows:
            return None
        self.tokens[self.row, self.at : self.at + len(ids)] = ids
        self.weights[self.row, self.at : self.at + len(ids)] = weights
        start = self.row * (wide - 1) + self.at + first
        self.at += len(ids)
        return np.arange(start, start + count)


class Media:
    """Pictures and clips on the device, and batches of them."""

    def __init__(self, a, spell, device):
        wait(a.pictures + ".npy")
        wait(a.speech + ".npy")
        self.r, self.spell, self.device = random.Random(a.seed), spell, device
        self.pixels = torch.from_numpy(np.load(a.pictures + ".npy")).to(device)
        self.labels = torch.from_numpy(np.load(a.pictures + "-labels.npy")).to(device).long()
        with open(a.pictures + ".jsonl") as file:
            self.questions = [json.loads(line) for line in file]
        self.sound = torch.from_numpy(np.load(a.speech + ".npy")).to(device)
        self.lengths = torch.from_numpy(np.load(a.speech + "-lengths.npy")).to(device)
        with open(a.speech + ".txt") as file:
            self.texts = file.read().splitlines()
        self.filters = mel_filters().to(device)
        print(f"{len(self.questions)} pictures, {len(self.texts)} clips", flush=True)

    def seen(self, count, sizes):
        """Pixels of one size, what is in each soft token's place, and what is asked."""
        which = torch.tensor(self.r.sample(range(len(self.questions)), count), device=self.device)
        across, down = self.r.choice(sizes)
        x = self.pixels[which].permute(0, 3, 1, 2).float() / 255
        if self.r.random() < 0.3:
            x = F.interpolate(x, size=self.r.randint(120, 250), mode="bicubic", antialias=True)
        x = F.interpolate(x, size=(48 * down, 48 * across), mode="bicubic", antialias=True)
        if self.r.random() < 0.5:
            x = x + torch.randn_like(x) * self.r.uniform(0, 0.03)
        row, column = (torch.arange(n, device=self.device) * 8 // n for n in (down, across))
        labels = self.labels[which][:, row][:, :, column].flatten(1, 2)
        turns = []
        for i in which.tolist():
            turns.append([self.r.choice(self.questions[i]) for _ in range(1 if self.r.random() < 0.6 else 2)])
        return x.clamp(0, 1), labels, turns

    def heard(self, count):
        """Mel frames, which are valid, what is said, and what is asked."""
        which = torch.tensor(self.r.sample(range(len(self.texts)), count), device=self.device)
        x, lengths = self.sound[which].float() / 32768, self.lengths[which]
        speed = self.r.uniform(0.87, 1.22)
        lengths = (lengths / speed).long().clamp(max=int(x.shape[1] / speed))
        x = F.interpolate(x[:, None], size=int(x.shape[1] / speed), mode="linear")[:, 0, : int(lengths.max())]
        loud = x.abs().amax(1, keepdim=True) + 1e-4
        noise = 10 ** (-torch.empty_like(loud).uniform_(1.2, 3.5))
        x = x / loud * torch.empty_like(loud).uniform_(0.15, 0.95)
        x = (x + torch.randn_like(x) * noise * x.abs().amax(1, keepdim=True)) * (torch.arange(x.shape[1], device=x.device) < lengths[:, None])
        frames, valid = mel(x, lengths, self.filters)
        frames = self.masked(frames)
        texts = [self.texts[i] for i in which.tolist()]
        return frames, valid, texts, [[(self.r.choice(HEARD), t)] for t in texts]

    def masked(self, frames):
        """Two bands of each clip are silent, so that no voice is known by a few of them alone."""
        band, count = torch.arange(frames.shape[-1], device=self.device), len(frames)
        for _ in range(2):
            low, wide = (torch.randint(0, n, (count, 1, 1), device=self.device) for n in (len(band) - 10, 14))
            frames = frames.masked_fill((band >= low) & (band < low + wide), frames.min())
        return frames


def ctc(logits, valid, texts):
    """How badly the clip's letters are spelled."""
    spelled = [[LETTERS.index(c) + 1 for c in t] for t in texts]
    targets = torch.tensor([i for s in spelled for i in s], device=logits.device)
    sizes = torch.tensor([len(s) for s in spelled], device=logits.device)
    return F.ctc_loss(logits.float().log_softmax(-1).transpose(0, 1), targets, valid.sum(1), sizes, zero_infinity=True)


class Whole(nn.Module):
    """The language model, both towers, and the heads for training."""

    def __init__(self, language, sizes):
        super().__init__()
        self.language, self.eyes, self.ears = language, Eyes(sizes, language.shape.width), Ears(sizes, language.shape.width)
        self.there = nn.Linear(sizes.width, len(pictures.KINDS) + 1 + len(pictures.COLORS) + 1)
        self.letters = nn.Linear(sizes.width, len(LETTERS) + 1)


def batch(a, whole, media, rows, spell):
    """One step's tokens, weights, soft tokens with their places, and the losses of the towers' own heads."""
    packed, soft, places, own = Packed(a.media_rows, a.length), [], [], {}
    for name, count, sizes in (("many", a.large, MANY), ("few", a.small, FEW)):
        pixels, labels, turns = media.seen(count, sizes)
        inner, out = whole.eyes(pixels)
        things, colors = whole.there(inner).float().split([len(pictures.KINDS) + 1, len(pictures.COLORS) + 1], -1)
        own[name] = F.cross_entropy(things.flatten(0, 1), labels[..., 0].flatten()) + F.cross_entropy(colors.flatten(0, 1), labels[..., 1].flatten())
        for i, t in enumerate(turns):
            if (at := packed.add(*document(spell, "image", out.shape[1], t), out.shape[1])) is not None:
                soft.append(out[i])
                places.append(at)
    frames, valid, texts, turns = media.heard(a.clips)
    inner, out, valid = whole.ears(frames, valid)
    own["letters"] = ctc(whole.letters(inner), valid, texts)
    counts = valid.sum(1).tolist()
    for i, t in enumerate(turns):
        if (at := packed.add(*document(spell, "audio", counts[i], t), counts[i])) is not None:
            soft.append(out[i, : counts[i]])
            places.append(at)
    device = frames.device
    tokens, weights = (torch.from_numpy(x).to(device) for x in (packed.tokens, packed.weights))
    text = rows.next()
    both = [torch.cat(p) for p in zip((tokens[:, :-1], tokens[:, 1:], weights[:, 1:]), text)]
    return both, torch.cat(soft), torch.from_numpy(np.concatenate(places)).to(device), own


def optimizers(whole, a):
    """Muon for matrices and AdamW for the rest, slower for the language."""
    steppers = []
    for of, rate in (([("", whole.language)], a.rate), ([("", whole.eyes), ("", whole.ears), ("", whole.there), ("", whole.letters)], a.tower_rate)):
        named = [(n, p) for _, m in of for n, p in m.named_parameters()]
        matrices = [p for n, p in named if p.ndim == 2 and not any(x in n for x in ("embd.", "conv_dw"))
                    and not n.endswith("embd.weight") and p.shape[0] not in (len(LETTERS) + 1, len(pictures.KINDS) + len(pictures.COLORS) + 2)]  # fmt: skip
        held = {id(p) for p in matrices}
        tables = [p for n, p in named if id(p) not in held and p.ndim > 1]
        vectors = [p for n, p in named if id(p) not in held and p.ndim == 1]
        steppers.append(Muon(matrices, rate))
        steppers.append(torch.optim.AdamW([dict(params=tables, lr=0.15 * rate), dict(params=vectors, lr=0.1 * rate)], betas=(0.9, 0.95), weight_decay=0.0))
    return steppers


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("data", "pictures", "speech", "out"):
        p.add_argument(name)
    p.add_argument("--from", dest="start", required=True)
    p.add_argument("--towers", help="of a run to go on from")
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--until", type=float, help="at the latest so many seconds after the start, however long the data took")
    p.add_argument("--steps", type=int)
    p.add_argument("--rate", type=float, default=0.005, help="of the language")
    p.add_argument("--tower-rate", type=float, default=0.02)
    p.add_argument("--rows", type=int, default=6, help="of text")
    p.add_argument("--media-rows", type=int, default=9)
    p.add_argument("--length", type=int, default=4096)
    p.add_argument("--small", type=int, default=60)
    p.add_argument("--large", type=int, default=34)
    p.add_argument("--clips", type=int, default=190)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def read(path, vocabulary_path):
    with open(vocabulary_path) as file:
        model = Model(Shape(vocabulary=len(json.load(file)["model"]["vocab"])))
    if path.endswith(".pt"):
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True)["model"])
    else:
        model.load_state_dict(export.read(path, list(model.state_dict())))
    return model


def halves(module):
    return {n: p.detach().half().cpu() for n, p in module.state_dict().items()}


def save(whole, sizes, path):
    """All of it, and the towers with their heads alone."""
    parts = {n: getattr(whole, n) for n in PARTS}
    language = whole.language
    torch.save({"shape": language.shape.dict(), "model": language.state_dict(), "sizes": sizes.dict()}
               | {n: m.state_dict() for n, m in parts.items()}, path)  # fmt: skip
    torch.save({"sizes": sizes.dict()} | {n: halves(m) for n, m in parts.items()}, path + ".towers.pt")


def train(a):
    started = time.time()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(a.seed)
    words = os.path.join(a.data, "vocabulary.json")
    wait(words)
    language, spell = read(a.start, words), Spelled(words)
    saved = torch.load(a.towers, map_location="cpu", weights_only=True) if a.towers else None
    sizes = Sizes(**saved["sizes"]) if saved else Sizes()
    whole = Whole(language, sizes).to(device)
    for part in PARTS if saved else ():
        getattr(whole, part).load_state_dict(saved[part])
    loss_of = language.loss
    if device == "cuda":
        for layer in language.blk:
            layer.compile(dynamic=False)
        loss_of = torch.compile(language.loss, dynamic=False)
        tokens = torch.randint(4, 8000, (a.rows + a.media_rows, a.length), device=device)
        tokens[:, :: a.length // 8] = BOS
        with torch.autocast(device, torch.bfloat16):
            loss_of(language.hidden(tokens, language.masks(tokens, BOS)), tokens, torch.ones_like(tokens).float()).backward()
        whole.zero_grad(set_to_none=True)
        print("compiled", flush=True)
    wait(os.path.join(a.data, "tokens.bin"))
    rows, media = Rows(a.data, a.length, a.rows, device, a.seed), Media(a, spell, device)
    marks = [spell(m)[0] for m in ("<|image|>", "<|audio|>")]
    steppers = optimizers(whole, a)
    rates = [[g["lr"] for g in o.param_groups] for o in steppers]
    began, step, sums = time.time(), 0, {}
    seconds = min(a.seconds, started + a.until - began) if a.until else a.seconds
    print(f"{began - started:.0f} s to begin, {seconds:.0f} s to train", flush=True)
    while (done := step / a.steps if a.steps else (time.time() - began) / seconds) < 1:
        for o, lrs in zip(steppers, rates):
            for group, lr in zip(o.param_groups, lrs):
                group["lr"] = lr * scale(step, done)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            (tokens, targets, weights), soft, places, own = batch(a, whole, media, rows, spell)
            x = language.hidden(tokens, language.masks(tokens, BOS), soft, places, marks)
            loss = loss_of(x, targets.contiguous(), weights.contiguous())
        (loss + 0.3 * sum(own.values())).backward()
        torch.nn.utils.clip_grad_norm_(whole.language.parameters(), 1.0)
        torch.nn.utils.clip_grad_norm_([p for m in (whole.eyes, whole.ears, whole.there, whole.letters) for p in m.parameters()], 1.0)
        for o in steppers:
            o.step()
            o.zero_grad(set_to_none=True)
        for key, value in dict(own, loss=loss).items():
            sums[key] = sums.get(key, 0) + value.detach()
        step += 1
        if step % 50 == 0 or step < 4:
            n = min(step, 50) if step >= 50 else 1
            print(f"step {step} {time.time() - began:.0f} s", *(f"{k} {v.item() / n:.3f}" for k, v in sums.items()), flush=True)
            sums = {}
    save(whole, sizes, a.out)


if __name__ == "__main__":
    train(arguments())
