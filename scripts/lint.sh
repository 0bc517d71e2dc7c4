#!/usr/bin/env bash
# gofmt, go vet and staticcheck over the packages given, and the links of the Markdown files.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l $(git ls-files '*.go'))
if [[ -n "$unformatted" ]]; then
  printf 'lint: not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet "$@"
# What only the browser's bundle compiles.
GOOS=js GOARCH=wasm go vet -tags gemwire_simd,nohttp ./gguf/... ./wgslkit/... ./gemma4/... ./bindings/wasm/...
# A tool of its own, outside the workspace, so that no module depends on it; its go.sum holds it to what it was.
pinned=scripts/pinned/staticcheck
bin=$PWD/bin/staticcheck
if [[ ! -x "$bin" || $pinned/go.sum -nt "$bin" ]]; then
  GOWORK=off GOFLAGS=-mod=readonly go -C "$pinned" build -o "$bin" honnef.co/go/tools/cmd/staticcheck
fi
"$bin" "$@"
scripts/check-links.sh
