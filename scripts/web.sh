#!/usr/bin/env bash
# Builds the app into examples/web/dist, over the npm package that scripts/wasm.sh has built, with each file's compressed
# forms beside it, so that `gemwire serve` need not make them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh app
npm run --silent --prefix examples/web build -- --logLevel warn
node docker/precompress.mjs examples/web/dist examples/web/node_modules/.cache/gemwire
