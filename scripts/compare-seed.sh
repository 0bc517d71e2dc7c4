#!/usr/bin/env bash
# Compares decoding with the seed, crates.io's rullama 0.5 (Rust, wgpu), on the small model and this machine's GPU:
# both in alternation, in one run, from the same file.
#
#   scripts/compare-seed.sh
#
# The seed's own example, chained_smoke, is downloaded and built by cargo (once: about four minutes on one core). It
# answers SEED_PROMPT, whose story is long enough to be timed, and prints its tokens a second. gemwire's benchmark is
# then asked for as many prompt and decoded tokens. Printed are both medians with the least and the most, and the ratio.
#
#   REPEATS        runs of each                                          (7)
#   MODEL          the GGUF both read                                    (gemma4/nano/nano.gguf)
#   GEMWIRE        the program                                           (bin/gemwire; `make build` builds it)
#   SEED_VERSION   the crate's version                                   (0.5.0)
#   SEED_DIR       where cargo installs the example                      (~/.cache/gemwire/seed-VERSION)
#   SEED_PROMPT    what the seed is asked
#   SEED_TOKENS    tokens it may decode at most                          (128)
#   AT_LEAST       exit with 1 if gemwire is not this many times as fast (0: only report)
#   JSON           also write the figures to this file
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
repeats=${REPEATS:-7}
model=${MODEL:-$repo/gemma4/nano/nano.gguf}
gemwire=${GEMWIRE:-$repo/bin/gemwire}
version=${SEED_VERSION:-0.5.0}
seed_dir=${SEED_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/seed-$version}
prompt=${SEED_PROMPT:-Tell me a short story about a brave cat named Ada.}
most_tokens=${SEED_TOKENS:-128}
at_least=${AT_LEAST:-0}
seed=$seed_dir/bin/chained_smoke

say() { printf 'compare-seed: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

check() {
  command -v python3 >/dev/null || die "python3 is missing: it reads the figures"
  [[ $repeats =~ ^[1-9][0-9]*$ ]] || die "REPEATS=$repeats: expected a whole number of at least 1"
  [[ -f $model ]] || die "$model: no such file; set MODEL"
  [[ -x $gemwire ]] || die "$gemwire is missing: run 'make build', or set GEMWIRE"
}

build_seed() {
  if [[ -x $seed ]]; then return; fi
  command -v cargo >/dev/null || die "cargo is missing: install Rust 1.91 or newer from https://rustup.rs"
  say "building rullama $version's example chained_smoke in $seed_dir"
  cargo install rullama --version "=$version" --locked --features cpu-reference --example chained_smoke --root "$seed_dir" \
    || die "cargo could not build the seed"
}

# seed_run prints "prompt tokens, decoded tokens, ms a token" of one run of the seed.
seed_run() {
  local log
  log=$("$seed" "$model" "$prompt" "--max=$most_tokens" 2>&1) || { printf '%s\n' "$log" >&2; die "the seed failed"; }
  awk '
    /^prompt has [0-9]+ tokens/ { prompt = $3 }
    /^generated [0-9]+ tokens in / { decoded = $2; rate = $(NF - 1) }
    END { if (rate > 0) printf "%d %d %.6f\n", prompt, decoded, 1000 / rate; else exit 1 }
  ' <<<"$log" || { printf '%s\n' "$log" >&2; die "the seed printed no rate: its answer may be empty; set SEED_PROMPT"; }
}

# own_run PROMPT DECODED prints "ms a token, device" of one run of gemwire.
own_run() {
  local json
  json=$("$gemwire" bench "$model" --json --device gpu --repeats 1 --prompt-tokens "$1" --decode-tokens "$2") \
    || die "gemwire's benchmark failed"
  python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["decode"]["ms_per_token"]["median"], r["device"])' <<<"$json" || die "gemwire printed no figures"
}

report() {
  python3 - "$1" "$at_least" "${JSON:-}" <<'PYTHON'
import json, statistics, sys

runs = json.load(open(sys.argv[1]))
at_least, target = float(sys.argv[2]), sys.argv[3]

def series(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": values}

result = {
    "device": runs["device"], "prompt_tokens": runs["prompt_tokens"], "decode_tokens": runs["decode_tokens"],
    "seed_ms_per_token": series(runs["seed"]), "gemwire_ms_per_token": series(runs["gemwire"]),
}
ratio = result["seed_ms_per_token"]["median"] / result["gemwire_ms_per_token"]["median"]
pairs = [s / g for s, g in zip(runs["seed"], runs["gemwire"])]
result["ratio"] = ratio
result["ratio_of_neighbours"] = series(pairs)

print(f"{runs['device']}: {runs['prompt_tokens']} prompt tokens, {runs['decode_tokens']} decoded, {len(pairs)} runs of each")
for name in ("seed", "gemwire"):
    s = result[f"{name}_ms_per_token"]
    spread = (s["max"] - s["min"]) / s["median"]
    print(f"  {name:8} {s['median']:8.3f} ms a token  {1000 / s['median']:8.1f} tokens/s   "
          f"{s['min']:.3f} to {s['max']:.3f} ms, spread {spread:.0%}")
print(f"  gemwire is {ratio:.2f} times as fast (neighbouring runs: {min(pairs):.2f} to {max(pairs):.2f})")
if target:
    with open(target, "w") as out:
        json.dump(result, out, indent=2)
        out.write("\n")
if ratio < at_least:
    sys.exit(f"compare-seed: expected at least {at_least:g} times")
PYTHON
}

main() {
  check
  build_seed
  local -a seed_ms=() own_ms=()
  local prompt_tokens decoded ms device run line
  for ((run = 1; run <= repeats; run++)); do
    say "run $run of $repeats"
    line=$(seed_run)
    read -r prompt_tokens decoded ms <<<"$line"
    seed_ms+=("$ms")
    line=$(own_run "$prompt_tokens" "$decoded")
    read -r ms device <<<"$line"
    own_ms+=("$ms")
  done
  figures=$(mktemp)
  trap 'rm -f "$figures"' EXIT
  local IFS=,
  printf '{"device": "%s", "prompt_tokens": %d, "decode_tokens": %d, "seed": [%s], "gemwire": [%s]}\n' \
    "${device//\"/}" "$prompt_tokens" "$decoded" "${seed_ms[*]}" "${own_ms[*]}" >"$figures"
  report "$figures"
}

main "$@"
