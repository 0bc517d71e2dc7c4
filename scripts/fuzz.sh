#!/usr/bin/env bash
# Runs every fuzz target of the modules given for FUZZTIME each. An input that is new is
# made shorter in a few tries alone: Go would spend a minute on it and try nothing else.
set -euo pipefail

for module in "$@"; do
  while IFS=: read -r file target; do
    dir=$(dirname "$file")
    echo "fuzz: $target in $dir"
    (cd "$dir" && go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 10x .)
  done < <(grep -rnoE --include='*_test.go' 'func Fuzz\w+' "$module" | sed -E 's/^([^:]+):[0-9]+:func (Fuzz\w+)$/\1:\2/' | sort -u)
done
