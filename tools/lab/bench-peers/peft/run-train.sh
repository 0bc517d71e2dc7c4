#!/usr/bin/env bash
# Measures LoRA steps with gemwire and with PEFT, one after the other on one GPU, and prints the ratios.
#
#   run-train.sh LAB [MODEL.gguf]
#
# LAB is the built command lab. Without a MODEL, one of the E2B sizes with random weights is written first. Writes
# train-gemwire.json and train-peft.json to $OUT, or to the current folder.
#
#   TRAIN_TOKENS   of a step, each a target            (512)
#   TRAIN_RANK     of the pairs, on all linears        (16)
#   TRAIN_REPEATS  measured steps                      (10)
#   TRAIN_FLAGS    more for `lab bench train`          (none: its defaults)
set -euo pipefail

tokens=${TRAIN_TOKENS:-512}
rank=${TRAIN_RANK:-16}
repeats=${TRAIN_REPEATS:-10}
read -ra flags <<<"${TRAIN_FLAGS:-}"
out=${OUT:-.}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: run-train.sh LAB [MODEL.gguf]" >&2
	exit 1
fi
lab=$1
model=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "$model" ]; then
	model=$(mktemp -d)/e2b.gguf
	"$lab" synth --shape e2b -o "$model" >/dev/null
fi

"$lab" bench train "$model" --device gpu ${flags[@]+"${flags[@]}"} --tokens "$tokens" --rank "$rank" --repeats "$repeats" --json >"$out/train-gemwire.json"
python3 "$here/train.py" --tokens "$tokens" --rank "$rank" --repeats "$repeats" --json "$out/train-peft.json"
python3 - "$out" <<'PYTHON'
import json
import sys

ours, theirs = (json.load(open(f"{sys.argv[1]}/train-{name}.json")) for name in ("gemwire", "peft"))
step = ours["train"]
print(f"\n{ours['device']}\n")
print(f"{'':10}{'step, ms':>10}{'GPU, GB':>10}")
print(f"{'gemwire':10}{step['milliseconds']['median']:10.1f}{step['gpu_bytes'] / 1e9:10.2f}")
print(f"{'PEFT':10}{theirs['milliseconds']['median']:10.1f}{theirs['bytes'] / 1e9:10.2f}")
print(f"{'ratio':10}{step['milliseconds']['median'] / theirs['milliseconds']['median']:10.2f}{step['gpu_bytes'] / theirs['bytes']:10.2f}")
PYTHON
