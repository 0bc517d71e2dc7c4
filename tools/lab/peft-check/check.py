#!/usr/bin/env python3
"""Compares adapters with PEFT, both ways, on the conformance model testdata/conformance/e2b.gguf.

    check.py [GEMWIRE]        (default: bin/gemwire, which `make build` leaves)

1. The model rebuilt from the GGUF file has the logits that gemwire computes.
2. gemwire trains an adapter; PEFT loads its folder; the logits agree.
3. PEFT saves an adapter; gemwire loads its folder, and the same as a .gguf file; the logits agree.

Wants torch, transformers 5.17 or later, peft and safetensors, no GPU and no network. Prints the relative error of each
comparison and ends with status 1 where one is above 1e-5.
"""
import os
import subprocess
import sys
import tempfile

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file

import ggufmodel

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "..", "..", "testdata", "conformance", "e2b.gguf")
DATA = os.path.join(HERE, "facts.jsonl")
IDS = [2, 5, 384, 279, 866, 6, 279, 5, 383, 279, 512, 610, 33, 1204, 77, 1999, 42, 3, 815, 1024]
LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
TOLERANCE = 1e-5


def gemwire(*args):
    subprocess.run([BINARY, *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def logits_of_gemwire(folder, *more):
    path = os.path.join(folder, "logits.safetensors")
    gemwire("logits", MODEL, "--device", "cpu", "--ids", ",".join(map(str, IDS)), "-o", path, "--force", *more)
    return load_file(path)["logits"]


def logits_of(model):
    with torch.no_grad():
        return model(input_ids=torch.tensor([IDS])).logits[0].float()


def report(what, got, want):
    error = ((got.double() - want.double()).norm() / want.double().norm()).item()
    print(f"{what}: {error:.2g}", flush=True)
    return error <= TOLERANCE


def randomize(model):
    """Gives B, which begins at zero, something to say."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_B" in name:
                p.normal_(std=0.05)


def main():
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}")
    passed = []
    with tempfile.TemporaryDirectory() as folder:
        model = ggufmodel.build(MODEL)
        base = logits_of(model)
        passed.append(report("model without an adapter", logits_of_gemwire(folder), base))

        ours = os.path.join(folder, "ours")
        gemwire("train", DATA, "--model", MODEL, "--device", "cpu", "--steps", "10", "--rank", "4", "--rate", "5e-3", "-o", ours)
        loaded = PeftModel.from_pretrained(ggufmodel.build(MODEL), ours).eval()
        with_ours = logits_of(loaded)
        print(f"  it changes the logits by {((with_ours - base).norm() / base.norm()).item():.2g}")
        passed.append(report("adapter of gemwire in PEFT", with_ours, logits_of_gemwire(folder, "--lora", ours)))

        # Every linear by its whole name: layers that share keys and values have no use for theirs.
        targets = [n for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and n.split(".")[-1] in LINEARS]
        used = {t for t in targets if ".k_proj" not in t and ".v_proj" not in t or not is_shared(model, t)}
        theirs = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=sorted(used), task_type="CAUSAL_LM"))
        randomize(theirs)
        path = os.path.join(folder, "theirs")
        theirs.save_pretrained(path)
        want = logits_of(theirs.eval())
        print(f"  it changes the logits by {((want - base).norm() / base.norm()).item():.2g}")
        passed.append(report("adapter of PEFT in gemwire", logits_of_gemwire(folder, "--lora", path), want))
        file = os.path.join(folder, "theirs.gguf")
        gemwire("adapter", "convert", path, file)
        passed.append(report("the same as llama.cpp's file", logits_of_gemwire(folder, "--lora", file), want))
    sys.exit(0 if all(passed) else 1)


def is_shared(model, name):
    text = model.config.text_config
    layer = int(name.split(".layers.")[1].split(".")[0])
    return layer >= text.num_hidden_layers - text.num_kv_shared_layers


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "..", "bin", "gemwire"))
    main()
