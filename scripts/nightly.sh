#!/usr/bin/env bash
# Splits `make test-all` into jobs for .github/workflows/nightly.yml, and prints them as JSON: the name of each, its
# parts, and the packages for the race detector.
#
# The parts are those of `scripts/test.sh list`. One that is not named here gets a job of its own, so that no new part is
# forgotten.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each job begins with what its parts come after.
first='setup web-tools other-libraries bundle commands'
# Parts (or patterns) that take long and need nothing for browsers. Each gets a job of its own.
long='go-all* fuzz-* race trained'
first_of_long='setup other-libraries commands'
# Short parts that share a job: its name, then the parts.
together='
app app app-lint app-nginx
browser kernels package types logic bench-page dawn
c c-archive c-static c-gpu c-shared c-rounds
clients clients nginx nginx-streams nocgo
jobs slurm parallel beam kubernetes s3
words lint modules docs prose release work
'
# Parts of `make test` that others include.
less='go app-pass clients-smoke clean'

parts=$(scripts/test.sh list)
jobs=() named=
job() { jobs+=("{\"name\":\"$1\",\"parts\":\"$2\",\"race\":\"${3:-}\"}"); }

modules() { awk '$1 ~ /^\.\// { print substr($1, 3) }' go.work; }

# is NAME PATTERN…
is() {
  local pattern
  # shellcheck disable=SC2053
  for pattern in "${@:2}"; do if [[ "$1" == $pattern ]]; then return; fi; done
  return 1
}

set -f # patterns are for names of parts, not of files
while read -r name list; do
  [[ -n "$name" ]] || continue
  for part in $list; do
    grep -xF -- "$part" <<<"$parts" >/dev/null || { echo "nightly: there is no part '$part' any more" >&2; exit 1; }
  done
  job "$name" "$first $list"
  named+=" $list"
done <<<"$together"

for part in $parts; do
  # shellcheck disable=SC2086
  if is "$part" $first $named $less; then
    continue
  elif [[ "$part" == race ]]; then
    # The detector makes tests several times slower: a job for each module.
    while read -r module; do job "race $module" "$first_of_long race" "./$module/..."; done < <(modules)
  elif is "$part" $long; then
    job "$part" "$first_of_long $part"
  else
    job "$part" "$first $part"
  fi
done
(
  IFS=,
  echo "[${jobs[*]}]"
)
