#!/usr/bin/env python3
"""Makes conformance cases, and checks those that are there. README.md says how.

make.py check [--cases FOLDER] [NAME ...]           recompute the references and compare
make.py model [--out FOLDER] [--seed N] KIND ...    a model with random weights, and its references
make.py references --cases FOLDER NAME ...          the references of a NAME.gguf that is there
make.py built-in [--out FOLDER]                     what is kept of the built-in model's, gemma4/nano/nano.gguf
make.py lora [--cases FOLDER] [--out FOLDER] [NAME] an adapter on e2b.gguf, or on gemma3.gguf, trained
make.py media [--out FOLDER]                        images and clips
make.py tokenizer [--vocabulary FILE] FILE          the ids of a tokenizer.json's strings
make.py chat --e2b TEMPLATE --large TEMPLATE FILE   the prompts of a chat.json's conversations
"""

import argparse
import hashlib
import json
import os
import sys

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

import build
import gemma3
import gemma4
import lora
import media
from references import TOKENS, Reference

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance")
PROMPTS = [
    "<bos><|turn>user\nHi<turn|>\n<|turn>model\n",
    "<bos><|turn>system\nAnswer in capital letters.<turn|>\n<|turn>user\nTell me a story about Ada the cat, "
    "who lived near the river and counted the stars: 1, 2, 3, 4, 5, 6, 7 and so on until 97.<turn|>\n<|turn>model\n"
    "Once upon a time, a cat named Ada looked up and saw that the stars were gone, café and all 😺.<turn|>\n"
    "<|turn>user\nWhy?<turn|>\n<|turn>model\n",
]
GEMMA3_PROMPTS = [
    "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n",
    "<bos><start_of_turn>user\nAnswer in capital letters.\n\nTell me a story about Ada the cat, who counted the stars: "
    "1, 2, 3, 4 and so on until 97.<end_of_turn>\n<start_of_turn>model\nOnce upon a time, café and all 😺."
    "<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
]
ABOUT_IMAGE = "<bos><|turn>user\n<|image>%s<image|>What is in this picture?<turn|>\n<|turn>model\n"
ABOUT_CLIP = "<bos><|turn>user\n<|audio>%s<audio|>Transcribe this audio.<turn|>\n<|turn>model\n"
TOLERANCE = 1e-5  # of an array that transformers made on another machine: sums are in another order there
LARGEST_HALF = 65504
MARGIN = 0.02  # below which another token may come out


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False, indent=1)
        f.write("\n")


def save(path, arrays):
    save_file({n: np.ascontiguousarray(a.detach().numpy(), dtype=np.float32) for n, a in arrays.items()}, path)


def nano_tokenizer():
    return Tokenizer.from_file(os.path.join(CASES, "nano", "tokenizer.json"))


def model_case(folder, name, prompts=None, inputs=True):
    """The JSON and the arrays of a model case; `inputs` are pixels and mel frames."""
    path = os.path.join(folder, name + ".gguf")
    if name in gemma3.KINDS:
        model, file = gemma3.load(path)
        ids, prompts = gemma3.Tokens(file).encode, prompts or GEMMA3_PROMPTS
    else:
        model, file = gemma4.load(path)
        ids = lambda text: nano_tokenizer().encode(text, add_special_tokens=False).ids
    r = Reference(model, file, CASES)
    case, arrays = {"prompts": []}, {}
    for i, text in enumerate(prompts or PROMPTS):
        p = {"text": text, "ids": ids(text)}
        p["greedy"], p["margins"] = r.greedy(p["ids"], TOKENS)
        case["prompts"].append(p)
        arrays |= {f"{i}.{n}": a for n, a in r.prompt(p["ids"], hidden=i == 0).items()}
    hidden = {n: a for n, a in arrays.items() if ".hidden." in n}
    case["largest_activation"] = [round(a.abs().max().item(), 1) for a in hidden.values()]
    if max(case["largest_activation"]) > LARGEST_HALF:
        case["float32_error"] = max(r.float32_error(p["ids"]) for p in case["prompts"])
    case["types"] = sorted({t.name for t in file.types.values()})
    if getattr(model.model, "vision_tower", None) is not None:
        case["images"] = [image_case(r, ids, stem, arrays, inputs) for stem in media.IMAGES]
    if getattr(model.model, "audio_tower", None) is not None:
        case["clips"] = [clip_case(r, ids, stem, arrays, inputs) for stem in sorted(media.CLIPS)]
    return case, arrays


def image_case(r, ids, stem, arrays, inputs):
    budget = media.BUDGETS[stem]
    made, medium, patches = r.image(stem + ".png", budget)
    case = {"file": stem + ".png", "budget": budget, "soft_tokens": len(made["soft"]), "patches": patches}
    arrays[stem + ".soft"] = made["soft"]
    if stem == "wide":
        case["ids"] = ids(ABOUT_IMAGE % ("<|image|>" * len(made["soft"])))
        arrays[stem + ".logits"], case["greedy"], case["margins"] = r.with_medium(case["ids"], medium)
        if inputs:
            arrays[stem + ".pixels"] = made["pixels"]
    return case


def clip_case(r, ids, stem, arrays, inputs):
    made, medium, frames = r.clip(stem + ".wav")
    case = {"file": stem + ".wav", "frames": frames, "soft_tokens": len(made["soft"])}
    case["ids"] = ids(ABOUT_CLIP % ("<|audio|>" * len(made["soft"])))
    arrays[stem + ".soft"] = made["soft"]
    arrays[stem + ".logits"], case["greedy"], case["margins"] = r.with_medium(case["ids"], medium)
    if inputs:
        arrays[stem + ".mel"] = made["mel"]
    return case


BUILT_IN = os.path.join(CASES, "..", "..", "gemma4", "nano", "nano.gguf")
BUILT_IN_PROMPT = "<bos><|turn>user\nWhat is the capital of France, and what is 7 + 5?<turn|>\n<|turn>model\n"
# What is kept of its arrays, so that a case with a vocabulary of 8192 stays small: logits of the last position, of each
# position every 64th of the vocabulary, and every 7th number of soft tokens, which comes to each column in turn.
BUILT_IN_COLUMNS, BUILT_IN_SOFT = 64, 7


def built_in_case():
    """The JSON and the arrays of the built-in model's case: one prompt, one image, one clip."""
    model, file = gemma4.load(BUILT_IN)
    ids = gemma3.Tokens(file).encode
    r = Reference(model, file, CASES)
    with open(BUILT_IN, "rb") as f:
        case, arrays = {"model_sha256": hashlib.sha256(f.read()).hexdigest()}, {}
    prompt = {"text": BUILT_IN_PROMPT, "ids": ids(BUILT_IN_PROMPT)}
    prompt["greedy"], prompt["margins"] = r.greedy(prompt["ids"], TOKENS)
    case["prompts"] = [prompt]
    logits = r.forward(prompt["ids"]).logits[0]
    arrays["0.logits"], arrays["0.columns"] = logits[-1:], logits[:, ::BUILT_IN_COLUMNS]
    case["images"] = [image_case(r, ids, "wide", arrays, inputs=False)]
    case["clips"] = [clip_case(r, ids, "short", arrays, inputs=False)]
    for medium in case["images"] + case["clips"]:
        stem = os.path.splitext(medium["file"])[0]
        medium["soft_every"] = BUILT_IN_SOFT
        arrays[stem + ".soft"] = arrays[stem + ".soft"].flatten()[::BUILT_IN_SOFT]
        arrays[stem + ".logits"] = arrays[stem + ".logits"][-1:]
    return case, arrays


def make_built_in(args):
    os.makedirs(args.out, exist_ok=True)
    case, arrays = built_in_case()
    write_json(os.path.join(args.out, "built-in.json"), case)
    save(os.path.join(args.out, "built-in.safetensors"), arrays)
    print("built-in written:", len(arrays), "arrays")


def write_references(folder, name, inputs):
    case, arrays = model_case(folder, name, inputs=inputs)
    write_json(os.path.join(folder, name + ".json"), case)
    save(os.path.join(folder, name + ".safetensors"), arrays)
    print(name, "written:", len(arrays), "arrays")


class Report:
    """Prints each comparison, and remembers whether one failed."""

    def __init__(self):
        self.failed = False

    def take(self, case, what, error, allowed=0.0):
        good = error <= allowed
        self.failed |= not good
        print(f"{'ok  ' if good else 'FAIL'} {case}, {what}: {error:.2g}, {allowed:g} allowed", flush=True)

    def arrays(self, case, got, want):
        for name in sorted(want):
            if name not in got:
                self.take(case, name + " is not made", 1.0)
                continue
            made = np.asarray(got[name].detach(), np.float64)
            stored = want[name].astype(np.float64)
            if made.shape != stored.shape:
                self.take(case, f"{name} has shape {made.shape}, stored is {stored.shape}", 1.0)
                continue
            self.take(case, name, float(np.linalg.norm(made - stored) / max(np.linalg.norm(stored), 1e-30)), TOLERANCE)

    def tokens(self, case, what, got, want):
        """Tokens up to the first one of which the reference is not sure."""
        wrong = 0
        for a, b, margin in zip(got["greedy"], want["greedy"], want["margins"]):
            if a != b:
                wrong = int(margin >= MARGIN)
                break
        self.take(case, what + ": greedy tokens", wrong + abs(len(got["greedy"]) - len(want["greedy"])))


def check_model(report, folder, name):
    want, path = read_json(os.path.join(folder, name + ".json")), os.path.join(folder, name + ".safetensors")
    if name == "built-in":
        case, arrays = built_in_case()
        report.take(name, "made of another file", int(case["model_sha256"] != want["model_sha256"]))
    else:
        case, arrays = model_case(folder, name, [p["text"] for p in want["prompts"]])
    report.arrays(name, arrays, load_file(path))
    for i, (g, w) in enumerate(zip(case["prompts"], want["prompts"])):
        report.take(name, f"prompt {i}: ids", int(g["ids"] != w["ids"]))
        report.tokens(name, f"prompt {i}", g, w)
    for g, w in zip(case.get("images", []) + case.get("clips", []), want.get("images", []) + want.get("clips", [])):
        same = all(g[k] == w[k] for k in ("file", "soft_tokens", "budget", "patches", "frames", "ids") if k in w)
        report.take(name, w["file"] + ": counts and ids", int(not same))
        if "greedy" in w:
            report.tokens(name, w["file"], g, w)


# The models that adapters of these names are on.
LORAS = {"lora": "e2b", "gemma3-lora": "gemma3"}


def load_model(folder, name):
    return (gemma3 if name in gemma3.KINDS else gemma4).load(os.path.join(folder, name + ".gguf"))


def check_lora(report, folder, case_name):
    want = load_file(os.path.join(folder, case_name + ".safetensors"))
    case = read_json(os.path.join(folder, case_name + ".json"))
    model, _ = load_model(folder, LORAS[case_name])
    pairs = {n.removeprefix("adapter."): torch.from_numpy(a) for n, a in want.items() if n.startswith("adapter.")}
    arrays, made = lora.references(model, case, pairs)
    trained = {n for n in want if n.startswith("trained.")}
    report.arrays(case_name, arrays, {n: a for n, a in want.items() if n not in trained})
    # Where a gradient is near zero, AdamW makes the order of sums a step's direction.
    for name in sorted(trained):
        e = np.linalg.norm(arrays[name].numpy() - want[name]) / np.linalg.norm(want[name])
        report.take(case_name, name, float(e), 1e-3)
    report.take(case_name, "loss", abs(made["loss"] / case["loss"] - 1), TOLERANCE)
    for key in ("losses", "grad_norms"):
        report.take(
            case_name, key, float(np.max(np.abs(np.array(made["run"][key]) / np.array(case["run"][key]) - 1))), 1e-4
        )


def check_tokenizer(report, folder, vocabulary):
    for name, tokenizer in tokenizers(vocabulary).items():
        for i, c in enumerate(read_json(os.path.join(folder, "tokenizer.json"))[name]):
            same = encoded(tokenizer, c["text"]) == c
            report.take("tokenizer", f"{name}, string {i}", int(not same))


def tokenizers(vocabulary):
    found = {"nano": nano_tokenizer()}
    if vocabulary:
        found["gemma262144"] = Tokenizer.from_file(vocabulary)
    return found


def encoded(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return {"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}


def check(args):
    report, folder = Report(), args.cases
    models = sorted(
        f[:-5]
        for f in os.listdir(folder)
        if f.endswith(".gguf") and os.path.exists(os.path.join(folder, f[:-5] + ".json"))
    )
    names = args.names or models + ["built-in", *LORAS, "media", "tokenizer"]
    for name in names:
        if name in LORAS:
            check_lora(report, folder, name)
        elif name == "tokenizer":
            check_tokenizer(report, folder, args.vocabulary)
        elif name == "media":
            for what, error in media.differences(folder):
                report.take("media", what, error)
        else:
            check_model(report, folder, name)
    return report.failed


def make_models(args):
    os.makedirs(args.out, exist_ok=True)
    for name in args.names:
        of = gemma3 if name in gemma3.KINDS else build
        of.write(os.path.join(args.out, name + ".gguf"), name, args.seed)
        write_references(args.out, name, inputs=name == "e2b")


def make_lora(args):
    for name in args.names or ["lora"]:
        make_one_lora(args, name)


def make_one_lora(args, name):
    model, file = load_model(args.cases, LORAS[name])
    ids, texts, prompt = lambda text: nano_tokenizer().encode(text, add_special_tokens=False).ids, lora.TEXTS, PROMPTS[0]
    if LORAS[name] in gemma3.KINDS:
        ids, prompt = gemma3.Tokens(file).encode, GEMMA3_PROMPTS[0]
        texts = [tuple(gemma3.turns(part) for part in pair) for pair in texts]
    case = {
        "examples": [{"ids": ids(prompt + answer), "first_target": len(ids(prompt))} for prompt, answer in texts],
        "r": lora.RANK,
        "alpha": lora.ALPHA,
        "prompt_ids": ids(prompt),
    }
    arrays, made = lora.references(model, case, lora.adapter(model, args.seed))
    run = (
        "AdamW, lr 5e-3 constant, betas 0.9 0.999, eps 1e-8, weight decay 0.01, gradient norm clipped to 1; "
        "A as in adapter.*, B = 0"
    )
    case |= {"loss": made["loss"], "targets": made["targets"], "run": {"optimizer": run} | made["run"]}
    os.makedirs(args.out, exist_ok=True)
    write_json(os.path.join(args.out, name + ".json"), case)
    save(os.path.join(args.out, name + ".safetensors"), arrays)


def make_tokenizer(args):
    cases = read_json(args.file)
    for name, tokenizer in tokenizers(args.vocabulary).items():
        cases[name] = [encoded(tokenizer, c["text"]) for c in cases[name]]
    write_json(args.file, cases)


def make_chat(args):
    import chat

    cases, changed = read_json(args.file), 0
    for c in cases:
        for key, template in (("e2b", args.e2b), ("31b", args.large)):
            text = chat.render(template, c["messages"], c.get("options", {}))
            changed += text != c.get(key)
            c[key] = text
    print(changed, "prompts are other ones")
    if args.write:
        write_json(args.file, cases)
    return changed > 0 and not args.write


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name, run, *options):
        p = commands.add_parser(name)
        p.set_defaults(run=run)
        for flags, settings in options:
            p.add_argument(*flags, **settings)

    cases, out = (["--cases"], {"default": CASES}), (["--out"], {"default": "cases"})
    seed, names = (["--seed"], {"type": int, "default": 1}), (["names"], {"nargs": "*"})
    vocabulary = (["--vocabulary"], {"help": "the real tokenizer.json; without it, only the built-in model's strings"})
    template, file = {"required": True, "metavar": "TEMPLATE"}, (["file"], {"metavar": "FILE"})
    command("check", check, cases, names, vocabulary)
    command(
        "model", make_models, out, seed, (["names"], {"nargs": "+", "choices": [*build.KINDS, *gemma3.KINDS], "metavar": "KIND"})
    )
    command("references", lambda a: [write_references(a.cases, n, True) for n in a.names] and None, cases, names)
    command("built-in", make_built_in, (["--out"], {"default": CASES}))
    command("lora", make_lora, cases, out, seed, names)
    command("media", lambda a: (os.makedirs(a.out, exist_ok=True), media.write(a.out)) and None, out)
    command("tokenizer", make_tokenizer, vocabulary, file)
    command(
        "chat", make_chat, (["--e2b"], template), (["--large"], template), (["--write"], {"action": "store_true"}), file
    )
    args = parser.parse_args()
    sys.exit(1 if args.run(args) is True else 0)


if __name__ == "__main__":
    main()
