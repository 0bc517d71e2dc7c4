#!/usr/bin/env python3
"""Measures transformers' Gemma 4 image and audio towers with random weights of the E2B sizes.

    media.py [--soft-tokens 280] [--seconds 30] [--repeats 10] [--dtypes bfloat16,float32] [--json FILE]

Prints, for each type of numbers, the milliseconds of one image and of one clip: "device" with pixels and mel
frames on the GPU already and soft tokens left there, "host" from the CPU's memory to the CPU's memory, which is
what `gemwire bench media` measures.
"""
import argparse
import json
import statistics
import time

import torch
import transformers
from transformers import Gemma4AudioConfig, Gemma4TextConfig, Gemma4VisionConfig
from transformers.models.gemma4 import modeling_gemma4 as gemma4

TEXT_WIDTH = 1536
PATCH, POOL, MEL_BINS = 16, 3, 128


def sides(soft_tokens):
    """Columns and rows of about so many soft tokens, as gemwire's bench chooses them."""
    root = int(soft_tokens**0.5)
    rows = root
    while rows > 1 and rows * rows * 2 >= soft_tokens:
        if soft_tokens % rows == 0:
            return soft_tokens // rows, rows
        rows -= 1
    return soft_tokens // root, root


def tower(build, config, text, device, dtype):
    """A tower and its projection with random weights near what training leaves."""
    torch.manual_seed(1)
    parts = torch.nn.ModuleList([build(config), gemma4.Gemma4MultimodalEmbedder(config, text)])
    for name, p in parts.named_parameters():
        if p.dim() > 1:
            torch.nn.init.normal_(p, std=p.shape[-1] ** -0.5)
    return parts.to(device=device, dtype=dtype).eval().requires_grad_(False)


def measure(run, repeats, device):
    """Milliseconds of each of some runs, after a few that do not count."""
    times = []
    for i in range(repeats + 5):
        if device.type == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        if i >= 5:
            times.append(1000 * (time.perf_counter() - begun))
    return {"median": statistics.median(times), "min": min(times), "max": max(times), "runs": times}


def image(args, device, dtype):
    config = Gemma4VisionConfig(use_clipped_linears=True)
    columns, rows = (POOL * n for n in sides(args.soft_tokens))
    model, project = tower(gemma4.Gemma4VisionModel, config, Gemma4TextConfig(hidden_size=TEXT_WIDTH), device, dtype)
    pixels = torch.rand(1, columns * rows, 3 * PATCH * PATCH)
    places = torch.stack(torch.meshgrid(torch.arange(columns), torch.arange(rows), indexing="xy"), -1).reshape(1, -1, 2)

    @torch.inference_mode()
    def encode(pixels, places):
        return project(model(pixel_values=pixels, pixel_position_ids=places).last_hidden_state)

    return run_both(encode, (pixels, places), args, device)


def audio(args, device, dtype):
    config = Gemma4AudioConfig()
    model, project = tower(gemma4.Gemma4AudioModel, config, Gemma4TextConfig(hidden_size=TEXT_WIDTH), device, dtype)
    frames = max(1, int(100 * args.seconds) - 1)
    mel = torch.rand(1, frames, MEL_BINS) * 10 - 7
    mask = torch.ones(1, frames, dtype=torch.bool)

    @torch.inference_mode()
    def encode(mel, mask):
        return project(model(mel, mask, return_dict=True).last_hidden_state)

    return run_both(encode, (mel.to(dtype), mask), args, device)


def run_both(encode, inputs, args, device):
    there = [x.to(device) for x in inputs]
    soft = encode(*there)
    if not torch.isfinite(soft.float()).all():
        raise SystemExit("transformers gave numbers that are none")
    return {
        "soft_tokens": soft.shape[-2],
        "device": measure(lambda: encode(*there), args.repeats, device),
        "host": measure(lambda: encode(*[x.to(device) for x in inputs]).float().cpu(), args.repeats, device),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--soft-tokens", type=int, default=280)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--dtypes", default="bfloat16,float32")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json")
    args = parser.parse_args()
    device = torch.device(args.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    report = {"device": name, "transformers": transformers.__version__, "torch": torch.__version__, "runs": {}}
    print(f"{name}, transformers {transformers.__version__}, torch {torch.__version__}")
    for dtype in args.dtypes.split(","):
        run = report["runs"][dtype] = {}
        for what, measured in (("image", image), ("audio", audio)):
            run[what] = r = measured(args, device, getattr(torch, dtype))
            print(f"{what:6} {dtype:9} {r['soft_tokens']:4} soft tokens   device {r['device']['median']:8.2f} ms   host {r['host']['median']:8.2f} ms", flush=True)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
