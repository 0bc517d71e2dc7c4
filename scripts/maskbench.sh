#!/usr/bin/env bash
# Holds JSON schemas to MaskBench and to the JSON Schema Test Suite, and prints the tables. What is not given is cloned
# into ~/.cache/gemwire once.
#
#   DIR=…        the folder maskbench/data of github.com/guidance-ai/jsonschemabench
#   SUITE=…      a copy of github.com/json-schema-org/JSON-Schema-Test-Suite
#   TOKENIZER=…  the tokenizer.json of a Gemma, whose pieces the masks are timed with; without it tokens are bytes
#   scripts/maskbench.sh [OPTIONS OF lab maskbench], such as --every 40 --wasm for a sample, natively and in WebAssembly
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/gemwire

# clone NAME: fetches a repository of GitHub unless it is there, and prints where it is.
clone() {
  local to=$cache/${1##*/}
  if [[ ! -d $to ]]; then
    mkdir -p "$cache"
    git clone --quiet --depth 1 "https://github.com/$1" "$to.part" >&2
    mv "$to.part" "$to"
  fi
  printf '%s\n' "$to"
}

dir=${DIR:-}
if [[ -z $dir ]]; then dir=$(clone guidance-ai/jsonschemabench)/maskbench/data; fi
suite=${SUITE:-}
if [[ -z $suite ]]; then suite=$(clone json-schema-org/JSON-Schema-Test-Suite); fi
tokenizer=${TOKENIZER:-$cache/gemma3-tokenizer.json}
options=()
if [[ -f $tokenizer ]]; then options=(--tokenizer "$tokenizer"); fi

for draft in 2020-12 7; do
  printf 'JSON Schema Test Suite, draft %s\n' "$draft"
  named=()
  if [[ $draft == 7 ]]; then named=(--draft 'http://json-schema.org/draft-07/schema#'); fi
  ./bin/lab maskbench --suite "$suite/tests/draft$draft" ${named[@]+"${named[@]}"}
done
printf 'MaskBench\n'
./bin/lab maskbench "$dir" ${options[@]+"${options[@]}"} "$@"
