#!/usr/bin/env bash
# A file of requests, answered by several GPUs of one machine, with GNU parallel: one shard each.
#
#   examples/batch/parallel.sh requests.jsonl answers.jsonl gemma4:e2b "RTX 4090" "RTX 3090"
#
# The last arguments are parts of the GPUs' names, as gemwire doctor shows them; without any, two shards share the
# first. A shard that fails is tried again, and whatever stops it all, the same command continues.
set -euo pipefail
requests=$1 answers=$2 model=$3
shift 3

if (($# == 0)); then
  set -- '' ''
fi
shards=$#
parallel --jobs "$shards" --retries 3 --line-buffer --tagstring 'shard {1}' \
  gemwire batch "$requests" -o "$answers.{1}" --model "$model" --shard "{1}/$shards" \
  '{=2 $_ = $_ eq "" ? "" : "--gpu " . ::shell_quote_scalar($_); uq() =}' ${GEMWIRE_ARGS:-} \
  ::: $(seq 0 $((shards - 1))) :::+ "$@"
parts=()
for ((i = 0; i < shards; i++)); do
  parts+=("$answers.$i")
done
# The shards take turns, so lines taken in turns are in the order of the requests.
paste -d '\n' "${parts[@]}" | grep -v '^$' >"$answers"
rm "${parts[@]}"
