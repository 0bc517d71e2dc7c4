#!/usr/bin/env bash
# Runs examples/batch/parallel.sh with two shards. One of them is killed in the middle, GNU parallel starts it again,
# and in the end each request has one answer.
#
#   scripts/test-parallel.sh
#
# Without GNU parallel it is skipped; with GEMWIRE_REQUIRE_SLURM=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! command -v parallel >/dev/null && ! scripts/setup.sh slurm; then
  skip GEMWIRE_REQUIRE_SLURM 'GNU parallel, beside Slurm, because of what is missing above'
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
go build -o "$dir/gemwire" ./tools/cmd/gemwire
# In front of gemwire: the first time that the second shard is asked for, it is killed after some answers.
cat >"$dir/bin/gemwire" <<END
#!/usr/bin/env bash
if [[ "\$*" == *'--shard 1/2'* ]] && mkdir "$dir/killed" 2>/dev/null; then
  "$dir/gemwire" "\$@" &
  until ((\$(wc -l 2>/dev/null <"$dir/answers.jsonl.1") > 50)); do sleep 0.05; done 2>/dev/null
  kill -9 \$!
  wc -l <"$dir/answers.jsonl.1" >"$dir/before"
  exit 137
fi
exec "$dir/gemwire" "\$@"
END
chmod +x "$dir/bin/gemwire"

requests=2000
for ((i = 0; i < requests; i++)); do
  echo '{"custom_id":"q'$i'","method":"POST","url":"/v1/chat/completions","body":{"temperature":0,"messages":[{"role":"user","content":"What is the capital of France?"}]}}'
done >"$dir/requests.jsonl"
PATH=$dir/bin:$PATH GEMWIRE_ARGS='--device cpu --parallel 2' \
  examples/batch/parallel.sh "$dir/requests.jsonl" "$dir/answers.jsonl" nano >"$dir/log" 2>&1 || {
  cat "$dir/log"
  exit 1
}
fail() {
  echo "test-parallel: $1" >&2
  cat "$dir/log" >&2
  exit 1
}
before=$(cat "$dir/before")
((before < requests / 2)) || fail 'the shard was killed when it had ended'
grep "had been answered before" "$dir/log" >/dev/null || fail 'the shard did not continue'
for name in requests answers; do grep -o '"custom_id":"[^"]*"' "$dir/$name.jsonl" >"$dir/$name"; done
cmp "$dir/requests" "$dir/answers" || fail 'requests and answers differ'
(($(grep -c Paris "$dir/answers.jsonl") == requests)) || fail 'some answers are wrong'
echo "ok   a shard was killed after $before answers and started again, and each request has one answer"
