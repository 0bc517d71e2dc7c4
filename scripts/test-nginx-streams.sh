#!/usr/bin/env bash
# Runs a real nginx with examples/serve/nginx.conf in front of three real servers: requests with the same beginning
# reach the same one, streams come in pieces, and when a server is killed only its requests move.
#
#   scripts/test-nginx-streams.sh
#
# With GEMWIRE_REQUIRE_NGINX=1 (as in CI) a machine without nginx fails.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! scripts/setup.sh nginx; then
  skip GEMWIRE_REQUIRE_NGINX 'nginx tests, because of what is missing above'
fi
export PATH=$PATH:/usr/sbin
dir=$(mktemp -d)
pids=()
end() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 143' INT TERM
fail() {
  echo "test-nginx-streams: $1" >&2
  tail -n 10 "$dir"/*.log >&2
  exit 1
}

mkdir "$dir/tmp"
go build -o "$dir/gemwire" ./tools/cmd/gemwire
# Four free ports, for nginx and the three servers.
read -r -a ports < <(python3 -c '
import socket
held = [socket.socket() for _ in range(4)]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))')
sed "s/8080/${ports[0]}/; s/8081/${ports[1]}/; s/8082/${ports[2]}/; s/8083/${ports[3]}/" \
  examples/serve/nginx.conf >"$dir/nginx.conf"
for i in 1 2 3; do
  "$dir/gemwire" serve nano --device cpu --addr "127.0.0.1:${ports[i]}" --ollama-addr off >"$dir/server$i.out" 2>"$dir/server$i.log" &
  pids+=($!)
done
nginx -p "$dir" -c nginx.conf -g 'daemon off;' >"$dir/access.txt" 2>"$dir/nginx.log" &
pids+=($!)
web=http://127.0.0.1:${ports[0]}
# nginx last: it would take a server that does not answer yet for a dead one.
for i in 1 2 3 0; do
  curl -s --retry 300 --retry-delay 1 --retry-connrefused -o "$dir/health" "http://127.0.0.1:${ports[i]}/health" ||
    fail "nothing answers on port ${ports[i]}"
done

# ask HEADER asks through nginx; the answer must be the right one. It prints the port of the server that answered.
ask() {
  local got before
  before=$(wc -l <"$dir/access.txt")
  got=$(curl -sS -H "$1" "$web/v1/chat/completions" \
    -d '{"model":"nano","temperature":0,"messages":[{"role":"user","content":"What is the capital of France?"}]}')
  [[ "$got" == *Paris* ]] || fail "asked with $1: $got"
  # nginx writes the line after the answer.
  until (($(wc -l <"$dir/access.txt") > before)); do sleep 0.01; done
  tail -n 1 "$dir/access.txt" | sed -E 's/^200 (.*, )?127\.0\.0\.1:([0-9]+) .*/\2/'
}

declare -A at
for i in {1..30}; do at[$i]=$(ask "X-Prefix: prompt $i"); done
(($(printf '%s\n' "${at[@]}" | sort -u | wc -l) == 3)) || fail "30 beginnings use these servers: ${at[*]}"
for i in {1..30}; do
  [[ "$(ask "X-Prefix: prompt $i")" == "${at[$i]}" ]] || fail "prompt $i was moved to another server"
done
echo 'ok   30 beginnings are spread over three servers, and each stays with its own'

for header in 'Authorization: Bearer' 'X-Api-Key:'; do
  used=
  for i in {1..30}; do
    first=$(ask "$header key-$i")
    [[ "$(ask "$header key-$i")" == "$first" ]] || fail "$header key-$i was moved"
    used+="$first"$'\n'
  done
  (($(sort -u <<<"${used%$'\n'}" | wc -l) == 3)) || fail "30 keys in $header use these servers: $used"
done
first=$(ask 'X-Nothing: 1')
[[ "$(ask 'X-Nothing: 2')" == "$first" ]] || fail 'one address was moved'
echo 'ok   without a beginning the key decides, and without a key the address'

curl -sSN "$web/v1/chat/completions" -d '{"model":"nano","temperature":0,"stream":true,
  "messages":[{"role":"user","content":"What is the capital of France?"}]}' >"$dir/stream"
(($(grep -c '^data: {' "$dir/stream") > 3)) && grep -qx 'data: \[DONE\]' "$dir/stream" || fail "$(cat "$dir/stream")"
echo 'ok   a stream comes through'

kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null || true
moved=0
for i in {1..30}; do
  now=$(ask "X-Prefix: prompt $i")
  if [[ "${at[$i]}" == "${ports[2]}" ]]; then
    [[ "$now" != "${ports[2]}" ]] || fail "prompt $i was answered by a server that is dead"
    moved=$((moved + 1))
  elif [[ "$now" != "${at[$i]}" ]]; then
    fail "prompt $i was moved, though its server runs"
  fi
done
((moved > 0)) || fail 'the dead server had no beginnings'
echo "ok   a server was killed: its $moved beginnings were answered by the others, and the rest did not move"
