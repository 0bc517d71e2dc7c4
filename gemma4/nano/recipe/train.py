"""Trains the language model on tokens that data.py wrote, within a budget of time, and goes on from a checkpoint.

python train.py DATA OUT.pt [--from CHECKPOINT.pt|MODEL.gguf] [--seconds 450 | --steps N]

DATA has tokens.bin (uint16), weights.bin (uint8: what a token counts, in percent) and vocabulary.json. Matrices learn by
Muon, embeddings and norms by AdamW, both in float32 with bfloat16 arithmetic. The rate rises over 50 steps and falls
linearly to nothing from two fifths of the budget on, so a run that is to be gone on with later is not lost: the next
run's rise brings it back.
"""

import argparse
import json
import os
import time

import numpy as np
import torch

import export
from model import TINY, Model, Shape

BOS = 2


class Muon(torch.optim.Optimizer):
    """Momentum whose matrices are made orthogonal (Jordan et al., 2024). Those of one shape are done together."""

    def __init__(self, parameters, lr, momentum=0.95, decay=0.01):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, decay=decay))

    @staticmethod
    def orthogonal(g):
        x = g.bfloat16()
        tall = x.shape[-2] > x.shape[-1]
        x = x.mT if tall else x
        x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for _ in range(5):
            a = x @ x.mT
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x.mT if tall else x

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                shapes.setdefault(p.shape, []).append(p)
            for shape, ps in shapes.items():
                g = torch.stack([p.grad for p in ps])
                state = self.state[ps[0]]
                m = state.setdefault("momentum", torch.zeros_like(g))
                m.lerp_(g, 1 - group["momentum"])
                update = self.orthogonal(g.lerp(m, group["momentum"]))
                step = group["lr"] * max(1, shape[-2] / shape[-1]) ** 0.5
                for p, u in zip(ps, update):
                    p.mul_(1 - group["lr"] * group["decay"]).add_(u.to(p.dtype), alpha=-step)


class Rows:
    """Rows of documents one behind another, in an order that the seed gives, without end."""

    def __init__(self, folder, length, rows, device, seed):
        tokens = np.fromfile(os.path.join(folder, "tokens.bin"), np.uint16)
        weights = np.fromfile(os.path.join(folder, "weights.bin"), np.uint8)
        self.tokens, self.weights = (torch.from_numpy(a).to(device) for a in (tokens.astype(np.int32), weights))
        self.length, self.rows, self.count = length, rows, (len(tokens) - 1) // length
        self.random, self.order = np.random.default_rng(seed), np.zeros(0, np.int64)
        if self.count < rows:
            raise SystemExit(f"{folder} has {len(tokens)} tokens, too few for {rows} rows of {length}")

    def next(self):
        while len(self.order) < self.rows:
            self.order = np.concatenate([self.order, self.random.permutation(self.count)])
        picked, self.order = self.order[: self.rows], self.order[self.rows :]
        at = torch.from_numpy(picked * self.length)[:, None] + torch.arange(self.length + 1)
        at = at.to(self.tokens.device, non_blocking=True)
        t = self.tokens[at].long()
        return t[:, :-1], t[:, 1:].contiguous(), self.weights[at[:, 1:]].float() / 100


def optimizers(model, rate):
    """Muon for the matrices of the layers, AdamW for the rest."""
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embd" not in n]
    tables = [p for n, p in model.named_parameters() if "embd" in n]
    vectors = [p for n, p in model.named_parameters() if p.ndim == 1]
    groups = [dict(params=tables, lr=0.15 * rate), dict(params=vectors, lr=0.1 * rate)]
    return [Muon(matrices, rate), torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0, fused=True)]


def progress(step, started, a):
    """How much of the budget is spent, from 0 to 1."""
    share = step / a.steps if a.steps else (time.time() - started) / a.seconds
    begin, end = a.span
    return begin + (end - begin) * share if share < 1 else 1


def scale(step, done):
    return min((step + 1) / 50, 1.0, max(0.0, 1 - done) / 0.6)


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data")
    p.add_argument("out")
    p.add_argument("--from", dest="start", help="a checkpoint or a GGUF file to go on from")
    p.add_argument("--seconds", type=float, default=450)
    p.add_argument("--steps", type=int, help="instead of a time")
    p.add_argument("--span", type=float, nargs=2, default=(0, 1), help="which part of the schedule this run is, such as 0 0.6")
    p.add_argument("--rate", type=float, default=0.02)
    p.add_argument("--rows", type=int, default=32, help="of 4,096 tokens, in one step")
    p.add_argument("--length", type=int, default=4096)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tiny", action="store_true", help="the shape that a CPU trains, for tests")
    return p.parse_args()


def start(a, device):
    """The model, new or from a checkpoint."""
    torch.manual_seed(a.seed)
    with open(os.path.join(a.data, "vocabulary.json")) as file:
        vocabulary = len(json.load(file)["model"]["vocab"])
    shape = Shape(**(TINY if a.tiny else {}) | {"vocabulary": vocabulary})
    model = Model(shape)
    if a.start and a.start.endswith(".gguf"):
        model.load_state_dict(export.read(a.start, list(model.state_dict())))
    elif a.start:
        model.load_state_dict(torch.load(a.start, map_location="cpu", weights_only=True)["model"])
    return model.to(device)


def wait(path, longest=180):
    """For a file that another script is still about to write. When it takes too long, that script has failed."""
    began = time.time()
    while not os.path.exists(path):
        if time.time() - began > longest:
            raise SystemExit(f"{path} did not come in {longest} s: look at what should have written it")
        time.sleep(0.5)


def warm_up(model, loss_of, a):
    """Compiles the steps on tokens of no meaning, while data.py may still be at work."""
    tokens = torch.randint(4, model.shape.vocabulary, (a.rows, a.length), device="cuda")
    tokens[:, :: a.length // 8] = BOS
    for _ in range(2):
        with torch.autocast("cuda", torch.bfloat16):
            loss_of(model.hidden(tokens, model.masks(tokens, BOS)), tokens, torch.ones_like(tokens).float()).backward()
        model.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    print("compiled", flush=True)


def train(a):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    wait(os.path.join(a.data, "vocabulary.json"))
    model = start(a, device)
    loss_of = model.loss
    if device == "cuda":
        for layer in model.blk:
            layer.compile(dynamic=False)
        loss_of = torch.compile(model.loss, dynamic=False)
        warm_up(model, loss_of, a)
    wait(os.path.join(a.data, "tokens.bin"))
    rows = Rows(a.data, a.length, a.rows, device, a.seed)
    steppers = optimizers(model, a.rate)
    rates = [[g["lr"] for g in o.param_groups] for o in steppers]
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M weights, {rows.tokens.numel() / 1e6:.1f} M tokens")
    began, step, sums, said = time.time(), 0, torch.zeros(2, device=device), time.time()
    while (done := progress(step, began, a)) < 1:
        for o, lrs in zip(steppers, rates):
            for group, lr in zip(o.param_groups, lrs):
                group["lr"] = lr * scale(step, done)
        tokens, targets, weights = rows.next()
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = loss_of(model.hidden(tokens, model.masks(tokens, BOS)), targets, weights)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in steppers:
            o.step()
            o.zero_grad(set_to_none=True)
        sums += torch.stack([loss.detach(), torch.ones_like(loss)])
        step += 1
        if step % 20 == 0 or step < 4:
            mean, count = sums.tolist()
            speed = count * tokens.numel() / (time.time() - said)
            took = time.time() - began
            print(f"step {step} {took:.0f} s loss {mean / count:.4f} {speed / 1e3:.0f} k tokens/s", flush=True)
            sums.zero_()
            said = time.time()
    save(model, a.out)


def save(model, path):
    state = {n: p.to(torch.bfloat16) if p.ndim == 2 else p for n, p in model.state_dict().items()}
    torch.save({"shape": model.shape.dict(), "model": state}, path)


if __name__ == "__main__":
    train(arguments())
