#!/usr/bin/env bash
# Builds the browser's bundle and the npm package around it in bindings/wasm/npm.
#
#   scripts/wasm.sh          builds dist/, prints the gzipped sizes, fails over 4 MB
#   scripts/wasm.sh pack     and packs the package into the clone's dist/
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
package=$root/bindings/wasm/npm

if ! command -v npm >/dev/null; then
  echo 'wasm: npm is missing: install Node 20 or newer from https://nodejs.org' >&2
  exit 1
fi
if [[ ! -e "$package/node_modules/.package-lock.json" || "$package/package-lock.json" -nt "$package/node_modules/.package-lock.json" ]]; then
  npm ci --prefix "$package" --no-audit --no-fund --loglevel=error >&2
fi
node "$package/build.mjs"
if [[ "${1:-}" == pack ]]; then
  mkdir -p "$root/dist"
  (cd "$package" && npm pack --loglevel=error --pack-destination "$root/dist")
fi
