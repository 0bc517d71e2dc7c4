#!/usr/bin/env bash
# What is built without cgo: the command for other systems and processors, and the tests of what differs. With a
# wgpu-native that scripts/setup.sh fetched, wgslkit's own tests compute with it through purego. The command for Windows
# answers under wine, that for Linux on ARM under qemu, where scripts/setup.sh could install these.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each system, and each processor; a release builds every pair.
for platform in linux/amd64 linux/arm64 windows/amd64 darwin/arm64 freebsd/amd64; do
  export GOOS=${platform%/*} GOARCH=${platform#*/}
  echo "building for $platform"
  go build -trimpath -o "$work/${platform/\//-}" ./tools/cmd/gemwire
  go vet -trimpath ./wgslkit ./wgslkit/internal/...
done
unset GOOS GOARCH
scripts/setup.sh foreign || true

scripts/test-go.sh ./quant ./gguf ./wgslkit/internal/... ./gemma4/nano
library=${GEMWIRE_TEST_WGPU:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/wgpu-native}/libwgpu_native-release.so
if [[ -e "$library" ]]; then GEMWIRE_WGPU=$library scripts/test-go.sh ./wgslkit; fi

passed=0
# answers SYSTEM COMMAND… asks the program that COMMAND starts, and looks at the answer and the exit status of a mistake.
answers() {
  local status=0
  GEMWIRE_WGPU=off "${@:2}" run --greedy 'What is the capital of France?' >"$work/answer" 2>"$work/said"
  tr -d '\r' <"$work/answer" | tee -a "$work/said"
  grep -q '^Paris is the capital of France\.' "$work/answer"
  grep -q 'on the CPU: .*built without cgo' "$work/said"
  "${@:2}" run --temperature hot x >"$work/answer" 2>&1 || status=$?
  grep -q 'temperature is hot' "$work/answer" && ((status == 2))
  echo "answers on $1"
  passed=$((passed + 1))
}

answers "$(go env GOHOSTOS)" "$work/$(go env GOHOSTOS)-$(go env GOHOSTARCH)"

arm_system=/usr/aarch64-linux-gnu # its C library, which purego is linked with
if command -v qemu-aarch64-static >/dev/null && [[ -e $arm_system/lib/ld-linux-aarch64.so.1 ]]; then
  answers 'Linux on ARM' qemu-aarch64-static -L "$arm_system" "$work/linux-arm64"
else
  echo 'skipped: the program for Linux on ARM, without qemu'
fi

# Debian's wine lacks a library that Go takes random numbers from.
prepare_wine() {
  export WINEPREFIX=$work/wine WINEDEBUG=-all
  wine cmd /c exit >/dev/null 2>&1
  x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" -x c - -ladvapi32 <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n) { return RtlGenRandom(to, n); }
C
}
if command -v wine >/dev/null && command -v x86_64-w64-mingw32-gcc >/dev/null && prepare_wine; then
  mv "$work/windows-amd64" "$work/gemwire.exe"
  answers Windows wine "$work/gemwire.exe"
  wineserver -k 2>/dev/null || true
else
  echo 'skipped: the program for Windows, without wine'
fi
echo "$passed passed, 0 failed"
