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
# GEMWIRE_TEST_JOBS    parts that run at once (one more than there are cores, three at most)
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

go_all() { GEMWIRE_TEST_ALL=1 GEMWIRE_REQUIRE_DAWN="${GEMWIRE_REQUIRE_BROWSER:-}" scripts/test-go.sh "${packages[@]}"; }
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

quick_parts() {
  part setup scripts/setup.sh "$1"
  part lint inputs=. scripts/lint.sh "${packages[@]}"
  part web-tools after=setup prepare web 'browser tests'
  part bundle after=web-tools inputs="$browser_engine" output=bindings/wasm/npm/dist/gemwire.wasm browser scripts/wasm.sh
  part "$2" after=setup "${@:3}"
  part types after=bundle inputs=bindings/wasm/npm browser npm run check --silent --prefix bindings/wasm/npm
  part logic after=bundle inputs='examples/web bindings/wasm/npm' browser npm test --silent --prefix examples/web
  part c-static after=setup inputs="$engine bindings/c testdata" c_library archive header static
}

quick() {
  quick_parts packages go scripts/test-go.sh "${packages[@]}"
  part clients-smoke after=setup inputs="$engine tools" scripts/test-clients.sh smoke
  part app-pass after=bundle inputs="$browser_engine examples/web" browser npm run e2e --silent --prefix examples/web -- 'real: the first answer'
}

all() {
  local until=${GEMWIRE_TEST_UNTIL:-}
  other_libraries=1
  part other-libraries after=setup scripts/setup.sh libraries
  quick_parts all go-all after=other-libraries go_all
  part commands after=setup build_commands
  part kernels after=bundle inputs="$browser_engine" browser env GEMWIRE_TEST_ALL=1 node bindings/wasm/browsertest/run.mjs
  part app after=bundle,commands inputs="$browser_engine examples/web tools" browser npm run e2e --silent --prefix examples/web
  part package after=bundle,commands inputs="$browser_engine tools" browser node bindings/wasm/npm/test/run.mjs
  part c-shared after=c-static,other-libraries inputs="$engine bindings/c testdata" c_library shared shared installed python swift
  part c-rounds after=c-static inputs="$engine bindings/c testdata" scripts/test-c.sh rounds
  part app-lint after=bundle inputs='examples/web bindings/wasm/npm' browser npm run lint --silent --prefix examples/web
  part app-nginx after=app inputs="$browser_engine examples/web docker" browser scripts/test-nginx.sh app
  part clients after=setup inputs="$engine tools" scripts/test-clients.sh
  part nginx after=setup inputs='docker tools' scripts/test-nginx.sh
  part nginx-streams after=setup inputs="$engine tools examples/serve" scripts/test-nginx-streams.sh
  part work after=commands work
  part release after=commands ./bin/lab release check
  part docs after=commands,bundle scripts/docs.sh test
  part prose after=setup scripts/prose.sh
  part nocgo after=other-libraries until="$until" inputs="$engine tools testdata scripts" scripts/test-nocgo.sh
  part s3 after=setup until="$until" inputs="$engine tools" scripts/test-s3.sh
  part race after=other-libraries until="$until" race
  part bench-page after=bundle,commands until="$until" inputs="$browser_engine examples tools" browser node examples/bench/test.mjs --real
  part trained after=commands,other-libraries until="$until" inputs="$engine tools testdata scripts" trained
  part slurm after=setup until="$until" inputs="$engine tools examples/batch" scripts/test-slurm.sh
  part parallel after=setup until="$until" inputs="$engine tools examples/batch" scripts/test-parallel.sh
  part beam after=setup until="$until" inputs="$engine tools examples/beam" scripts/test-beam.sh
  part kubernetes after=setup until="$until" inputs=examples/batch scripts/test-kubernetes.sh
  part fuzz-1 after=setup until="$until" env FUZZTIME="${FUZZTIME:-60s}" scripts/fuzz.sh 1/2
  part fuzz-2 after=setup until="$until" env FUZZTIME="${FUZZTIME:-60s}" scripts/fuzz.sh 2/2
}

# some: parts that others have among theirs.
some() { part dawn after=other-libraries browser scripts/test-dawn.sh; }

jobs() { getconf _NPROCESSORS_ONLN 2>/dev/null | awk '{ print ($1 < 2 ? $1 : 2) + 1 }'; }

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
run_parts "${GEMWIRE_TEST_JOBS:-$(jobs)}"
