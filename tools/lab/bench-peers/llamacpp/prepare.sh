#!/usr/bin/env bash
# Packs llama.cpp's prebuilt Vulkan and CUDA backends, the benchmark, and the script that runs it into one folder, to be
# carried to a GPU machine that has no network. Needs npm, python3 with pip, zstd, xz and a C compiler.
#
#   tools/lab/bench-peers/llamacpp/prepare.sh FOLDER [WORK]
#
# FOLDER receives peers.tar.xz and run-peers.sh. WORK (default: a temporary folder) keeps the downloads and the compiled
# kernels, so that a second run is quick; the first compiles for about ten minutes on one core.
#
#   PEERS_VERSION  version of npm's @node-llama-cpp packages; abi.h is written for this one   (3.22.1)
#   NVCC_VERSION   version of PyPI's nvidia-cuda-nvcc: not newer than the target's driver      (13.0.88)
#   PTX_ISA        PTX version which that compiler reads                                       (9.0)
#   CUDA_ARCH      compute capability of the target, without the dot                           (90)
#   JOBS           compilers at once                                                           (1)
set -euo pipefail

peers_version=${PEERS_VERSION:-3.22.1}
nvcc_version=${NVCC_VERSION:-13.0.88}
ptx_isa=${PTX_ISA:-9.0}
cuda_arch=${CUDA_ARCH:-90}
jobs=${JOBS:-1}
# The rest of the CPU backend's variants is for older processors than a GPU server has.
cpu_variants=(sapphirerapids icelake cascadelake zen4 haswell x64)

fail() {
	echo "prepare: $*" >&2
	exit 1
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	fail "usage: prepare.sh FOLDER [WORK]"
fi
for tool in npm python3 zstd xz cc make tar; do
	command -v "$tool" >/dev/null || fail "$tool is missing"
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [ $# -eq 2 ]; then
	mkdir -p "$2"
	work=$(cd "$2" && pwd)
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi

# fetch_backend NAME leaves the package's libraries in $work/NAME.
fetch_backend() {
	local package="linux-x64-$1"
	if [ ! -d "$work/$1" ]; then
		(cd "$work" && npm pack --silent "@node-llama-cpp/$package@$peers_version" >/dev/null 2>&1) ||
			fail "npm could not fetch @node-llama-cpp/$package@$peers_version"
		mkdir "$work/$1"
		tar -xzf "$work/node-llama-cpp-$package-$peers_version.tgz" -C "$work/$1" \
			--strip-components=3 "package/bins/$package"
	fi
}

fetch_compiler() {
	if [ ! -d "$work/nvcc" ]; then
		python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$work/wheel" \
			"nvidia-cuda-nvcc==$nvcc_version" || fail "pip could not fetch nvidia-cuda-nvcc $nvcc_version"
		python3 -m zipfile -e "$work"/wheel/nvidia_cuda_nvcc-*.whl "$work/nvcc"
		chmod +x "$work"/nvcc/nvidia/cu13/bin/*
	fi
}

# pick BACKEND copies what the benchmark opens of one package into the stage.
pick() {
	local to="$stage/$1"
	mkdir -p "$to"
	cp "$work/$1/libggml-base.so" "$work/$1/libggml.$1".*.so "$work/$1/libllama.$1".*.so "$to/"
	local variant
	for variant in "${cpu_variants[@]}"; do
		cp "$work/$1/libggml-cpu-$variant.so" "$to/"
	done
}

fetch_backend vulkan
fetch_backend cuda
fetch_compiler

stage="$work/stage"
rm -rf "$stage"
pick vulkan
cp "$work/vulkan/libggml-vulkan.so" "$stage/vulkan/"
pick cuda
python3 "$here/retarget_cuda.py" "$work/cuda/libggml-cuda.so" "$stage/cuda/libggml-cuda.so" \
	--tools "$work/nvcc/nvidia/cu13/bin" --cache "$work/cubins-$cuda_arch" \
	--arch "$cuda_arch" --isa "$ptx_isa" --jobs "$jobs"

make -s -C "$here" BUILD="$stage"
cp "$here/text_only.py" "$stage/"
find "$stage" -exec touch -h -d @0 {} +
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$stage" -cf - . |
	xz -9e --lzma2=preset=9e,dict=256MiB >"$folder/peers.tar.xz"
cp "$here/run-peers.sh" "$folder/"
ls -l "$folder"
