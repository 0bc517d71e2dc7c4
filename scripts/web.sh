#!/usr/bin/env bash
# Builds the app into examples/web/dist, over the npm package that scripts/wasm.sh has built.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh app
npm run --silent --prefix examples/web build -- --logLevel warn
