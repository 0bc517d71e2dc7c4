#!/usr/bin/env bash
# Runs tests, parts of them side by side, and tells where the time went.
#
#   scripts/test.sh quick         lint, every Go test, the C header and a static program, the bundle, the types and the
#                                 logic of what is written in TypeScript, one pass of the app in Chromium, one answer
#                                 to each client of the APIs
#   scripts/test.sh all           that, and everything else: all tunings, limits and libraries, the race detector, fuzzing,
#                                 kernels and models in a tab, every case of the app, the C library as others use it, nginx,
#                                 jobs of a cluster, the clients of the APIs, counts of work, modules from outside, the documentation
#   scripts/test.sh PART…         those named, with nothing that they come after
#   scripts/test.sh list          says which parts there are
#
# GEMWIRE_TEST_JOBS    parts that run at once (2, as Go's tests use several cores by themselves)
# GEMWIRE_TEST_AGAIN   1 also runs parts that passed before with the same inputs (scripts/parts.sh)
# GEMWIRE_TEST_BUDGET  as 30m: parts of "all" for which that is too short are left out, and named at the end
# GEMWIRE_RACE         the packages for the race detector (all)
# FUZZTIME             of each fuzz target (60s), or the number of inputs, as 2000x
#
# What a machine cannot run is skipped, and the end says why. With GEMWIRE_REQUIRE_GPU, GEMWIRE_REQUIRE_BROWSER,
# GEMWIRE_REQUIRE_NGINX, GEMWIRE_REQUIRE_SLURM, GEMWIRE_REQUIRE_S3, GEMWIRE_REQUIRE_BEAM and GEMWIRE_REQUIRE_DOCS at 1, as in
# CI, that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/parts.sh

export NO_COLOR=1
# llvmpipe keeps the kernels that it has compiled. Tests with a home of their own are to find them, too.
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}}"
# What one part has compiled, another one takes from Go's cache, in another clone, too: no path of this one is in it.
export GOFLAGS="-trimpath ${GOFLAGS:-}"
read -ra packages <<<"$(awk '$1 ~ /^\.\// { printf "%s/... ", $1 }' go.work)"
engine='quant gguf wgslkit gemma4 multimodal finetune go.work go.work.sum'
browser_engine="$engine bindings/wasm testdata"

build_commands() { go build -ldflags "-s -w" -o bin/gemwire ./tools/cmd/gemwire && go build -ldflags "-s -w" -o bin/lab ./tools/lab/cmd/lab; }

# prepare WHAT PURPOSE: what cannot be had leaves its tests out, and says so; it fails where they are required.
prepare() {
  scripts/setup.sh "$1" && return
  [[ "$1" != web || "${GEMWIRE_REQUIRE_BROWSER:-}" != 1 ]] || return 1
  echo "skipped: $2, for what is missing"
  : >"$parts/no-$1"
}

# with WHAT PURPOSE COMMAND… runs a command for which prepare WHAT had everything.
with() {
  if [[ -e "$parts/no-$1" ]]; then echo "skipped: $2, for what is missing"; else "${@:3}"; fi
}
browser() { with web 'browser tests' "$@"; }

# go_all FOLDER…: every Go test below, with all tunings, limits and libraries.
go_all() {
  local folder packages=()
  for folder in "$@"; do packages+=("./$folder/..."); done
  GEMWIRE_TEST_ALL=1 GEMWIRE_REQUIRE_DAWN="${GEMWIRE_REQUIRE_BROWSER:-}" scripts/test-go.sh "${packages[@]}"
}
# Races are not found by more cases of the same kernel: GEMWIRE_TEST_ALL stays off.
race() {
  # shellcheck disable=SC2086
  scripts/test-go.sh -race ${GEMWIRE_RACE:-"${packages[@]}"}
}
c_library() { scripts/c-library.sh "$1" && scripts/test-c.sh "${@:2}"; }
# What a reference makes of a text, held against by a model with trained weights: in float32, and with caches of float16
# and 8 bits, by the built-in library and by a current one, which has subgroups.
trained() {
  local model=${GEMWIRE_TRAINED:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/gemma3-270m}/gemma-3-270m-q4_k_m.gguf cache library
  scripts/setup.sh trained
  if [[ ! -e "$model" ]]; then
    echo 'skipped: trained weights, which could not be had'
    return
  fi
  for cache in f16 q8; do
    GEMWIRE_WGPU=off ./bin/gemwire parity testdata/conformance/gemma3-270m --model "$model" --kv-cache "$cache"
  done
  for library in "${GEMWIRE_TEST_WGPU:-${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/wgpu-native}"/libwgpu_native*; do
    [[ ! -e "$library" ]] ||
      GEMWIRE_WGPU=$library ./bin/gemwire parity testdata/conformance/gemma3-270m --model "$model" --device gpu
  done
}
# What earlier runs have kept in the user's cache is read when a model opens, and would count.
work() {
  XDG_CACHE_HOME=$parts/work/cache GEMWIRE_WGPU=off GEMWIRE_ADAPTER=llvmpipe ./bin/lab bench smoke --against testdata/bench-smoke.json
}

# What both have.
shared_parts() {
  part lint limit=1200 inputs=. scripts/lint.sh "${packages[@]}"
  part web-tools after=setup prepare web 'browser tests'
  part bundle after=web-tools inputs="$browser_engine" output=bindings/wasm/npm/dist/gemwire.wasm browser scripts/wasm.sh
  part types after=bundle inputs=bindings/wasm/npm browser npm run check --silent --prefix bindings/wasm/npm
  part logic after=bundle inputs='examples/web bindings/wasm/npm' browser npm test --silent --prefix examples/web
  part c-archive after=setup inputs="$engine bindings/c" output="dist/c/$(go env GOOS)-$(go env GOARCH)/libgemwire.a" scripts/c-library.sh archive
  # The driver keeps the kernels that other tests have compiled: two at once compile them twice.
  part c-static after=c-archive behind=go inputs="$engine bindings/c testdata" scripts/test-c.sh header static
}

# What ends a run: the tests have left the checkout as it was.
last_part() {
  git status --porcelain >"$parts/status" 2>/dev/null || return 0 # no clone
  part clean behind="$(IFS=,; echo "${part_names[*]}")" scripts/test-clean.sh after "$parts/status"
}

quick() {
  part setup scripts/setup.sh packages
  # First, as it takes longest.
  part go after=setup limit=1800 scripts/test-go.sh "${packages[@]}"
  shared_parts
  part modules after=setup inputs=. scripts/test-clean.sh
  part clients-smoke after=setup inputs="$engine tools" scripts/test-clients.sh smoke
  part app-pass after=bundle inputs="$browser_engine examples/web" browser npm run e2e --silent --prefix examples/web -- 'real: the first answer'
  last_part
}

# A budget leaves out those with takes=: seconds on two idle cores, beside one other part.
all() {
  other_libraries=1
  part setup scripts/setup.sh all
  part other-libraries after=setup scripts/setup.sh libraries
  shared_parts
  part commands after=setup build_commands
  part app-lint after=bundle takes=90 inputs='examples/web bindings/wasm/npm' browser npm run lint --silent --prefix examples/web
  part clients after=setup takes=60 inputs="$engine tools" scripts/test-clients.sh
  part nginx after=setup takes=8 inputs='docker tools' scripts/test-nginx.sh
  part nginx-streams after=setup takes=55 inputs="$engine tools examples/serve" scripts/test-nginx-streams.sh
  part prose after=setup takes=25 inputs='docs tools examples bindings' scripts/prose.sh
  part s3 after=setup takes=120 inputs="$engine tools" scripts/test-s3.sh
  part slurm after=setup takes=240 inputs="$engine tools examples/batch" scripts/test-slurm.sh
  part parallel after=setup takes=100 inputs="$engine tools examples/batch" scripts/test-parallel.sh
  part beam after=setup takes=240 inputs="$engine tools examples/beam" scripts/test-beam.sh
  part kubernetes after=setup takes=110 inputs=examples/batch scripts/test-kubernetes.sh
  part c-shared after=setup,other-libraries takes=70 inputs="$engine bindings/c testdata" c_library shared shared installed python swift
  part c-rounds after=c-archive takes=100 inputs="$engine bindings/c testdata" scripts/test-c.sh rounds
  part c-gpu after=c-archive takes=200 inputs="$engine bindings/c testdata" scripts/test-c.sh gpu
  part work after=commands takes=150 work
  part docs after=commands,bundle takes=115 scripts/docs.sh test
  part app after=bundle,commands takes=420 limit=2400 inputs="$browser_engine examples/web tools" browser npm run e2e --silent --prefix examples/web
  part app-nginx after=app takes=30 inputs="$browser_engine examples/web docker" browser scripts/test-nginx.sh app
  part package after=bundle,commands takes=480 limit=2400 inputs="$browser_engine tools" browser node bindings/wasm/npm/test/run.mjs
  part release after=commands takes=130 ./bin/lab release check
  part bench-page after=bundle,commands takes=120 inputs="$browser_engine examples tools" browser node examples/bench/test.mjs --real
  part trained after=commands,other-libraries takes=400 inputs="$engine tools testdata scripts" trained
  part nocgo after=other-libraries takes=420 limit=2400 inputs="$engine tools testdata scripts" scripts/test-nocgo.sh
  part go-all-gguf after=other-libraries takes=120 go_all quant gguf
  part go-all-tools after=other-libraries takes=240 go_all tools bindings/c bindings/wasm
  part go-all-multimodal after=other-libraries takes=300 limit=3600 go_all multimodal
  part go-all-finetune after=other-libraries takes=300 limit=3600 go_all finetune
  part go-all-gemma4 after=other-libraries takes=420 limit=3600 go_all gemma4
  part go-all-wgslkit after=other-libraries takes=600 limit=3600 go_all wgslkit
  part kernels after=bundle takes=900 limit=5400 inputs="$browser_engine" browser env GEMWIRE_TEST_ALL=1 node bindings/wasm/browsertest/run.mjs
  part race after=other-libraries takes=600 limit=7200 race
  part fuzz-1 after=setup takes=300 limit=7200 env FUZZTIME="${FUZZTIME:-60s}" scripts/fuzz.sh 1/2
  part fuzz-2 after=setup takes=300 limit=7200 env FUZZTIME="${FUZZTIME:-60s}" scripts/fuzz.sh 2/2
  last_part
}

# some: parts that others have among theirs.
some() { part dawn after=other-libraries browser scripts/test-dawn.sh; }

# only NAME…: of all parts, these.
only() {
  local name wanted=()
  for name in "$@"; do
    [[ -d "$parts/$name" ]] || { echo "test: there is no part '$name'; scripts/test.sh list names them" >&2; exit 2; }
    wanted+=("$name")
  done
  for name in "${part_names[@]}"; do [[ " $* " == *" $name "* ]] || rm -rf "${parts:?}/$name"; done
  part_names=("${wanted[@]}")
}

case "${1:?usage: scripts/test.sh quick|all|list|PART…}" in
  quick) quick ;;
  all) all ;;
  list)
    quick && all && some
    printf '%s\n' "${part_names[@]}" | sort -u
    exit
    ;;
  *)
    quick && all && some
    only "$@"
    ;;
esac
run_parts "${GEMWIRE_TEST_JOBS:-2}"
