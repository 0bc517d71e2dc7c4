#!/usr/bin/env bash
# Runs examples/beam on Beam's own runner for one machine, Prism: each request has one answer, a mistake in a request has
# its own, and a pipeline whose gemwire fails says why.
#
#   scripts/test-beam.sh
#
# Beam's modules are fetched as Go fetches modules. Where that cannot be, it is skipped; with GEMWIRE_REQUIRE_BEAM=1 that
# is a failure. The example is a module outside the workspace, so that no other depends on Beam.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

export GOWORK=off GOFLAGS=-mod=readonly
if ! GOTOOLCHAIN=auto go -C examples/beam mod download; then
  skip GEMWIRE_REQUIRE_BEAM 'Apache Beam, whose modules cannot be fetched'
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go -C examples/beam vet .
go -C examples/beam build -o "$dir/beam" .
GOWORK= GOFLAGS= go build -o "$dir/gemwire" ./tools/cmd/gemwire

requests=300
for ((i = 0; i < requests; i++)); do
  echo '{"custom_id":"q'$i'","method":"POST","url":"/v1/chat/completions","body":{"temperature":0,"messages":[{"role":"user","content":"What is the capital of France?"}]}}'
  if ((i == 7)); then printf '{\n\n'; fi # a mistake, and an empty line
done >"$dir/requests.jsonl"
beam() {
  timeout 600 "$dir/beam" --requests "$dir/requests.jsonl" --answers "$dir/answers.jsonl" --gemwire "$dir/gemwire" \
    --device cpu "$@" >"$dir/log" 2>&1
}
fail() {
  echo "test-beam: $1" >&2
  tail -n 20 "$dir/log" >&2
  exit 1
}
beam --model nano || fail 'the pipeline failed'
(($(wc -l <"$dir/answers.jsonl") == requests + 1)) || fail 'the answers are not as many as the requests'
(($(grep -o '"custom_id":"q[0-9]*"' "$dir/answers.jsonl" | sort -u | wc -l) == requests)) || fail 'some requests have no answer'
(($(grep -c Paris "$dir/answers.jsonl") == requests)) || fail 'some answers are wrong'
(($(grep -c invalid_json_line "$dir/answers.jsonl") == 1)) || fail 'the mistake has no answer of its own'
echo "ok   $requests requests and a mistake have one answer each"

rm "$dir/answers.jsonl"
! beam --model nobody || fail 'a pipeline without its model succeeded'
grep -q 'no such model: nobody' "$dir/log" || fail 'it is not said why the pipeline failed'
[[ ! -s "$dir/answers.jsonl" ]] || fail 'a pipeline that failed has answers'
echo 'ok   a pipeline without its model fails, and says so'
