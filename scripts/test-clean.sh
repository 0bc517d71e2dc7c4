#!/usr/bin/env bash
# A clone stays as it was checked out.
#
#   scripts/test-clean.sh              what `go list -m all`, `go work sync` and `go mod tidy` would write: nothing. They
#                                      work on a copy of the Go files, so that a fault stays out of the checkout
#   scripts/test-clean.sh after [FILE] after the tests: git sees no change. FILE holds what `git status --porcelain` said
#                                      before them, for a checkout that is being worked in: its lines are no fault
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ "${1:-}" == after ]]; then
  left=$(git status --porcelain | grep -vxFf "${2:-/dev/null}" || true)
  if [[ -n "$left" ]]; then
    printf 'test-clean: the tests have left changes in the checkout:\n%s\n' "$left" >&2
    exit 1
  fi
  exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The user's settings must not decide: with -mod=mod or a vendor folder, go writes other files.
export GOFLAGS='' GOWORK=''
copy=$work/copy
mkdir "$copy"

# Of all that git knows and that is there: the Go files, for their imports, and what go may write.
git ls-files -z --cached --others --exclude-standard -- '*.go' '*go.mod' '*go.sum' go.work go.work.sum |
  while IFS= read -r -d '' file; do [[ ! -e "$file" ]] || printf '%s\0' "$file"; done |
  tar --null -T - -cf - | tar -xf - -C "$copy"
git -C "$copy" init --quiet
git -C "$copy" add --all --force

# runs FOLDER COMMAND… runs it there. Without a network it cannot be known what it would write.
runs() {
  if (cd "$1" && "${@:2}") >/dev/null 2>"$work/said"; then return; fi
  if grep -E 'dial tcp|no such host|i/o timeout|module lookup disabled' "$work/said" >/dev/null; then
    echo "skipped: whether ${*:2} changes a clone, without a module proxy"
    exit 0
  fi
  printf 'test-clean: %s fails in %s:\n' "${*:2}" "$1" >&2
  cat "$work/said" >&2
  exit 1
}

# changes_nothing COMMAND names the files that it wrote, with the first of their lines. They are then taken as they are,
# so that the next command does not answer for them.
faults=0
changes_nothing() {
  local changed
  changed=$(git -C "$copy" diff --name-only && git -C "$copy" ls-files --others)
  [[ -n "$changed" ]] || return 0
  printf 'test-clean: %s changes\n%s\n' "$1" "$changed" >&2
  git -C "$copy" diff --unified=0 | sed -n 1,40p >&2
  git -C "$copy" add --all --force
  faults=$((faults + 1))
}

runs "$copy" go list -m all
changes_nothing 'go list -m all'
runs "$copy" go work sync
changes_nothing 'go work sync'
# Each module on its own, as those have it who fetch it.
export GOWORK=off
for module in $(cd "$copy" && GOWORK='' go list -m -f '{{.Dir}}'); do runs "$module" go mod tidy; done
changes_nothing 'go mod tidy'
echo "$((3 - faults)) passed, $faults failed"
((faults == 0))
