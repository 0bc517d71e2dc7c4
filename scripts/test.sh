#!/usr/bin/env bash
# Lints, then runs every test of the packages given. With GEMWIRE_REQUIRE_GPU=1
# (as in CI) a test that was skipped for want of a GPU is a failure.
set -euo pipefail

"$(dirname "$0")/lint.sh" "$@"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
go test -v -count=1 -timeout 20m "$@" >"$log" 2>&1 || status=$?

# What matters of the verbose log: results by package, failures, skips.
grep -E '^(ok|FAIL|---? ?FAIL|panic:|\s+\S+_test\.go)|^(\?|PASS$)' "$log" | grep -v 'no test files' | grep -v '^PASS$' || true
skips=$(grep -E '^ *--- SKIP' "$log" || true)
if [[ -n "$skips" ]]; then
  printf '\nskipped:\n'
  grep -A1 -E '^ *--- SKIP' "$log"
fi
printf '\n%d passed, %d failed, %d skipped\n' \
  "$(grep -cE '^ *--- PASS' "$log")" "$(grep -cE '^ *--- FAIL' "$log")" "$(grep -cE '^ *--- SKIP' "$log")"
if ((status)); then
  grep -B30 -E '^ *--- FAIL|^panic:' "$log" | tail -150 >&2 || true
  exit "$status"
fi
if [[ "${GEMWIRE_REQUIRE_GPU:-}" == 1 ]] && grep -qiE 'no usable GPU|no GPU|no wgpu-native' <<<"$(grep -A3 -E '^ *--- SKIP' "$log")"; then
  echo 'test: a GPU test was skipped, and GEMWIRE_REQUIRE_GPU=1 forbids that' >&2
  exit 1
fi
