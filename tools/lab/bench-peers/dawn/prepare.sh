#!/usr/bin/env bash
# Puts what bench.mjs needs into one folder, laid out as the repository is, to be carried to a GPU machine that has Node 20
# or newer and no network.
#
#   tools/lab/bench-peers/dawn/prepare.sh FOLDER
#
# The package (make wasm) and the command (make build) have to be built. PLATFORM names the machine: linux-x64 (default),
# linux-arm64 or darwin-universal; gemwire is copied as it was built here.
set -euo pipefail

fail() {
	echo "prepare: $*" >&2
	exit 1
}

[ $# -eq 1 ] || fail "usage: prepare.sh FOLDER"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)
platform=${PLATFORM:-linux-x64}
[ -f "$root/bindings/wasm/npm/dist/worker.js" ] || fail "the package is missing: run 'make wasm'"
[ -x "$root/bin/gemwire" ] || fail "bin/gemwire is missing: run 'make build'"
[ -d "$here/node_modules/webgpu" ] || npm ci --prefix "$here" --ignore-scripts --no-audit --no-fund --loglevel=error
webgpu=$here/node_modules/webgpu
[ -f "$webgpu/dist/$platform/dawn.node" ] || fail "webgpu has nothing for PLATFORM=$platform"

dawn=tools/lab/bench-peers/dawn
npm=bindings/wasm/npm
mkdir -p "$1"/{bin,gemma4/nano,$npm/{bench,dist},$dawn/node_modules/webgpu/dist/$platform}
cp "$root/bin/gemwire" "$1/bin/"
cp "$root/gemma4/nano/nano.gguf" "$1/gemma4/nano/"
cp "$root/$npm/bench/phases.mjs" "$1/$npm/bench/"
cp "$root/$npm"/dist/{index.js,worker.js,gemwire.wasm} "$1/$npm/dist/"
cp "$here"/{bench.mjs,host.mjs,package.json} "$1/$dawn/"
cp "$webgpu/index.js" "$webgpu/package.json" "$1/$dawn/node_modules/webgpu/"
cp "$webgpu/dist/$platform/dawn.node" "$1/$dawn/node_modules/webgpu/dist/$platform/"
du -ah "$1" | sort -k 2
echo "there: node $dawn/bench.mjs --model FILE.gguf --adapter NAME"
