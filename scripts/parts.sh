#!/usr/bin/env bash
# Runs the parts of the tests side by side, and tells where the time went. To be sourced:
#
#   part NAME [after=NAME,…] [behind=NAME,…] [inputs='PATH…'] [output=FILE] [limit=SECONDS] [takes=SECONDS] COMMAND…
#   run_parts WORKERS
#
# A part starts when a worker is free, the parts named in after= have passed, and those in behind= have ended. One with
# inputs= that passed before and whose inputs are the same is not run again: files (as git knows them), the versions of
# the tools, variables GEMWIRE_…, and those of the parts that it comes after. GEMWIRE_TEST_AGAIN=1 runs it nevertheless.
# output= is a file that it leaves for others: where that is missing, it runs.
#
# Nothing runs for ever. A part that takes longer than its limit= (900 seconds) is ended, with the stacks of its
# goroutines in the log, and has failed. takes= marks a part that a budget may leave out, and says how long it takes on
# two idle cores: with GEMWIRE_TEST_BUDGET (as 30m, or seconds) it begins only if that time is left, parts whose inputs
# the commits of the last day touch first, and when the budget is used up it is ended. Neither is a failure, and both
# are said at the end. Parts without takes= have four minutes beyond the budget. The budget counts from
# GEMWIRE_TEST_BEGUN (seconds since 1970), so that several runs can share one.
#
# A log counts tests as go test -v does, as node's and vitest's runners do, or as a line 'N passed, N failed, N
# skipped'. A log without any counts as one test. A line 'note …' of a log is shown.

parts=$(mktemp -d)
other_libraries= # set where they were fetched: what is skipped for want of them is counted as for want of a GPU
passed_before=dist/tests # a stamp of each part with inputs
part_names=()
interrupted() {
  local name
  trap '' INT TERM HUP
  for name in ${part_names[@]+"${part_names[@]}"}; do
    [[ ! -e "$parts/$name/started" || -e "$parts/$name/result" ]] || kill -TERM -- "-$(said "$name" group)" 2>/dev/null || true
  done
  # shellcheck disable=SC2046
  kill $(jobs -p) 2>/dev/null
  exit 130
}
trap 'rm -rf "$parts"' EXIT
trap interrupted INT TERM HUP

part() {
  local name=$1 key
  shift
  mkdir -p "$parts/$name"
  while [[ "$1" =~ ^(after|behind|inputs|output|limit|takes)= ]]; do
    key=${1%%=*}
    printf '%s\n' "${1#*=}" >"$parts/$name/$key"
    shift
  done
  printf '%q ' "$@" >"$parts/$name/command"
  part_names+=("$name")
}

said() { cat "$parts/$1/$2" 2>/dev/null || true; }

digest=(sha256sum)
command -v sha256sum >/dev/null || digest=(shasum -a 256)

tool_versions() {
  go version
  cc --version 2>/dev/null | sed -n 1p
  node --version 2>/dev/null
  "${GEMWIRE_CHROMIUM:-chromium}" --version 2>/dev/null
  # The drivers: a test on another one is another test.
  cat /usr/share/vulkan/icd.d/*.json 2>/dev/null
  dpkg-query -W -f '${Package} ${Version}\n' mesa-vulkan-drivers nginx-light slurmctld 2>/dev/null
  env | grep -E '^(GEMWIRE_|VK_|GO|CGO_|CC=|CXX=)' | grep -vE '^GEMWIRE_(TEST_ALL|TEST_AGAIN|TEST_JOBS|TEST_BUDGET|TEST_BEGUN|TEST_TIMES|RACE|NO_INSTALL|REQUIRE_NGINX|REQUIRE_SLURM|REQUIRE_S3|REQUIRE_BEAM|REQUIRE_DOCS)=' | sort
}

# inputs_of NAME: a digest of all that the part depends on, nothing for a part that always runs.
inputs_of() {
  local inputs other
  inputs=$(said "$1" inputs)
  [[ -n "$inputs" ]] || return 0
  {
    said "$1" command
    [[ -e "$parts/versions" ]] || tool_versions >"$parts/versions" 2>/dev/null || true
    cat "$parts/versions"
    # shellcheck disable=SC2086
    git ls-files -z --cached --others --exclude-standard -- $inputs scripts | LC_ALL=C sort -zu | xargs -0 "${digest[@]}" 2>/dev/null || true
    for other in $(said "$1" after | tr ',' ' '); do inputs_of "$other"; done
  } | "${digest[@]}" | cut -c1-64
}

# unchanged NAME DIGEST: whether it passed with these inputs.
unchanged() {
  local stamp="$passed_before/$1" output
  [[ -n "$2" && "${GEMWIRE_TEST_AGAIN:-}" != 1 && -e "$stamp" && "$(head -n 1 "$stamp")" == "$2" ]] || return 1
  output=$(said "$1" output)
  [[ -z "$output" || -e "$output" ]]
}

# counts_of LOG STATUS prints how many tests passed, failed and were skipped.
counts_of() {
  awk -v status="$2" '
    /^ *--- PASS/ { p++ } /^ *--- FAIL/ { f++ } /^ *--- SKIP/ { s++ }
    /^[0-9]+ passed, [0-9]+ failed/ { lp = $1; lf = $3; ls = /skipped/ ? $5 : 0; line = 1 }
    /^(ℹ|#) (pass|fail|skipped) [0-9]+$/ { if ($2 == "pass") p += $3; else if ($2 == "fail") f += $3; else s += $3 }
    /^ *Tests +/ { for (i = 2; i < NF; i++) { if ($(i + 1) ~ /^passed/) p += $i; if ($(i + 1) ~ /^failed/) f += $i; if ($(i + 1) ~ /^skipped/) s += $i } }
    /^ok   / { ok++ } /^skipped: / { s++ }
    END {
      if (line) { p = lp; f = lf; s = ls }
      else if (!p && !f && !s) { p = ok ? ok : (status == 0); }
      if (status != 0 && !f) f = 1
      printf "%d %d %d\n", p, f, s
    }' "$1"
}

# bounded NAME runs the command of a part in a process group of its own, so that end_part reaches all that it started.
bounded() {
  local group status=0
  set -m
  eval "$(said "$1" command)" &
  group=$!
  set +m
  echo "$group" >"$parts/$1/group"
  wait "$group" || status=$?
  return "$status"
}

# end_part NAME WHY ends it: programs of Go print the stacks of their goroutines, the others get to clean up.
end_part() {
  local group
  group=$(said "$1" group)
  [[ -n "$group" && ! -e "$parts/$1/ended" ]] || return 0
  # What has failed until now has failed, whatever else ends it.
  if [[ "$2" == budget ]] && grep -qE '^ *(--- FAIL|not ok|✖|FAIL |fail )' "$parts/$1/log"; then
    set -- "$1" 'the budget, after a failure'
  fi
  echo "$2" >"$parts/$1/ended"
  {
    set +e
    # args=, since comm= cuts a name short.
    ps -A -o pid=,pgid=,args= | awk -v group="$group" '$2 == group && $3 ~ /(\.test|gemwire|lab)$/ { print $1 }' | xargs kill -QUIT
    sleep 3
    kill -TERM -- "-$group"
    sleep 10
    kill -KILL -- "-$group"
  } >/dev/null 2>&1 &
}

# run_part NAME, in a process of its own. Its result is "status wall cpu passed failed skipped".
run_part() {
  local name=$1 folder=$parts/$1 inputs status=0 wall=0 user=0 system=0 counts before
  inputs=$(inputs_of "$name")
  if unchanged "$name" "$inputs"; then
    before=$(sed -n 2p "$passed_before/$name") counts=$(sed -n 3p "$passed_before/$name")
    printf 'same %-22s unchanged, passed before at %s\n' "$name" "$before"
    printf '0 0 0 %s\n' "$counts" >"$folder/result"
    return
  fi
  TIMEFORMAT='%R %U %S'
  { time bounded "$name" >"$folder/log" 2>&1 </dev/null; } 2>"$folder/time" || status=$?
  read -r wall user system <"$folder/time" || true
  if [[ -e "$folder/ended" ]]; then
    if [[ "$(said "$name" ended)" == budget ]]; then
      leave_out "$name" 'ended'
      return
    fi
    status=124
    printf '\nFAIL: ended after %.0f s, which is over %s\n' "$wall" "$(said "$name" ended)" >>"$folder/log"
  fi
  counts=$(counts_of "$folder/log" "$status")
  # shellcheck disable=SC2086
  set -- $counts
  printf '%s %.0f %.0f %s\n' "$status" "$wall" "$(awk -v a="$user" -v b="$system" 'BEGIN { print a + b }')" "$counts" >"$folder/result.new"
  if ((status)); then
    printf 'FAIL %-22s %5.0f s  %s\n' "$name" "$wall" "$(cat "$folder/command")"
    show_failure "$folder/log"
  else
    printf 'ok   %-22s %5.0f s  %d passed%s\n' "$name" "$wall" "$1" "$( (($3)) && echo ", $3 skipped")"
    sed -n 's/^note /     /p' "$folder/log"
    sed -nE 's/^all +([0-9]+) +(of at most [0-9]+)$/     \1 bytes gzipped \2/p' "$folder/log"
    if [[ -n "$inputs" ]] && ! grep '^skipped: ' "$folder/log" >/dev/null; then
      mkdir -p "$passed_before"
      printf '%s\n%s\n%s\n' "$inputs" "$(date -u '+%Y-%m-%d %H:%M UTC')" "$counts" >"$passed_before/$name"
    fi
  fi
  mv "$folder/result.new" "$folder/result"
}

# show_failure LOG: what failed with what follows it, and the end.
show_failure() {
  grep -nE '^ *(fail|FAIL|not ok|✖|--- FAIL|panic:)' "$1" | head -n 20 | cut -c1-300 || true
  grep -E -B 12 -A 6 '^ *(fail|not ok|✖|--- FAIL|panic:)' "$1" | cut -c1-500 | head -n 120 || true
  echo '...'
  tail -n 40 "$1" | cut -c1-500
}

# ready NAME: 0 where it may start, 1 where it has to wait, 2 where one that it comes after has failed, 3 where one was
# left out.
ready() {
  local other result
  for other in $(said "$1" after | tr ',' ' '); do
    [[ -d "$parts/$other" ]] || continue # not asked for
    [[ " $finished " == *" $other "* ]] || return 1
    [[ ! -e "$parts/$other/late" ]] || return 3
    result=$(said "$other" result)
    [[ "${result%% *}" == 0 ]] || return 2
  done
  for other in $(said "$1" behind | tr ',' ' '); do
    [[ ! -d "$parts/$other" || " $finished " == *" $other "* ]] || return 1
  done
}

finished_parts() {
  local name
  for name in "${part_names[@]}"; do [[ ! -e "$parts/$name/result" ]] || printf '%s ' "$name"; done
}

# seconds_of TIME: 30m, 90s or a number of seconds.
seconds_of() {
  [[ "$1" =~ ^[0-9]+[ms]?$ ]] || { echo "test: GEMWIRE_TEST_BUDGET is $1: say minutes, as 30m, or seconds" >&2; exit 2; }
  case "$1" in
    *m) echo $((10#${1%m} * 60)) ;;
    *) echo $((10#${1%s})) ;;
  esac
}

budget= # seconds
[[ -z "${GEMWIRE_TEST_BUDGET:-}" ]] || budget=$(seconds_of "$GEMWIRE_TEST_BUDGET")
spent() { echo $(($(date +%s) - ${GEMWIRE_TEST_BEGUN:-$begun})); }

# leave_out NAME HOW: the budget does not allow it.
leave_out() {
  printf 'late %-22s %s, for want of time\n' "$1" "$2"
  printf 'skipped: %s, for want of time\n' "$1" >"$parts/$1/log"
  : >"$parts/$1/late"
  echo '0 0 0 0 0 1' >"$parts/$1/result"
}

# too_late NAME: whether too little of the budget is left to begin it.
too_late() {
  local takes
  takes=$(said "$1" takes)
  [[ -n "$budget" && -n "$takes" ]] && (($(spent) + takes > budget))
}

# watch NAME ends a running part whose time is up.
watch() {
  local limit
  limit=$(said "$1" limit)
  if (($(date +%s) - $(said "$1" started) > ${limit:=900})); then
    end_part "$1" "its limit of $limit s"
  elif [[ -n "$budget" && -n "$(said "$1" takes)" ]] && (($(spent) > budget)); then
    end_part "$1" budget
  elif [[ -n "$budget" ]] && (($(spent) > budget + 240)); then
    end_part "$1" "the budget of $GEMWIRE_TEST_BUDGET and four minutes"
  fi
}

# touched_first orders the parts that a budget may leave out: first those whose inputs the commits of the last day touch.
touched_first() {
  local since name first=() touched=() others=()
  since=$(git rev-list -1 --before="$(git log -1 --format=%ct 2>/dev/null | awk '{ print $1 - 86400 }')" HEAD 2>/dev/null) || true
  for name in "${part_names[@]}"; do
    if [[ -z "$(said "$name" takes)" ]]; then
      first+=("$name")
    elif [[ -n "$since" && -n "$(said "$name" inputs)" ]] &&
      # shellcheck disable=SC2046
      git diff --quiet "$since" HEAD -- $(said "$name" inputs) 2>/dev/null; then
      others+=("$name")
    else
      touched+=("$name")
    fi
  done
  part_names=(${first[@]+"${first[@]}"} ${touched[@]+"${touched[@]}"} ${others[@]+"${others[@]}"})
}

running() {
  local name n=0
  for name in ${part_names[@]+"${part_names[@]}"}; do
    if [[ -e "$parts/$name/started" && ! -e "$parts/$name/result" ]]; then n=$((n + 1)); fi
  done
  echo "$n"
}

# run_parts WORKERS runs all, prints the table, and fails where one failed.
run_parts() {
  local name left free code begun finished
  [[ "$1" =~ ^[1-9][0-9]*$ ]] || { echo "test: GEMWIRE_TEST_JOBS is $1: say how many parts run at once" >&2; exit 2; }
  begun=$(date +%s)
  [[ -z "$budget" ]] || touched_first
  while :; do
    left=0
    # Once a round, so that of the parts that may start, what stands first is first.
    free=$(($1 - $(running)))
    finished=$(finished_parts)
    for name in "${part_names[@]}"; do
      [[ ! -e "$parts/$name/result" ]] || continue
      left=1
      if [[ -e "$parts/$name/started" ]]; then
        watch "$name"
        continue
      fi
      code=0
      ready "$name" || code=$?
      if ((code == 2)); then
        printf 'FAIL %-22s not run: what it needs failed\n' "$name"
        echo '1 0 0 0 1 0' >"$parts/$name/result"
      elif ((code == 3)) || too_late "$name"; then
        leave_out "$name" 'not begun'
      elif ((code == 0 && free > 0)); then
        free=$((free - 1))
        date +%s >"$parts/$name/started"
        { run_part "$name" || [[ -e "$parts/$name/result" ]] || echo '1 0 0 0 1 0' >"$parts/$name/result"; } &
      fi
    done
    ((left)) || break
    sleep 0.5
  done
  wait
  table $(($(date +%s) - begun))
}

# table SECONDS
table() {
  local name status wall cpu p f s passed=0 failed=0 skipped=0 whole=0 bad=0
  printf '\n%-24s %8s %8s %8s %8s %8s\n' part 'seconds' 'CPU s' passed failed skipped
  for name in "${part_names[@]}"; do
    read -r status wall cpu p f s <"$parts/$name/result"
    printf '%-24s %8d %8d %8d %8d %8d\n' "$name" "$wall" "$cpu" "$p" "$f" "$s"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) whole=$((whole + cpu))
    ((status == 0)) || bad=1
  done
  printf '%-24s %8d %8d\n' 'all, side by side' "$1" "$whole"
  left_out
  skip_reasons
  refuse_skips || bad=1
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((bad == 0 && failed == 0))
}

# left_out names what the budget did not allow.
left_out() {
  local name late=()
  for name in "${part_names[@]}"; do [[ ! -e "$parts/$name/late" ]] || late+=("$name"); done
  ((${#late[@]} == 0)) || printf '\nleft out, since GEMWIRE_TEST_BUDGET is %s: %s\n' "$GEMWIRE_TEST_BUDGET" "${late[*]}"
}

# skip_reasons_of LOG: why tests were skipped.
skip_reasons_of() {
  grep -A 2 -E '^ *--- SKIP' "$1" | sed -nE 's/^ +[A-Za-z0-9_]+\.go:[0-9]+: //p' || true
  grep -E -A 2 '^skip ' "$1" | sed -nE 's/^ +[A-Za-z0-9_]+\.go:[0-9]+: //p' || true
  sed -nE -e 's/.*# SKIP ?(.*)/\1/p' -e 's/^ *﹣ .* # (.*)/\1/p' -e 's/^(skipped: .*)/\1/p' "$1"
}

# skip_reasons prints each reason once, with its count.
skip_reasons() {
  local log
  for log in "$parts"/*/log; do [[ ! -e "$log" ]] || skip_reasons_of "$log"; done >"$parts/skips"
  [[ -s "$parts/skips" ]] || return 0
  printf '\nskipped:\n'
  cut -c1-160 "$parts/skips" | sort | uniq -c | sort -rn
}

# refuse_skips fails where a test was skipped that GEMWIRE_REQUIRE_… asks for, unless it was for want of time.
refuse_skips() {
  local bad=0
  # make test does not fetch other libraries.
  forbid GPU "no usable GPU|no GPU|no adapter|GPU tests${other_libraries:+|no wgpu-native}" || bad=1
  forbid BROWSER 'browser|chromium|Node 20' || bad=1
  forbid NGINX 'nginx' || bad=1
  forbid SLURM 'Slurm' || bad=1
  forbid BEAM 'Apache Beam' || bad=1
  forbid S3 'S3 server' || bad=1
  forbid DOCS 'documentation' || bad=1
  return $bad
}

forbid() {
  local variable=GEMWIRE_REQUIRE_$1
  if [[ "${!variable:-}" == 1 ]] && grep -vF ', for want of time' "$parts/skips" | grep -iE "$2" >/dev/null; then
    printf '%s=1 forbids to skip tests: the lines above\n' "$variable"
    return 1
  fi
}
