#!/usr/bin/env bash
# Changes the code a little, one operator at a time, and says which changes no test notices.
#
#   scripts/mutate.sh [PACKAGE ...]   such as quant or gemma4/sample; without any, those of the list
#                                     below that differ from where this branch left main, or from the
#                                     commit MUTATE_BASE
#
# A survivor that changes nothing anybody could see stands in scripts/mutate-equivalent.tsv with the
# reason, and is not reported. Fails where fewer than MUTATE_THRESHOLD percent (85) are noticed.
# MUTATE_WORKERS (1) mutants are tested at a time; each takes a build and a run of its package's tests.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
equivalent=$root/scripts/mutate-equivalent.tsv
known=(quant gguf gemma4/sample gemma4/tokenizer gemma4/chat gemma4/cpu finetune/optimizer finetune/schedule finetune)

# settings PACKAGE sets what is special about one: the files to change, the tests to run.
settings() {
  files='' tests='' short=''
  case "$1" in
    finetune) files='order.go' tests='^TestOrder' ;;
    quant) tests="$(fast "$1" '^TestQuantizeWeighted(IsAsGoodAsGGML|FavoursTheImportant|StaysFinite)$')" ;;
    gemma4/tokenizer) tests="$(fast "$1" '^Test(LongTexts|ReleasedVocabularyCases)$')" ;;
    gemma4/cpu) short=1 tests="$(fast "$1" '^Test(BatchesMakeNoDifference|TruncateProperty|ImageAcrossBatches)$')" ;;
  esac
}

# fast PACKAGE SLOW names its tests but the slow ones, which would take minutes for each mutant.
fast() { grep -hoE '^func Test\w+' "$root/$1"/*_test.go | cut -c6- | grep -vE "$2" | sed 's/.*/^&$/' | paste -sd'|'; }

changed() {
  local base package
  base=${MUTATE_BASE:-$(git -C "$root" merge-base HEAD origin/main 2>/dev/null || git -C "$root" merge-base HEAD main)}
  for package in "${known[@]}"; do
    settings "$package"
    git -C "$root" diff --quiet "$base" -- ":(glob)$package/${files:-*.go}" || echo "$package"
  done
}

if (($#)); then packages=("$@"); else mapfile -t packages < <(changed); fi
if ((${#packages[@]} == 0)); then
  echo "mutate: none of ${known[*]} differs from main; PKG=… names one"
  exit 0
fi

gremlins=$("$root/scripts/setup.sh" mutate)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tmp"
GEMWIRE_GO=$(command -v go)
export GEMWIRE_GO GEMWIRE_ROOT=$root TMPDIR=$work/tmp PATH=$work/bin:$PATH GOWORK=off

# gremlins tests a copy of the module, takes a failed build for a test that noticed, and leaves the
# conditions of a switch alone, since coverage does not count them. This go stands in between.
cat >"$work/bin/go" <<'SHIM'
#!/usr/bin/env bash
[[ "$1" == test ]] || exec "$GEMWIRE_GO" "$@"
if [[ "$PWD" == */wd-* ]]; then # what lies beside the module: other modules, testdata
  for beside in "$GEMWIRE_ROOT"/*/; do
    [[ -e "${PWD%%/wd-*}/$(basename "$beside")" ]] || ln -s "${beside%/}" "${PWD%%/wd-*}/"
  done
fi
log=$(mktemp)
profile=$(sed -nE 's/.* -coverprofile ([^ ]+) .*/\1/p' <<<" $* ")
# How long the run with coverage takes is what gremlins gives a mutant, ten times over.
"$GEMWIRE_GO" test -vet=off ${profile:+-count=1} ${GEMWIRE_SHORT:+-short} ${GEMWIRE_TESTS:+-run "$GEMWIRE_TESTS"} "${@:2}" \
  >"$log" 2>&1
status=$?
cat "$log"
if ((status)) && grep -qE '\[(build|setup) failed\]' "$log"; then status=2; fi
rm -f "$log"
if [[ -n "$profile" ]] && ((status == 0)); then
  for file in $(sed -nE 's/^([^:]+\.go):.*/\1/p' "$profile" | sort -u); do
    awk -v f="$file" '/^[ \t]*case .*:$/ { print f ":" NR ".1," NR "." length($0) + 1 " 1 1" }' "${file#"$GEMWIRE_MODULE"/}"
  done >>"$profile"
fi
exit "$status"
SHIM
chmod +x "$work/bin/go"

# mutate PACKAGE writes what became of each mutant to a log.
mutate() {
  local package=$1 module=$root/$1 exclude=(-E /) file
  while [[ ! -e "$module/go.mod" ]]; do module=$(dirname "$module"); done
  local inside=.${root}/$package
  inside=.${inside#".$module"}
  GEMWIRE_MODULE=$(sed -n 's/^module //p' "$module/go.mod")
  settings "$package"
  GEMWIRE_TESTS=$tests GEMWIRE_SHORT=$short
  export GEMWIRE_MODULE GEMWIRE_TESTS GEMWIRE_SHORT
  if [[ -n "$files" ]]; then
    for file in "$root/$package"/*.go; do
      case ",$files," in *",$(basename "$file"),"*) ;; *) exclude+=(-E "^$(basename "$file")\$") ;; esac
    done
  fi
  # Where the copy's tests failed by themselves, each mutant would seem to be noticed.
  mkdir -p "$work/check"
  cp -r "$module" "$work/check/wd-0"
  if ! (cd "$work/check/wd-0/$inside" && nice go test . >"$work/check.log" 2>&1); then
    cat "$work/check.log" >&2
    echo "mutate: the tests of $package fail in a copy of the module" >&2
    return 1
  fi
  rm -rf "$work/check"
  (cd "$module" && nice "$gremlins" unleash --workers "${MUTATE_WORKERS:-1}" --timeout-coefficient "${MUTATE_TIMEOUT:-10}" \
    --invert-logical --invert-loopctrl --invert-bitwise --invert-assignments --invert-bwassign --remove-self-assignments \
    "${exclude[@]}" "$inside") >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  # gremlins that is interrupted calls what it has done until then a success.
  if grep -q 'Shutting down' "$work/log"; then
    echo "mutate: $package was interrupted" >&2
    return 1
  fi
}

# tell PACKAGE prints the survivors that nobody has explained and appends a line to the table. A mutant
# is known by its file, its kind and its line with the operator between « and ». gremlins makes each
# change of a minus twice, as ARITHMETIC_BASE and INVERT_NEGATIVES: it is counted once.
tell() {
  LC_ALL=C awk -v package="$1" -v root="$root" -v table="$work/table" -v threshold="${MUTATE_THRESHOLD:-85}" '
    FNR == NR { if ($0 !~ /^#/ && split($0, f, "\t") >= 4) known[f[1] "\t" f[2] "\t" f[3]] = 1; next }
    !/(KILLED|LIVED|NOT COVERED|TIMED OUT|NOT VIABLE) [A-Z_]+ at / || /INVERT_NEGATIVES/ { next }
    {
      n = split($0, f, " "); kind = f[n-2]; split(f[n], at, ":"); count[$1]++
      if ($1 != "LIVED") next
      path = package "/" at[1]
      for (i = 1; (getline line < (root "/" path)) > 0; i++) if (i == at[2]) text = line
      close(root "/" path)
      before = substr(text, 1, at[3] - 1); sub(/^[ \t]+/, "", before); rest = substr(text, at[3])
      match(rest, /^(<<=|>>=|&\^=|&&|\|\||==|!=|<=|>=|<<|>>|&\^|\+\+|--|[-+*\/%&|^]=|break|continue|.)/)
      key = path "\t" kind "\t" before "«" substr(rest, 1, RLENGTH) "»" substr(rest, RLENGTH + 1)
      if (key in known) explained++
      else { lived++; sub(/\t/, ":" at[2] "\t", key); print key }
    }
    END {
      noticed = count["KILLED"] + count["TIMED"]; of = noticed + lived
      score = of ? 100 * noticed / of : 100
      printf "%-20s %8d %10d %11d %12d %9.1f %%\n", package, noticed, lived, explained, count["NOT"], score >>table
      exit score < threshold
    }' "$equivalent" "$work/log"
}

printf '%-20s %8s %10s %11s %12s %11s\n' package noticed survived equivalent 'not covered' score >"$work/table"
status=0
for package in "${packages[@]}"; do
  echo "mutate: $package"
  if mutate "$package"; then tell "$package" || status=1; else status=1; fi
done
printf '\n'
cat "$work/table"
exit "$status"
