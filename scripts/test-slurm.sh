#!/usr/bin/env bash
# Runs examples/batch/slurm/job.sh on a real Slurm of two nodes on this machine. One node is killed in the middle, its
# task is queued again on the other, and in the end each request has one answer.
#
#   scripts/test-slurm.sh
#
# It needs root and Debian's packages, which scripts/setup.sh slurm installs. Without them it is skipped; with
# GEMWIRE_REQUIRE_SLURM=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! scripts/setup.sh slurm; then
  skip GEMWIRE_REQUIRE_SLURM 'Slurm, because of what is missing above'
fi
export PATH=$PATH:/usr/sbin
dir=$(mktemp -d)
pids=()
# with_open PATTERN: the processes with such an open file. Those of Slurm have no better mark: they hide their
# environment, and tasks are in sessions of their own.
with_open() { find /proc/[0-9]*/fd -lname "$dir/$1" 2>/dev/null | cut -d/ -f3 | sort -u; }
end() {
  set +e
  [[ -z "${job:-}" ]] || scancel "$job" 2>/dev/null
  # shellcheck disable=SC2046
  kill "${pids[@]}" $(with_open '*') 2>/dev/null
  for _ in {1..50}; do
    [[ -n "$(with_open '*')" ]] || break
    sleep 0.1
  done
  # shellcheck disable=SC2046
  kill -9 "${pids[@]}" $(with_open '*') 2>/dev/null
  wait 2>/dev/null
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 143' INT TERM

# A key, a socket and ports of its own, beside any other Slurm.
chmod 755 "$dir"
mkdir -p "$dir"/{munge,state,n1,n2,bin}
head -c 1024 /dev/urandom >"$dir/munge/key"
chmod 400 "$dir/munge/key"
munged -F --socket="$dir/munge/socket" --key-file="$dir/munge/key" --log-file="$dir/munge/log" \
  --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed" --force >"$dir/munge/out" 2>&1 &
pids+=($!)
read -r -a ports < <(python3 -c '
import socket
held = [socket.socket() for _ in range(3)]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))')
host=$(hostname -s)
cat >"$dir/slurm.conf" <<END
ClusterName=gemwire
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=300
SchedulerParameters=sched_interval=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
END
export SLURM_CONF=$dir/slurm.conf
go build -o "$dir/bin/gemwire" ./tools/cmd/gemwire
slurmctld -D >"$dir/out.log" 2>&1 &
pids+=($!)
declare -A node
for n in n1 n2; do
  slurmd -D -N "$n" >"$dir/$n.out.log" 2>&1 &
  node[$n]=$!
  pids+=($!)
done

# fail SENTENCE ends the test and shows the logs.
fail() {
  echo "test-slurm: $1" >&2
  tail -n 15 "$dir"/*.log >&2
  exit 1
}
# await SECONDS COMMAND… waits until a command succeeds.
await() {
  local i
  for ((i = 0; i < $1 * 10; i++)); do
    "${@:2}" && return
    sleep 0.1
  done
  return 1
}
both_idle() { [[ "$(sinfo -h -N -o '%T' 2>/dev/null | sort -u)" == idle ]]; }
await 180 both_idle || fail "the nodes do not come up: $(sinfo -N -l 2>&1)"
echo 'ok   two nodes'

requests=1600
for ((i = 0; i < requests; i++)); do
  echo '{"custom_id":"q'$i'","method":"POST","url":"/v1/chat/completions","body":{"temperature":0,"messages":[{"role":"user","content":"What is the capital of France?"}]}}'
done >"$dir/requests.jsonl"
job=$(cd "$dir" && PATH=$dir/bin:$PATH REQUESTS=$dir/requests.jsonl ANSWERS=$dir/answers MODEL=nano \
  GEMWIRE_ARGS='--device cpu --parallel 1' \
  sbatch --parsable --array=0-3 --cpus-per-task=2 --export=ALL "$OLDPWD/examples/batch/slurm/job.sh")
answered() { cat "$dir"/answers.*.jsonl 2>/dev/null | wc -l; }
some_on_n2() { (($(answered) > 100)) && [[ -n "$(squeue -h -t R -w n2 -o %i)" ]]; }
await 300 some_on_n2 || fail "no task runs on the second node: $(squeue 2>&1)"

# The node dies with all that runs on it.
task=$(squeue -h -t R -w n2 -o '%K' | head -1)
# shellcheck disable=SC2046
kill -9 "${node[n2]}" $(with_open n2.log) $(with_open "gemwire-*-$task.log") || true
before=$(answered)
((before < requests)) || fail 'all was answered before the node died'
scontrol update nodename=n2 state=down reason=killed
echo "ok   the second node was killed with task $task, after $before answers of $requests"

# Slurm lets a task wait for two minutes before it starts again, which the test need not.
queued_again() { [[ "$(squeue -h -t PD -o '%F_%K' | grep -c "_$task$")" == 1 ]]; }
await 180 queued_again || fail "task $task is not queued again: $(squeue 2>&1)"
scontrol update jobid="${job}_$task" StartTime=now

finished() { [[ -z "$(squeue -h)" ]]; }
await 900 finished || fail "the job does not end: $(squeue 2>&1)"
grep -q 'answered before' "$dir"/gemwire-*-"$task".log || fail "task $task did not continue: $(cat "$dir"/gemwire-*-"$task".log)"
paste -d '\n' "$dir"/answers.{0..3}.jsonl | grep -v '^$' >"$dir/answers.jsonl"
grep -o '"custom_id":"[^"]*"' "$dir/requests.jsonl" >"$dir/asked"
grep -o '"custom_id":"[^"]*"' "$dir/answers.jsonl" >"$dir/answered"
cmp "$dir/asked" "$dir/answered" || fail 'requests and answers differ'
(($(grep -c Paris "$dir/answers.jsonl") == requests)) || fail 'some answers are wrong'
echo "ok   task $task was queued again, and each request has one answer"
