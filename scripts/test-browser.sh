#!/usr/bin/env bash
# Builds the browser's bundle and runs every test that needs Node or a browser:
# one line for each step, the whole log of one that failed.
#
#   scripts/test-browser.sh [STEP...]   all steps, or those named
#
# A machine that cannot run them skips them and says why. With
# GEMWIRE_REQUIRE_BROWSER=1 (as in CI) that is a failure, as is a test that a step
# skipped for want of a GPU or a browser.
set -euo pipefail
cd "$(dirname "$0")/.."

require=${GEMWIRE_REQUIRE_BROWSER:-}

if ! scripts/setup.sh web; then
  echo 'browser tests: skipped, for what is missing above'
  [[ "$require" == 1 ]] && exit 1
  exit 0
fi

# name | what it is | command
steps=(
  'bundle|the bundle and its size|scripts/wasm.sh'
  'types|the package: types|npm run check --silent --prefix bindings/wasm/npm'
  'lint|the app: eslint, tsc|npm run lint --silent --prefix examples/web'
  'logic|the app: logic|npm test --silent --prefix examples/web'
  'kernels|kernels and models in a tab|node bindings/wasm/browsertest/run.mjs'
  'package|the package in a tab|node bindings/wasm/npm/test/run.mjs'
  'app|the app in Chromium|npm run e2e --silent --prefix examples/web'
  'nginx|the app behind nginx, in Chromium|scripts/test-nginx.sh app'
  'dawn|the kit on Dawn, natively|scripts/test-dawn.sh'
  'bench|the measuring page in Chromium|node examples/bench/test.mjs --real'
)

export NO_COLOR=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# What a log says of how much there was: tests that passed or were skipped, or a bundle's size.
counts() {
  sed -nE -e 's/^([0-9]+ passed, .*)$/\1/p' -e 's/^ *Tests +([0-9]+ passed).*/\1/p' -e 's/^[ℹ#] pass ([0-9]+)$/\1 passed/p' -e 's/^[ℹ#] skipped ([1-9][0-9]*)$/\1 skipped/p' \
    -e 's/^all +([0-9]+ +of at most [0-9]+)$/\1 bytes gzipped/p' "$1" | sed -E 's/ +/ /g' | paste -sd,
}

# The failures of a log with what follows them, and its end.
show_failure() {
  grep -E -A 12 '^ *(fail|FAIL|not ok|✖)' "$1" | cut -c1-500 | head -n 120 || true
  echo '...'
  tail -n 30 "$1" | cut -c1-500
}

# Why tests were skipped, each reason once.
skip_reasons() {
  { grep -E -A 2 '^skip ' "$1" | sed -nE 's/^ +[A-Za-z0-9_]+\.go:[0-9]+: //p'; sed -nE 's/.*# SKIP ?(.*)/\1/p; s/^ *﹣ .* # (.*)/\1/p' "$1"; } | sort | uniq -c
}

# Cases that lie beside the repository may be absent; a GPU or a browser may not.
for_want_of_a_device() { skip_reasons "$1" | grep -qiE 'GPU|adapter|browser|chromium'; }

run_step() {
  local name=$1 what=$2 command=$3 start=$SECONDS
  if ! $command >"$log" 2>&1; then
    printf 'FAIL %s (%d s): %s\n' "$what" $((SECONDS - start)) "$command"
    show_failure "$log"
    return 1
  fi
  printf 'ok   %-32s %4d s  %s\n' "$what" $((SECONDS - start)) "$(counts "$log")"
  sed -n 's/^note /     /p' "$log"
  skip_reasons "$log" | sed 's/^ */     skipped /'
  if [[ "$require" == 1 ]] && for_want_of_a_device "$log"; then
    echo "test-browser: a test was skipped in step $name, and GEMWIRE_REQUIRE_BROWSER=1 forbids that"
    return 1
  fi
  return 0
}

failed=()
for step in "${steps[@]}"; do
  IFS='|' read -r name what command <<<"$step"
  if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
  run_step "$name" "$what" "$command" || failed+=("$name")
  # Nothing after it can be told without a bundle.
  [[ "${failed[*]}" == bundle ]] && break
done
if ((${#failed[@]})); then
  printf 'browser tests: failed: %s\n' "${failed[*]}" >&2
  exit 1
fi
