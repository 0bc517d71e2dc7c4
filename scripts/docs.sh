#!/usr/bin/env bash
# Builds the documentation's site, or tests it.
#
#   scripts/docs.sh build    into docs/dist
#   scripts/docs.sh serve    at http://localhost:5173, built anew as pages change
#   scripts/docs.sh test     builds, then runs what the pages show and follows their links
#
# With GEMWIRE_REQUIRE_DOCS=1 (as in CI) a machine that cannot do it fails the test.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! scripts/setup.sh docs; then
  echo 'skipped: documentation tests, for what is missing above'
  [[ "${1:-}" == test && "${GEMWIRE_REQUIRE_DOCS:-}" != 1 ]] && exit 0
  exit 1
fi

# VitePress tells of each step; a reader of the log wants what is wrong.
quiet() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

case "${1:-build}" in
  build)
    quiet node docs/build.mjs
    echo 'the site is in docs/dist'
    ;;
  serve)
    node docs/build.mjs --pages
    npm run --silent --prefix docs dev
    ;;
  test)
    quiet node --test docs/test/fences.test.mjs
    start=$SECONDS
    quiet node docs/build.mjs
    printf 'ok   the site is built (%d s)\n' $((SECONDS - start))
    node docs/test/run.mjs
    ;;
  *)
    echo "docs: unknown verb '$1': build, serve or test" >&2
    exit 1
    ;;
esac
