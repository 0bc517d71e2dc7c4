#!/usr/bin/env bash
# Builds the C library into dist/c/TARGET: the library, gemwire.h and, for Apple's systems, a module map.
#
#   scripts/c-library.sh archive | shared     for this machine
#   scripts/c-library.sh ios                  device (arm64) and simulator; on macOS with Xcode
#   scripts/c-library.sh macos                arm64 and amd64 in one file; on macOS with Xcode
#   scripts/c-library.sh xcframework          both of these as dist/c/Gemwire.xcframework
#   scripts/c-library.sh android              arm64 and amd64, static and shared; with ANDROID_NDK_HOME
#   scripts/c-library.sh windows              amd64, static and shared; with mingw-w64
#   scripts/c-library.sh install              what archive and shared built, with a pkg-config file, below PREFIX
#                                             (/usr/local); DESTDIR goes before it
#   scripts/c-library.sh all                  each of these that this machine has the tools for
#
# A static library holds wgpu, too, so that a program links one file. VERSION names a release. Options of go build may be
# given in GOFLAGS. Where a tool is missing the script says which one, and exits with 3.
#
#   WGPU_IOS_SIMULATOR_ARM64   libwgpu_native.a for the simulator on Apple's own processors, which the Go binding of
#                              wgpu does not bring: from the release of wgpu-native that its wgpu.h is of
set -euo pipefail
cd "$(dirname "$0")/.."

out=dist/c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf 'c-library: %s\n' "$*" >&2; }
missing() { say "$1 is not built: $2"; exit 3; }

linker_flags() { echo "-s -w -buildid=${VERSION:+ -X github.com/gemwire/gemwire/bindings/c/engine.released=$VERSION}"; }

# wgpu_library GOOS ARCH: the prebuilt wgpu of the Go binding.
wgpu_library() {
  echo "$(go list -m -f '{{.Dir}}' github.com/cogentcore/webgpu)/wgpu/lib/$1/$2/libwgpu_native.a"
}

# headers FOLDER: what a program includes.
headers() {
  mkdir -p "$1"
  cp bindings/c/include/gemwire.h "$1"
}

# compile MODE FILE FLAGS: go build with the environment's GOOS, GOARCH and CC, and flags for its linker. The header that
# cgo writes is not ours. A DLL is called inside as it is here: programs look for it under that name.
compile() {
  local folder name=${2##*/}
  folder=$(mktemp -d "$work/XXXXXX")
  CGO_ENABLED=1 go build ${VERSION:+-trimpath} -buildmode="$1" -ldflags "$(linker_flags)${3:+ -extldflags '$3'}" -o "$folder/$name" ./bindings/c/lib
  mkdir -p "$(dirname "$2")"
  mv "$folder/$name" "$2"
}

# join OUT AR ARCHIVE…: one static library of several.
join() {
  local to=$1 ar=$2
  shift 2
  rm -f "$to"
  if [[ "$(uname -s)" == Darwin && "$ar" == libtool ]]; then
    libtool -static -no_warning_for_no_symbols -o "$to" "$@"
    return
  fi
  # ar's scripts take no path with an @, as Go's module cache has them. gcc-ar, where there is one: plain ar asks
  # whatever plugins are installed about wgpu's members, and an LLVM older than theirs makes it leave out their symbols.
  local n=0 library
  {
    echo "create $to"
    for library in "$@"; do
      n=$((n + 1))
      ln -sf "$library" "$work/$n.a"
      echo "addlib $work/$n.a"
    done
    echo save
    echo end
  } | "$ar" -M
}

# archive FOLDER AR WGPU: a static library with all that it needs.
archive() {
  mkdir -p "$1"
  compile c-archive "$work/go.a"
  join "$1/libgemwire.a" "$2" "$work/go.a" "$3"
  headers "$1"
  say "$1/libgemwire.a"
}

native_archive() {
  local ar=ar
  if command -v gcc-ar >/dev/null; then ar=gcc-ar; fi
  [[ "$(uname -s)" != Darwin ]] || ar=libtool
  archive "$out/$(go env GOOS)-$(go env GOARCH)" "$ar" "$(wgpu_library "$(go env GOOS)" "$(go env GOARCH)")"
}

native_shared() {
  local folder name flags=
  folder="$out/$(go env GOOS)-$(go env GOARCH)"
  case "$(go env GOOS)" in
    darwin) name=libgemwire.dylib flags='-Wl,-install_name,@rpath/libgemwire.dylib' ;;
    windows) name=gemwire.dll flags=-static ;; # no DLL of the compiler's
    # Only the header's functions show: a program may have another wgpu.
    *) name=libgemwire.so flags="-Wl,-soname,libgemwire.so -Wl,--version-script=$PWD/bindings/c/lib/exports.map" ;;
  esac
  compile c-shared "$folder/$name" "$flags"
  headers "$folder"
  say "$folder/$name"
}

need_xcode() {
  command -v xcrun >/dev/null || missing "$1" "xcrun is missing; it comes with Xcode, on macOS"
}

# apple TARGET GOOS GOARCH SDK FLAGS WGPU
apple() {
  GOOS=$2 GOARCH=$3 CC="$(xcrun --sdk "$4" --find clang) -isysroot $(xcrun --sdk "$4" --show-sdk-path) $5" CGO_LDFLAGS="-L$(dirname "$6")" \
    archive "$out/$1" libtool "$6"
  cp bindings/c/include/module.modulemap "$out/$1"
}

ios() {
  need_xcode ios
  apple ios-arm64 ios arm64 iphoneos '-arch arm64 -miphoneos-version-min=16.0' "$(wgpu_library ios arm64)"
  apple ios-simulator-amd64 ios amd64 iphonesimulator '-arch x86_64 -mios-simulator-version-min=16.0' "$(wgpu_library ios amd64)"
  local simulators=("$out/ios-simulator-amd64/libgemwire.a")
  if [[ -n "${WGPU_IOS_SIMULATOR_ARM64:-}" ]]; then
    apple ios-simulator-arm64 ios arm64 iphonesimulator '-arch arm64 -mios-simulator-version-min=16.0' "$WGPU_IOS_SIMULATOR_ARM64"
    simulators+=("$out/ios-simulator-arm64/libgemwire.a")
  else
    say "the simulator's library is for Intel processors alone: WGPU_IOS_SIMULATOR_ARM64 is not set"
  fi
  fat ios-simulator "${simulators[@]}"
}

macos() {
  need_xcode macos
  apple macos-arm64 darwin arm64 macosx '-arch arm64 -mmacosx-version-min=13.0' "$(wgpu_library darwin arm64)"
  apple macos-amd64 darwin amd64 macosx '-arch x86_64 -mmacosx-version-min=13.0' "$(wgpu_library darwin amd64)"
  fat macos "$out/macos-arm64/libgemwire.a" "$out/macos-amd64/libgemwire.a"
}

# fat TARGET LIBRARY…: libraries of several processors as one.
fat() {
  local target=$1
  shift
  headers "$out/$target"
  cp bindings/c/include/module.modulemap "$out/$target"
  lipo -create "$@" -output "$out/$target/libgemwire.a"
  say "$out/$target/libgemwire.a"
}

xcframework() {
  need_xcode xcframework
  command -v xcodebuild >/dev/null || missing xcframework "xcodebuild is missing; it comes with Xcode, on macOS"
  ios
  macos
  local interface=$work/interface
  headers "$interface"
  cp bindings/c/include/module.modulemap "$interface"
  rm -rf "$out/Gemwire.xcframework"
  xcodebuild -create-xcframework \
    -library "$out/ios-arm64/libgemwire.a" -headers "$interface" \
    -library "$out/ios-simulator/libgemwire.a" -headers "$interface" \
    -library "$out/macos/libgemwire.a" -headers "$interface" \
    -output "$out/Gemwire.xcframework" >&2
  say "$out/Gemwire.xcframework"
}

android() {
  local ndk=${ANDROID_NDK_HOME:-${ANDROID_NDK_ROOT:-}} tools
  [[ -n "$ndk" ]] || missing android "ANDROID_NDK_HOME names no Android NDK (26 or newer)"
  tools=$(echo "$ndk"/toolchains/llvm/prebuilt/*/bin)
  [[ -x "$tools/llvm-ar" ]] || missing android "there is no compiler in $tools"
  android_for "$tools" arm64 aarch64-linux-android26-clang
  android_for "$tools" amd64 x86_64-linux-android26-clang
}

# android_for TOOLS GOARCH COMPILER
android_for() {
  export GOOS=android GOARCH=$2 CC=$1/$3
  archive "$out/android-$2" "$1/llvm-ar" "$(wgpu_library android "$2")"
  compile c-shared "$out/android-$2/libgemwire.so" "-Wl,-soname,libgemwire.so -Wl,--version-script=$PWD/bindings/c/lib/exports.map"
  say "$out/android-$2/libgemwire.so"
  unset GOOS GOARCH CC
}

windows() {
  local prefix=x86_64-w64-mingw32
  command -v $prefix-gcc >/dev/null || missing windows "$prefix-gcc is missing (Debian: apt-get install gcc-mingw-w64-x86-64)"
  export GOOS=windows GOARCH=amd64 CC=$prefix-gcc
  archive "$out/windows-amd64" $prefix-gcc-ar "$(wgpu_library windows amd64)"
  compile c-shared "$out/windows-amd64/gemwire.dll" "-static -Wl,--out-implib,$PWD/$out/windows-amd64/libgemwire.dll.a" # as in native_shared
  say "$out/windows-amd64/gemwire.dll"
  unset GOOS GOARCH CC
}

# pkg_config PREFIX: what programs are compiled and linked with.
pkg_config() {
  local version=${VERSION:-$(git describe --tags --match 'bindings/c/v*' 2>/dev/null || echo 0.0.0)}
  version=${version##*/}
  cat <<END
prefix=$1
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: gemwire
Description: Gemma 4 on the user's own GPU
Version: ${version#v}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lgemwire
Libs.private: -lm -ldl -lpthread
END
}

install_library() {
  local built prefix=${PREFIX:-/usr/local} to library
  built="$out/$(go env GOOS)-$(go env GOARCH)"
  to=${DESTDIR:-}$prefix
  [[ -e "$built/gemwire.h" ]] || { say "there is nothing to install; run make c-archive and make c-shared first"; exit 1; }
  mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/share/licenses/gemwire"
  install -m 644 "$built/gemwire.h" "$to/include"
  for library in libgemwire.a libgemwire.so libgemwire.dylib; do
    [[ ! -e "$built/$library" ]] || install -m 755 "$built/$library" "$to/lib"
  done
  pkg_config "$prefix" >"$to/lib/pkgconfig/gemwire.pc"
  install -m 644 LICENSE-* bindings/c/THIRD-PARTY-NOTICES.txt "$to/share/licenses/gemwire"
  say "installed below $to"
}

all() {
  local target code left=()
  for target in archive shared xcframework android windows; do
    code=0
    "$0" "$target" || code=$?
    ((code == 0)) || left+=("$target")
    ((code == 0 || code == 3)) || exit "$code"
  done
  ((${#left[@]} == 0)) || say "not built: ${left[*]}; the lines above say what they want"
}

case "${1:-}" in
  archive) native_archive ;;
  shared) native_shared ;;
  install) install_library ;;
  ios | macos | xcframework | android | windows | all) "$1" ;;
  *) say "unknown target '${1:-}': archive, shared, install, ios, macos, xcframework, android, windows or all"; exit 2 ;;
esac
