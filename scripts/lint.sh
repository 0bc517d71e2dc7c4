#!/usr/bin/env bash
# gofmt, lines of at most 120 characters, the digests of npm's lock files, go vet and staticcheck over the packages
# given, the links of the Markdown files, and GitHub's workflows.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l $(git ls-files '*.go'))
if [[ -n "$unformatted" ]]; then
  printf 'lint: not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
long=$(git ls-files '*.go' '*.wgsl' '*.js' '*.mjs' '*.ts' '*.tsx' ':!*.gen.ts' ':!**/testdata/**' |
  xargs grep -LE '^// Code generated .* DO NOT EDIT' |
  xargs perl -CSD -ne 'print "$ARGV:$.: $_" if length > 121; close ARGV if eof')
if [[ -n "$long" ]]; then
  printf 'lint: lines of more than 120 characters:\n%s\n' "$long" >&2
  exit 1
fi
scripts/check-locks.sh
go vet "$@"
# pinned TOOL PACKAGE builds bin/TOOL, outside the workspace, so that no module depends on it; its go.sum holds it to what
# it was.
pinned() {
  local from=scripts/pinned/$1 bin=$PWD/bin/$1
  if [[ ! -x "$bin" || $from/go.sum -nt "$bin" ]]; then
    GOWORK=off GOFLAGS=-mod=readonly go -C "$from" build -o "$bin" "$2"
  fi
}
pinned staticcheck honnef.co/go/tools/cmd/staticcheck
bin/staticcheck "$@"
# What only the browser's bundle compiles, built as the bundle is: what that compiled is not compiled again.
GOOS=js GOARCH=wasm go vet -trimpath -tags nohttp,gemwire_simd ./gguf/... ./wgslkit/... ./gemma4/... ./bindings/wasm/...
scripts/check-links.sh
if [[ -d .github/workflows ]]; then
  pinned actionlint github.com/rhysd/actionlint/cmd/actionlint
  # Without shellcheck and pyflakes: whether a machine has them must not decide.
  bin/actionlint -shellcheck= -pyflakes=
fi
