#!/usr/bin/env bash
# Builds or tests the app in examples/web. The npm package must have been built (scripts/wasm.sh).
#
#   scripts/web.sh build   into examples/web/dist
#   scripts/web.sh test    lint, tests of the logic, the app in Chromium
set -euo pipefail

cd "$(dirname "$0")/../examples/web"

# Packages are installed anew only when the lock file says something else than last time.
install() {
  local stamp=node_modules/.package-lock.json
  if [[ ! -f "$stamp" || package-lock.json -nt "$stamp" ]]; then
    echo 'web: installing npm packages' >&2
    npm ci --no-audit --no-fund --loglevel=error
  fi
}

case "${1:-build}" in
  build) install; npm run --silent build ;;
  test) install; npm run --silent lint; npm test --silent; npm run --silent e2e ;;
  *) echo "web: unknown argument '$1': build or test" >&2; exit 2 ;;
esac
