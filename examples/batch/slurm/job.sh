#!/usr/bin/env bash
# A file of requests, answered by the nodes of a Slurm cluster: one shard each.
#
#   REQUESTS=requests.jsonl ANSWERS=answers MODEL=gemma4:e2b sbatch --array=0-7 --gpus-per-node=1 job.sh
#
# The paths are on storage that all nodes share. A task whose node fails is queued again and continues where its
# answers end. At the end, this puts them in the order of the requests:
#
#   paste -d '\n' answers.{0..7}.jsonl | grep -v '^$' > answers.jsonl
#
#SBATCH --job-name=gemwire
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=gemwire-%A-%a.log
set -euo pipefail
: "${REQUESTS:?}" "${ANSWERS:?}" "${MODEL:?}"

exec gemwire batch "$REQUESTS" -o "$ANSWERS.$SLURM_ARRAY_TASK_ID.jsonl" --model "$MODEL" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" ${GEMWIRE_ARGS:-}
