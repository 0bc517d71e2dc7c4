#!/usr/bin/env bash
# Runs every fuzz target of the modules given for FUZZTIME each.
set -euo pipefail

for module in "$@"; do
  while IFS=: read -r file target; do
    dir=$(dirname "$file")
    echo "fuzz: $target in $dir"
    (cd "$dir" && go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" .)
  done < <(grep -rnoE --include='*_test.go' 'func Fuzz\w+' "$module" | sed -E 's/^([^:]+):[0-9]+:func (Fuzz\w+)$/\1:\2/' | sort -u)
done
