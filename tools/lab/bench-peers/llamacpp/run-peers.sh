#!/usr/bin/env bash
# Measures llama.cpp's CUDA and Vulkan backends on one model, with what prepare.sh packed beside this script.
#
#   run-peers.sh MODEL.gguf [NANO.gguf]
#
# Writes llamacpp-cuda.json and llamacpp-vulkan.json (a list: one entry per run of PEER_RUNS) and llamacpp.log to $OUT, or
# to the current folder, and prints a table. NANO, the small model of this repository, is answered first to see that
# the backend computes the right thing.
#
#   PEER_BACKENDS  which to run                                             ("cuda vulkan")
#   PEER_RUNS      prompt tokens:decoded tokens:microbatch, several of them ("512:128:512 2048:128:2048")
#   PEER_REPS      measured repetitions of each                             (5)
#   PEER_THREADS   threads for what llama.cpp keeps on the CPU                (4)
#   PEER_DEVICE    gpu, cpu, or part of a device's name                     (gpu)
#   PEER_DIR       where to unpack                                          (/tmp/gemwire-peers)
set -euo pipefail

backends=${PEER_BACKENDS:-cuda vulkan}
runs=${PEER_RUNS:-512:128:512 2048:128:2048}
reps=${PEER_REPS:-5}
threads=${PEER_THREADS:-4}
device=${PEER_DEVICE:-gpu}
peers=${PEER_DIR:-/tmp/gemwire-peers}
out=${OUT:-.}

fail() {
	echo "run-peers: $*" >&2
	exit 1
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	fail "usage: run-peers.sh MODEL.gguf [NANO.gguf]"
fi
model=$1
nano=${2:-}
[ -f "$model" ] || fail "$model: no such file"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
log="$out/llamacpp.log"
: >"$log"

unpack() {
	[ -x "$peers/llamacpp-bench" ] && return
	mkdir -p "$peers"
	# Python reads xz on machines that lack the program.
	python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/peers.tar.xz" "$peers"
}

# cuda_runtime prints the folder of the CUDA runtime and cuBLAS: PyTorch's packages, or an installed toolkit.
cuda_runtime() {
	local folder
	for folder in $(python3 -c 'import sys; print("\n".join(p + "/nvidia/cu13/lib" for p in sys.path if p))') \
		/usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
		if [ -e "$folder/libcudart.so.13" ] && [ -e "$folder/libcublas.so.13" ]; then
			echo "$folder"
			return
		fi
	done
	find / -xdev -name 'libcublas.so.13' -printf '%h\n' 2>/dev/null | head -n 1
}

# The driver's own folder is only asked when no driver is registered where Vulkan's loader looks.
find_vulkan_driver() {
	local own=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
	if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$own" ] &&
		! compgen -G '/usr/share/vulkan/icd.d/nvidia*' >/dev/null && ! compgen -G '/etc/vulkan/icd.d/nvidia*' >/dev/null; then
		export VK_DRIVER_FILES=$own
	fi
}

# text_part MODEL NAME prints a path to the model without towers, which llama.cpp refuses in the same file.
text_part() {
	local text="$peers/$2-text.gguf"
	python3 "$peers/text_only.py" "$1" "$text" >>"$log"
	echo "$text"
}

bench() {
	local backend=$1
	shift
	"$peers/llamacpp-bench" --libs "$peers/$backend" --device "$device" --threads "$threads" "$@"
}

check_answer() {
	local answer
	answer=$(bench "$1" --model "$nano_text" --answer --decode 16 \
		--text $'<bos><|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n' 2>>"$log") ||
		return 1
	echo "$answer" >>"$log"
	case $answer in
	*'Paris is the capital of France.'*) ;;
	*) return 1 ;;
	esac
}

measure() {
	local backend=$1 json="$out/llamacpp-$1.json" separator='[' run prompt decode microbatch
	: >"$json"
	for run in $runs; do
		IFS=: read -r prompt decode microbatch <<<"$run"
		echo "$separator" >>"$json"
		bench "$backend" --model "$model_text" --prompt "$prompt" --decode "$decode" \
			--microbatch "$microbatch" --reps "$reps" >>"$json" 2>>"$log" || return 1
		separator=','
	done
	echo ']' >>"$json"
}

print_table() {
	python3 - "$@" <<'PYTHON'
import json, sys
for path in sys.argv[1:]:
    for r in json.load(open(path)):
        print(f"{r['device']} ({r['device_description']}), llama.cpp {r['version']}, {r['model_description']}, "
              f"{r['model_bytes'] / 1e6:.0f} MB, flash attention {r['flash_attention']}, nodes {r['graph_nodes']}")
        for name, t in r["choices"].items():
            if t is None:
                print(f"  {name:17} not supported")
                continue
            p, d = t["prefill"]["tokens_per_second"], t["decode"]["tokens_per_second"]
            print(f"  {name:17} prefill {r['prompt_tokens']:5} (ub {r['microbatch']:4}): {p['median']:9.1f} tok/s "
                  f"[{p['min']:.1f}-{p['max']:.1f}]   decode {r['decode_tokens']:4}: {d['median']:8.1f} tok/s "
                  f"[{d['min']:.1f}-{d['max']:.1f}]  {t['decode']['ms_per_token']['median']:.3f} ms")
PYTHON
}

unpack
model_text=$(text_part "$model" model)
if [ -n "$nano" ]; then
	nano_text=$(text_part "$nano" nano)
fi
find_vulkan_driver
runtime=$(cuda_runtime || true)
export LD_LIBRARY_PATH="${runtime:+$runtime:}/usr/local/nvidia/lib64:/usr/local/nvidia/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# explain BACKEND WHAT prints the end of the log and the libraries that the backend lacks here: llama.cpp names none.
explain() {
	echo "run-peers: $1 $2; see $log" >&2
	tail -n 15 "$log" >&2
	ldd "$peers/$1/libggml-$1.so" | grep 'not found' >&2 || true
}

measured=()
for backend in $backends; do
	if [ -n "$nano" ] && ! check_answer "$backend"; then
		explain "$backend" "does not answer the small model's question"
	elif measure "$backend"; then
		measured+=("$out/llamacpp-$backend.json")
	else
		explain "$backend" "could not be measured"
	fi
done
[ ${#measured[@]} -gt 0 ] || fail "no backend could be measured"
print_table "${measured[@]}"
