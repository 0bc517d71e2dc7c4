#!/usr/bin/env bash
# What is built without cgo: the command for each system and processor, and the tests of what differs. With a
# wgpu-native that scripts/setup.sh fetched, wgslkit's own tests compute with it through purego.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for platform in {linux,windows,darwin,freebsd}/{amd64,arm64}; do
  export GOOS=${platform%/*} GOARCH=${platform#*/}
  echo "building for $platform"
  go build -trimpath -o "$work/gemwire" ./tools/cmd/gemwire
  go vet -trimpath ./wgslkit ./wgslkit/internal/...
done
unset GOOS GOARCH

scripts/test-go.sh ./quant ./gguf ./wgslkit/internal/... ./gemma4/nano
library=${GEMWIRE_TEST_WGPU:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/wgpu-native}/libwgpu_native-release.so
if [[ -e "$library" ]]; then GEMWIRE_WGPU=$library scripts/test-go.sh ./wgslkit; fi

go build -trimpath -o "$work/gemwire" ./tools/cmd/gemwire
GEMWIRE_WGPU=off "$work/gemwire" run 'What is the capital of France?' >"$work/answer" 2>"$work/said"
cat "$work/answer" "$work/said"
grep -q Paris "$work/answer"
grep -q 'on the CPU: .*built without cgo' "$work/said"
echo '1 passed, 0 failed'
