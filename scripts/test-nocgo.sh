#!/usr/bin/env bash
# What is built without cgo: the command for other systems and processors, and the tests of what differs. With a
# wgpu-native that scripts/setup.sh fetched, wgslkit's own tests compute with it through purego. The command for Windows
# answers under wine, that for Linux on ARM under qemu: docs/releasing.md says so. What this machine cannot run is
# skipped, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0 skipped=0
skips() {
  echo "skipped: $1"
  skipped=$((skipped + 1))
}

# Each system, and each processor; a release builds every pair.
for platform in linux/amd64 linux/arm64 windows/amd64 darwin/arm64 freebsd/amd64; do
  export GOOS=${platform%/*} GOARCH=${platform#*/}
  echo "building for $platform"
  go build -trimpath -o "$work/${platform/\//-}" ./tools/cmd/gemwire
  go vet -trimpath ./wgslkit ./wgslkit/internal/...
done
unset GOOS GOARCH
scripts/setup.sh foreign # says what cannot be had

scripts/test-go.sh ./quant ./gguf ./wgslkit/internal/... ./gemma4/nano
library=$(compgen -G "${GEMWIRE_TEST_WGPU:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/wgpu-native}/libwgpu_native*" | sed -n 1p || true)
if [[ -n "$library" ]]; then
  GEMWIRE_WGPU=$library scripts/test-go.sh ./wgslkit
else
  skips 'wgslkit without cgo, because there is no wgpu-native: scripts/setup.sh libraries fetches it'
fi

# answers SYSTEM COMMAND… asks the program that COMMAND starts, and looks at the answer and the exit status of a mistake.
answers() {
  local status=0
  GEMWIRE_WGPU=off "${@:2}" run --greedy 'What is the capital of France?' >"$work/answer" 2>"$work/said"
  tr -d '\r' <"$work/answer" | tee -a "$work/said"
  grep -q Paris "$work/answer"
  grep -q 'on the CPU: .*built without cgo' "$work/said"
  "${@:2}" run --temperature hot x >"$work/answer" 2>&1 || status=$?
  grep -q 'temperature is hot' "$work/answer" && ((status == 2))
  echo "answers on $1"
  passed=$((passed + 1))
}

answers "$(go env GOHOSTOS)" "$work/$(go env GOHOSTOS)-$(go env GOHOSTARCH)"

arm_system=/usr/aarch64-linux-gnu # its C library, which purego is linked with
if ! command -v qemu-aarch64-static >/dev/null; then
  skips 'the program for Linux on ARM, without qemu'
elif [[ ! -e $arm_system/lib/ld-linux-aarch64.so.1 ]]; then
  skips 'the program for Linux on ARM, without its C library'
else
  answers 'Linux on ARM' qemu-aarch64-static -L "$arm_system" "$work/linux-arm64"
fi

# Debian's wine lacks a library that Go takes random numbers from.
random_numbers() {
  x86_64-w64-mingw32-gcc -shared -o "$1/bcryptprimitives.dll" -x c - -ladvapi32 <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n) { return RtlGenRandom(to, n); }
C
}
export WINEPREFIX=$work/wine WINEDEBUG=-all
if ! command -v wine >/dev/null; then
  skips 'the program for Windows, without wine'
elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
  skips 'the program for Windows, without mingw-w64'
elif ! wine cmd /c exit >"$work/said" 2>&1; then
  cat "$work/said"
  skips 'the program for Windows: wine does not start'
else
  random_numbers "$WINEPREFIX/drive_c/windows/system32"
  mv "$work/windows-amd64" "$work/gemwire.exe"
  answers Windows wine "$work/gemwire.exe"
  wineserver -k 2>/dev/null || true # it has nothing left to do
fi
echo "$passed passed, 0 failed, $skipped skipped"
