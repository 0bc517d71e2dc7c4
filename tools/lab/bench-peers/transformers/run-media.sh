#!/usr/bin/env bash
# Measures images and clips with gemwire and with transformers, one after the other on one GPU, and prints the ratios.
#
#   run-media.sh GEMWIRE [MODEL.gguf]
#
# GEMWIRE is the built command. Without a MODEL, towers of the E2B sizes with random weights are written first, by the
# command lab beside it. Writes media-gemwire.json and media-transformers.json to $OUT, or to the current folder.
#
#   MEDIA_SOFT_TOKENS  of the image        (280)
#   MEDIA_SECONDS      of the clip         (30)
#   MEDIA_REPEATS      measured runs       (10)
set -euo pipefail

soft=${MEDIA_SOFT_TOKENS:-280}
seconds=${MEDIA_SECONDS:-30}
repeats=${MEDIA_REPEATS:-10}
out=${OUT:-.}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: run-media.sh GEMWIRE [MODEL.gguf]" >&2
	exit 1
fi
gemwire=$1
model=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "$model" ]; then
	model=$(mktemp -d)/towers.gguf
	"$(dirname "$gemwire")/lab" synth --shape e2b --layers 5 --vocab 2048 --towers -o "$model" >/dev/null
fi

"$gemwire" bench media "$model" --image-budget "$soft" --seconds "$seconds" --repeats "$repeats" --json >"$out/media-gemwire.json"
"$gemwire" bench media "$model" --image-budget "$soft" --seconds "$seconds" --repeats 1 --profile || true # where there are no timestamps
python3 "$here/media.py" --soft-tokens "$soft" --seconds "$seconds" --repeats "$repeats" --json "$out/media-transformers.json"
python3 - "$out" <<'PYTHON'
import json
import sys

ours, theirs = (json.load(open(f"{sys.argv[1]}/media-{name}.json")) for name in ("gemwire", "transformers"))
print(f"\n{ours['device']}; transformers on {theirs['device']}\n")
print(f"{'':22}{'image, ms':>12}{'audio, ms':>12}")
print(f"{'gemwire':22}" + "".join(f"{ours[what]['milliseconds']['median']:12.2f}" for what in ("image", "audio")))
for dtype, run in theirs["runs"].items():
    for where in ("host", "device"):
        times = [run[what][where]["median"] for what in ("image", "audio")]
        ratios = [t / ours[what]["milliseconds"]["median"] for t, what in zip(times, ("image", "audio"))]
        print(f"{dtype + ', ' + where:22}" + "".join(f"{t:12.2f}" for t in times) + f"   gemwire is {ratios[0]:.2f} and {ratios[1]:.2f} times as fast")
PYTHON
