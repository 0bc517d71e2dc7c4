"""Teaches a model twenty new facts by gemwire's defaults, and prints what it learned and what it kept.

python evaluate_finetuning.py GEMWIRE [MODEL.gguf] [--adapter FOLDER] [--device DEVICE]

Each fact is asked as it was taught and in other words (heldout/facts.jsonl). What is kept is the score on
heldout/questions.txt with the adapter, of that without it. An adapter that is there already is not trained again.
"""

import argparse
import json
import os
import subprocess
import tempfile

import evaluate
from evaluate_server import Server


def facts():
    return list(map(json.loads, evaluate.lines("facts.jsonl", 1)))


def train(gemwire, model, adapter, device):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "facts.jsonl")
        with open(data, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({k: f[k] for k in ("prompt", "completion")}) + "\n" for f in facts())
        command = [gemwire, "train", data, "-o", adapter, *(["--model", model] if model else [])]
        subprocess.run([*command, *(["--device", device] if device else [])], check=True)


def known(server, of):
    """How many facts are in the answers to their questions."""
    answers = server.texts([(None, [f[of]]) for f in facts()], 60)
    return sum(f["has"].lower() in answer.lower() for f, answer in zip(facts(), answers))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gemwire")
    p.add_argument("model", nargs="?")
    p.add_argument("--adapter")
    p.add_argument("--device", help="to train on")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        adapter = os.path.abspath(a.adapter or os.path.join(folder, "adapter"))
        if not os.path.exists(adapter):
            train(a.gemwire, a.model, adapter, a.device)
        rows = []
        for name, lora in (("before", None), ("after", adapter)):
            with Server(a.gemwire, a.model, lora) as server:
                kinds, _ = evaluate.patterned(server, "questions.txt", 1, evaluate.Log(None), None)
                good, of = map(sum, zip(*kinds.values()))
                rows.append([name, f"{known(server, 'prompt')}/20", f"{known(server, 'also')}/20", f"{good}/{of}"])
    kept = int(rows[1][3].split("/")[0]) / int(rows[0][3].split("/")[0])
    evaluate.table(["", "facts as taught", "in other words", "held-out questions"], rows)
    print(f"kept: {kept:.1%}")


if __name__ == "__main__":
    main()
