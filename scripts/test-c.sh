#!/usr/bin/env bash
# Tests the C library as C and Python programs see it. STEP names one: header, static, gpu, shared, installed, python, swift or rounds.
#
#   header   gemwire.h by itself, as C99, C11 and C++
#   static   the C tests against libgemwire.a, under AddressSanitizer, LeakSanitizer and UBSan: on the CPU, and one answer
#            on the GPU where there is one (GEMWIRE_REQUIRE_GPU=1: there must be)
#   gpu      all that may differ on the GPU, likewise: minutes on one of software
#   shared   the same against libgemwire.so, without sanitizers
#   installed  the shared one installed, found by pkg-config, and next to a program
#   python   the shared library through ctypes
#   swift    the iOS app's Swift names nothing that the header has not, and parses, where tree-sitter could be had
#   rounds   opens, asks and closes ROUNDS times (1000) and fails where memory grows: on the CPU, under the sanitizers, and
#            a few times on the GPU; with DEVICE=cpu or gpu, there alone
set -euo pipefail
cd "$(dirname "$0")/.."

tests=bindings/c/test
built=dist/c/$(go env GOOS)-$(go env GOARCH)
samples=testdata/conformance/nano
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
strict=(-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -g -O1 -Ibindings/c/include)
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
system=(-lm -ldl -lpthread)
if [[ "$(uname -s)" == Darwin ]]; then
  system=(-framework Metal -framework QuartzCore -framework Foundation -framework CoreFoundation -framework Security -lresolv)
fi
export LSAN_OPTIONS=suppressions=$PWD/$tests/lsan.supp:print_suppressions=0
# What was freed would count as growth; and Go's own signals go through Go's stacks.
export ASAN_OPTIONS=quarantine_size_mb=8:detect_stack_use_after_return=0

passed=0 failed=0

# counted NAME COMMAND… runs tests that end in 'N passed, N failed', and adds that up.
counted() {
  local name=$1 log=$work/log status=0 counts
  shift
  "$@" >"$log" 2>&1 || status=$?
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -1)
  if [[ -z "$counts" ]]; then counts="0 1"; fi
  # A sanitizer's report comes behind the count.
  if ((status)) && [[ "${counts#* }" == 0 ]]; then counts="${counts% *} 1"; fi
  passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
  printf '%-34s %s passed, %s failed\n' "$name" "${counts% *}" "${counts#* }"
  if ((status)); then tail -60 "$log" >&2; fi
}

# one NAME COMMAND… is a test by itself.
one() {
  local name=$1
  shift
  counted "$name" bash -c '"$@" && echo "1 passed, 0 failed"' one "$@"
}

has_gpu() { [[ "${GEMWIRE_REQUIRE_GPU:-}" == 1 ]] || "$work/static" gpu "$samples" "$work/adapter" info >/dev/null 2>&1; }

header() {
  # What a program writes to set up the structs, with the warnings that it may have.
  local warn=(-pedantic -Wall -Wextra -Wmissing-field-initializers -Werror -fsyntax-only -Ibindings/c/include)
  one 'initialisers: C99' "$cc" -std=c99 "${warn[@]}" -x c $tests/initialisers.h
  one 'initialisers: C++17' "${CXX:-c++}" -std=c++17 "${warn[@]}" -x c++ $tests/initialisers.h
  one 'header: C99' "$cc" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c bindings/c/include/gemwire.h
  one 'header: C11' "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c bindings/c/include/gemwire.h
  one 'header: C++17' "${CXX:-c++}" -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ bindings/c/include/gemwire.h
}

adapter() { [[ -d "$work/adapter" ]] || go run "./$tests/adapter" "$work/adapter"; }

sources() { ls $tests/*.c | grep -v /rounds.c; }

build_static() {
  adapter
  # shellcheck disable=SC2046
  [[ -e "$work/static" ]] ||
    "$cc" "${strict[@]}" "${sanitize[@]}" -rdynamic $(sources) "$built/libgemwire.a" "${system[@]}" -o "$work/static"
}

# on_gpu NAME [TEST]
on_gpu() {
  if has_gpu; then
    # Drivers keep to the end what they have compiled: rounds looks for leaks there.
    counted "$1" env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" "$work/static" gpu "$samples" "$work/adapter" "${@:2}"
  else
    printf '%-34s skipped: no GPU\n' "$1"
  fi
}

static() {
  build_static
  counted 'static, sanitizers, CPU' "$work/static" cpu "$samples" "$work/adapter"
  on_gpu 'static, sanitizers, one on the GPU' 'one answer'
}

gpu() {
  build_static
  on_gpu 'static, sanitizers, GPU'
}

shared() {
  adapter
  # shellcheck disable=SC2046
  "$cc" "${strict[@]}" $(sources) -L"$built" -lgemwire -Wl,-rpath,"$PWD/$built" -lpthread -o "$work/shared"
  counted 'shared, CPU' "$work/shared" cpu "$samples" "$work/adapter"
}

# installed: a program is compiled by what pkg-config says, and runs from another folder.
installed() {
  command -v pkg-config >/dev/null || { echo 'installed                          skipped: no pkg-config'; return; }
  PREFIX=$work/prefix scripts/c-library.sh install
  cat >"$work/version.c" <<'END'
#include <gemwire.h>
#include <stdio.h>
int main(void) { return puts(gemwire_version()) < 0; }
END
  # shellcheck disable=SC2046
  one 'installed: compiled by pkg-config' env PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig" bash -c \
    '"$0" -Wall -Werror "$1/version.c" $(pkg-config --cflags --libs gemwire) -o "$1/version"' "$cc" "$work"
  # The library lies next to the program.
  "$cc" "$work/version.c" -I"$work/prefix/include" -L"$work/prefix/lib" -lgemwire -Wl,-rpath,'$ORIGIN' -o "$work/prefix/lib/version"
  one 'installed: run from another folder' env -C / "$work/prefix/lib/version"
}

python() { counted 'Python, shared, CPU' python3 $tests/test_gemwire.py "$built/libgemwire.so" "$samples"; }

swift() {
  PYTHONPATH=${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/tree-sitter-swift counted 'Swift: names and syntax' \
    python3 $tests/test_swift.py bindings/c/xcode/Bench bindings/c/include/gemwire.h
  grep 'not parsed' "$work/log" || true
}

rounds() {
  "$cc" "${strict[@]}" "${sanitize[@]}" $tests/rounds.c "$built/libgemwire.a" "${system[@]}" -o "$work/rounds"
  "$cc" "${strict[@]}" $tests/rounds.c "$built/libgemwire.a" "${system[@]}" -o "$work/rounds-gpu"
  case "${DEVICE:-}" in
    cpu) some_rounds cpu "${ROUNDS:-1000}" "$work/rounds" ;;
    gpu) some_rounds gpu "${ROUNDS:-1000}" "$work/rounds-gpu" ;;
    *)
      some_rounds cpu "${ROUNDS:-1000}" "$work/rounds"
      # Opening takes a second there on a GPU of software. Its driver has weights in the C library's heap, which buffers as
      # large as the built-in model's leave in pieces; the first edition's are small.
      if [[ "${GEMWIRE_REQUIRE_GPU:-}" == 1 ]] || "$work/rounds-gpu" gpu 4 >/dev/null 2>&1; then
        some_rounds gpu 16 "$work/rounds-gpu" testdata/conformance/nano/nano.gguf The
      fi
      ;;
  esac
}

some_rounds() {
  counted "open, ask, close, $1" "$3" "$1" "$2" "${@:4}"
  grep ' rounds on ' "$work/log" || true
}

steps=("$@")
if ((${#steps[@]} == 0)); then steps=(header static gpu shared installed python swift rounds); fi
for step in "${steps[@]}"; do
  case "$step" in
    header | static | gpu | shared | installed | python | swift | rounds) "$step" ;;
    *) echo "test-c: unknown step '$step'" >&2; exit 2 ;;
  esac
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0))
