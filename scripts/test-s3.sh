#!/usr/bin/env bash
# Tests `gemwire batch` with requests and answers in S3: on a real S3 server, versitygw, which keeps objects in a folder.
# A batch is killed at random moments, and in the end each request has one answer.
#
#   scripts/test-s3.sh
#
# Without the server, which scripts/setup.sh s3 builds, it is skipped; with GEMWIRE_REQUIRE_S3=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! server=$(scripts/setup.sh s3); then
  skip GEMWIRE_REQUIRE_S3 'the S3 server, because of what is missing above'
fi
dir=$(mktemp -d)
pid=
end() {
  [[ -z "$pid" ]] || kill "$pid" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 143' INT TERM

mkdir -p "$dir"/{objects/tests,about}
# Another process may take a port between its choice and its use.
for _ in {1..10}; do
  port=$((20000 + RANDOM % 10000))
  ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=secretsecret "$server" --quiet --port "127.0.0.1:$port" \
    posix --sidecar "$dir/about" "$dir/objects" >"$dir/log" 2>&1 &
  pid=$!
  for _ in {1..100}; do
    kill -0 "$pid" 2>/dev/null || break
    curl -s -o "$dir/reply" "http://127.0.0.1:$port/" && kill -0 "$pid" 2>/dev/null && break 2
    sleep 0.1
  done
  kill "$pid" 2>/dev/null || true
  pid=
done
[[ -n "$pid" ]] || {
  cat "$dir/log" >&2
  exit 1
}
unset "${!AWS_@}" || true
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=secretsecret GEMWIRE_TEST_S3=tests
go test -count=1 -v -run 'Grown|Torn|Real|S3' ./tools/internal/s3 ./tools/internal/command
