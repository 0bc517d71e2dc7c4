#!/usr/bin/env python3
"""Repeats a training run of gemwire with PEFT: same adapter, same examples in the same order, same rates.

    curve.py RUN MODEL.gguf [--dtype float32 bfloat16] [--steps N] [--json FILE]

RUN is the folder that `lab bench curve` wrote. The model is decoded from its GGUF file, so both train over the same
numbers; in bfloat16 they are rounded, as people train. Prints both curves and how far the ends are apart: the mean
loss of the last 30 steps, and the loss of what was held out. Exits with 1 where float32 is more than 2 % away.
"""
import argparse
import json
import os
import sys
import time

import torch
import transformers
from peft import PeftModel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "..", "testdata", "makers"))
import gemma3  # noqa: E402: the makers' own reader of GGUF files

LAST, APART = 30, 0.02


def batch_of(examples, device):
    """Examples as rows, padded on the right."""
    longest = max(len(e["ids"]) for e in examples)
    ids, mask, targets = (torch.full((len(examples), longest), v) for v in (0, 0, -100))
    for row, e in enumerate(examples):
        n = len(e["ids"])
        ids[row, :n], mask[row, :n] = torch.tensor(e["ids"]), 1
        targets[row, :n] = torch.tensor([t if t >= 0 else -100 for t in e["targets"]])
    return ids.to(device), mask.to(device), targets.to(device)


def loss_of(model, examples, device):
    """The sum over the targets, and how many they are. Only logits that are asked for are made."""
    ids, mask, targets = batch_of(examples, device)
    base = model.get_base_model()
    hidden = base.model(input_ids=ids, attention_mask=mask).last_hidden_state
    asked = targets != -100
    logits = base.lm_head(hidden[asked]).float()
    return torch.nn.functional.cross_entropy(logits, targets[asked], reduction="sum"), int(asked.sum())


@torch.no_grad()
def held_out(model, run, device):
    model.eval()
    parts = [loss_of(model, run["held_out"][i : i + 16], device) for i in range(0, len(run["held_out"]), 16)]
    model.train()
    return sum(float(loss) for loss, _ in parts) / sum(n for _, n in parts)


def load(path, folder, dtype, device):
    model, _ = gemma3.load(path)
    model = PeftModel.from_pretrained(model.to(dtype), folder, is_trainable=True, autocast_adapter_dtype=True)
    model.get_base_model().set_attn_implementation("sdpa")
    return model.to(device).train()


def train(path, folder, run, dtype, device, steps):
    model = load(path, folder, dtype, device)
    trained = [p for p in model.parameters() if p.requires_grad]
    o = {k.lower(): v for k, v in run["optimizer"].items()}
    optimizer = torch.optim.AdamW(
        trained, lr=1, betas=(o["beta1"], o["beta2"]), eps=o["epsilon"], weight_decay=o["decay"]
    )
    losses, held, begun = [], {}, time.perf_counter()
    for i, step in enumerate(run["steps"][:steps]):
        for group in optimizer.param_groups:
            group["lr"] = step["rate"]
        loss, asked = loss_of(model, [run["examples"][e] for e in step["examples"]], device)
        (loss / asked).backward()
        torch.nn.utils.clip_grad_norm_(trained, o["clip"])
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss) / asked)
        if step.get("held_out") is not None:
            held[i + 1] = held_out(model, run, device)
    return {"dtype": str(dtype).removeprefix("torch."), "losses": losses, "held_out": held,
            "seconds": time.perf_counter() - begun}


def mean(values):
    return sum(values) / len(values)


def show(run, made, steps):
    """A row for every 50th step, and the ends."""
    ours = [s["loss"] for s in run["steps"][:steps]]
    kept = {i + 1: s["held_out"] for i, s in enumerate(run["steps"][:steps]) if s.get("held_out") is not None}
    columns = [("gemwire", ours, kept)] + [("PEFT " + m["dtype"], m["losses"], m["held_out"]) for m in made]
    print(f"{'':22}" + "".join(f"{name:>16}" for name, _, _ in columns))
    for at in range(0, len(ours), 50):
        row = "".join(f"{mean(losses[at : at + LAST]):16.4f}" for _, losses, _ in columns)
        print(f"{f'steps {at + 1} to {min(at + LAST, len(ours))}':22}" + row)
    ends = [mean(losses[-LAST:]) for _, losses, _ in columns]
    print(f"{f'last {LAST}':22}" + "".join(f"{e:16.4f}" for e in ends))
    for at in kept:
        print(f"{f'held out, step {at}':22}" + "".join(f"{held[at]:16.4f}" for _, _, held in columns))
    print(f"{'gemwire is off by':22}{'':16}" + "".join(f"{100 * (ends[0] / e - 1):15.2f}%" for e in ends[1:]))
    print(f"{'seconds':22}{run['seconds']:16.1f}" + "".join(f"{m['seconds']:16.1f}" for m in made))
    return [abs(ends[0] / e - 1) for e in ends[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("model")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"], choices=["float32", "bfloat16"])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--json")
    args = parser.parse_args()
    with open(os.path.join(args.run, "run.json"), encoding="utf-8") as f:
        run = json.load(f)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = False
    made = [train(args.model, args.run, run, getattr(torch, d), device, args.steps) for d in args.dtype]
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{run['device']}; PEFT on {name}, PyTorch {torch.__version__}, transformers {transformers.__version__}\n")
    apart = show(run, made, args.steps)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(made, f)
    sys.exit(any(a > APART for m, a in zip(made, apart) if m["dtype"] == "float32"))


if __name__ == "__main__":
    main()
