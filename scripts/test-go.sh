#!/usr/bin/env bash
# Runs every Go test of the packages given; what passed before with the same inputs is taken from go's cache.
#
#   scripts/test-go.sh [-race] PACKAGE…
#
# GEMWIRE_TEST_ALL=1 has kernels and models go through all tunings, limits and libraries. With -race, packages are
# built with the race detector and -short leaves out what computes for long on one goroutine. With GEMWIRE_REQUIRE_GPU=1
# (as in CI) a test that was skipped for want of a GPU is a failure. GEMWIRE_TEST_TIMES=1 runs everything anew and ends
# with the CPU seconds of each package.
set -euo pipefail
cd "$(dirname "$0")/.."

# Go's cache knows the files of a test's own module. What tests read besides counts through an option that is a part
# of its key, and skips nothing: the shared cases, the scripts, the drivers, what setup.sh fetched.
outside() {
  {
    git ls-files -z --cached --others --exclude-standard -- testdata scripts docker docs examples bindings gemma4/nano go.work \
      ':!*_test.go' | LC_ALL=C sort -z | xargs -0 cat 2>/dev/null || true
    cat /usr/share/vulkan/icd.d/*.json "${XDG_CACHE_HOME:-$HOME/.cache}"/gemwire/*/package 2>/dev/null || true
    dpkg-query -W -f '${Package} ${Version}\n' mesa-vulkan-drivers libvulkan1 nginx-light chromium 2>/dev/null || true
    { env | grep -E '^(VK_|XDG_)' || true; } | sort
  } | cksum | tr ' ' '-'
}

# A package that takes too long is ended, with the stacks of its goroutines. The longest takes about 200 CPU seconds from
# empty caches, but machines and their load differ; all tunings and libraries, or the race detector, take more.
limit=20m
[[ "${GEMWIRE_TEST_ALL:-}" != 1 && "${1:-}" != -race ]] || limit=30m
# Without what debuggers want, a test is linked in half the time.
options=(-v -vet=off -ldflags="-s -w" -timeout "$limit" -skip "^inputs-$(outside)\$")
if [[ "${1:-}" == -race ]]; then
  shift
  options+=(-race -short)
fi

# Those that take long go first: one of them last would leave the other cores idle. Neighbours share few kernels: a
# driver keeps what it has compiled, but two packages that want the same one at once compile it twice.
first='finetune/gpu wgslkit/ops gemma4 tools/internal/command multimodal/gpu gemma4/cpu finetune gemma4/parity quant multimodal/parity'
packages=$(go list "$@")
set --
for package in $first; do set -- "$@" $(grep -E "/gemwire/$package\$" <<<"$packages"); done
# shellcheck disable=SC2046
set -- "$@" $(grep -vE "/gemwire/(${first// /|})\$" <<<"$packages")

log=$(mktemp)
times=$(mktemp)
trap 'rm -f "$log" "$times"' EXIT
trap 'cat "$log"; exit 143' TERM # what is ended says how far it came
# What runs through another program is not kept by Go's cache.
if [[ "${GEMWIRE_TEST_TIMES:-}" == 1 ]]; then
  export GEMWIRE_TEST_TIMES_FILE=$times
  options+=(-exec "bash $PWD/scripts/timed.sh")
fi
status=0
go test "${options[@]}" "$@" >"$log" 2>&1 || status=$?

# The slowest tests, and the packages' own lines; then the verbose log for who counts or wants to know why.
slowest() {
  sed -nE 's/^--- PASS: (\w+) \(([0-9.]+)s\)$/\2 \1/p' "$log" | sort -rn |
    awk 'NR <= 12 { printf "  %6.1f s  %s\n", $1, $2 }' # head would end before sort has written, a failure here
}
grep -E '^(ok|FAIL|panic:)' "$log" | grep -v 'no test files' || true
printf 'slowest tests (of what ran now or when it was kept):\n'
slowest
if [[ -s "$times" ]]; then
  printf 'CPU seconds of each package:\n'
  sort -rn "$times"
fi
cat "$log"
printf '\n%d passed, %d failed, %d skipped\n' \
  "$(grep -cE '^ *--- PASS' "$log")" "$(grep -cE '^ *--- FAIL' "$log")" "$(grep -cE '^ *--- SKIP' "$log")"
if ((status == 0)) && [[ "${GEMWIRE_REQUIRE_GPU:-}" == 1 ]] &&
  grep -A3 -E '^ *--- SKIP' "$log" | grep -iE "no usable GPU|no GPU${GEMWIRE_TEST_ALL:+|no wgpu-native}" >/dev/null; then
  echo 'test-go: a GPU test was skipped, and GEMWIRE_REQUIRE_GPU=1 forbids that' >&2
  exit 1
fi
exit "$status"
