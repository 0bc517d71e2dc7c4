#!/usr/bin/env bash
# Runs the official clients of Ollama's, OpenAI's and Anthropic's APIs against `gemwire serve` with the built-in model and
# one for embeddings on the CPU: all of tools/server/clients, and its programs compiled as their clients are typed.
#
#   scripts/test-clients.sh         all of it
#   scripts/test-clients.sh smoke   one answer of each client
#
# What a machine cannot run is skipped, and said. With GEMWIRE_REQUIRE_BROWSER=1 (as in CI) that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! scripts/setup.sh clients; then
  skip GEMWIRE_REQUIRE_BROWSER 'tests by the clients of the APIs, for what is missing above'
fi
clients=$PWD/tools/server/clients
packages=${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/clients-python
folder=$(mktemp -d)
stop() {
  [[ -z "${server:-}" ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT

go build -o "$folder/gemwire" ./tools/cmd/gemwire
GEMWIRE_MODELS=$folder/models OLLAMA_MODELS=$folder/none "$folder/gemwire" serve nano \
  testdata/conformance/embedding.gguf --device cpu --addr 127.0.0.1:0 \
  --ollama-addr off --app "$clients" >"$folder/address" 2>"$folder/log" &
server=$!
for _ in $(seq 100); do
  [[ -s "$folder/address" ]] && break
  kill -0 "$server" || { cat "$folder/log" >&2; exit 1; }
  sleep 0.1
done
GEMWIRE_SERVER=$(head -n 1 "$folder/address")
export GEMWIRE_SERVER

passed=0
run() {
  "$@" >"$folder/out" 2>&1 || { cat "$folder/out" "$folder/log" >&2; exit 1; }
  passed=$((passed + $(sed -n 's/^Ran \([0-9]*\) tests* in.*/\1/p; s/^# pass \([0-9]*\)$/\1/p' "$folder/out")))
}

for test in openai ollama anthropic langchain metrics; do
  (cd "$clients/python" && run env PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1 python3 -W ignore -m unittest -v \
    "test_$test${1:+.Smoke}" && echo "$passed" >"$folder/count")
  passed=$(cat "$folder/count")
done
if [[ "${1:-}" == smoke ]]; then
  run node --test --test-name-pattern=smoke --test-reporter=tap "$clients"/node/*.test.mjs
else
  run node --test --test-reporter=tap "$clients"/node/*.test.mjs
  npm run check --silent --prefix "$clients/node"
fi
echo "$passed passed, 0 failed, 0 skipped"
