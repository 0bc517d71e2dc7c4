#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (30s) each, or with that many inputs (2000x).
#
#   scripts/fuzz.sh [N/OF]   a share of them, with one worker, so that several shares can run at once
#
# An input that is new is made shorter in a few tries alone: Go would spend a minute on it and try nothing else. A target
# that tried fewer than LEAST (100) inputs fails: its seeds are too heavy to find anything.
set -euo pipefail
cd "$(dirname "$0")/.."

share=${1:-1/1}
first=${share%/*} of=${share#*/}
options=()
if ((of > 1)); then options=(-parallel=1); fi

passed=0 failed=0 n=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz DIR TARGET
fuzz() {
  local status=0 tried
  (cd "$1" && go test -vet=off -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 10x \
    ${options[@]+"${options[@]}"} .) >"$log" 2>&1 || status=$?
  tried=$(sed -nE 's/^fuzz: elapsed: [^,]*, execs: ([0-9]+) .*/\1/p' "$log" | tail -n 1)
  printf 'fuzz: %-16s %-24s %10d inputs\n' "$2" "$1" "${tried:-0}"
  if ((status == 0 && ${tried:-0} >= ${LEAST:-100})); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $2 in $1, exit status $status"
    tail -n 30 "$log"
  fi
}

while IFS=: read -r file target; do
  n=$((n + 1))
  if (((n - first) % of == 0)); then fuzz "$(dirname "$file")" "$target"; fi
done < <(git grep -noE 'func Fuzz\w+' -- '*_test.go' | sed -E 's/^([^:]+):[0-9]+:func (Fuzz\w+)$/\1:\2/' | sort -u)
printf '\n%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0))
