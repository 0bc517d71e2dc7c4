#!/usr/bin/env bash
# Runs the kit's tests on Dawn, natively, on the software rasterizer that comes with
# Chromium, where scripts/setup.sh has a Dawn for this machine. With
# GEMWIRE_REQUIRE_BROWSER=1 (as in CI) it is a failure if they cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ "$(uname -s) $(uname -m)" != 'Linux x86_64' && -z "${GEMWIRE_TEST_DAWN:-}" ]]; then
  echo '0 passed, for there is no Dawn to fetch for this machine; GEMWIRE_TEST_DAWN names one'
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
GEMWIRE_TEST_ALL=1 GEMWIRE_REQUIRE_DAWN="${GEMWIRE_REQUIRE_BROWSER:-}" go test -count=1 -v -run '^TestDawn$' ./wgslkit ./wgslkit/ops >"$log" 2>&1 || status=$?
cat "$log"
printf '%d passed, %d failed\n' "$(grep -cE '^ *--- PASS' "$log")" "$(grep -cE '^ *--- FAIL' "$log")"
exit "$status"
