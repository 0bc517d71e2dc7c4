#!/usr/bin/env bash
# Builds bin/gemwire with the web app inside: such a program serves the app without a clone. Released programs are built
# this way, with the tag webapp. It checks that the program carries a whole app.
#
#   scripts/webapp.sh pack   only packs the app, for builds with -tags webapp
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/wasm.sh
scripts/web.sh
go run ./tools/internal/webapp/pack examples/web/dist tools/internal/webapp/app.zip
[[ "${1:-}" == pack ]] && exit 0
go test -tags webapp ./tools/internal/webapp
go build -trimpath -ldflags="-s -w" -tags webapp -o bin/gemwire ./tools/cmd/gemwire
bin/gemwire version | grep -q '^app     included' || { echo 'webapp: bin/gemwire does not carry the app' >&2; exit 1; }
echo 'bin/gemwire carries the web app'
