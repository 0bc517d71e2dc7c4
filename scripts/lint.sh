#!/usr/bin/env bash
# gofmt, go vet and staticcheck over the packages given, and the links of the Markdown files.
set -euo pipefail

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

unformatted=$(gofmt -l $(git ls-files '*.go'))
if [[ -n "$unformatted" ]]; then
  printf 'lint: not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet "$@"
# What only the browser's bundle compiles.
GOOS=js GOARCH=wasm go vet -tags gemwire_simd,nohttp ./gguf/... ./wgslkit/... ./gemma4/... ./bindings/wasm/...
# A tool of its own, outside the workspace, so that no module depends on it.
bin=$(go env GOPATH)/bin/staticcheck
if [[ ! -x "$bin" ]] || ! "$bin" -version | grep "${staticcheck##*@v}" >/dev/null; then
  GOWORK=off GOFLAGS= go install "$staticcheck"
fi
"$bin" "$@"
"$(dirname "$0")/check-links.sh"
