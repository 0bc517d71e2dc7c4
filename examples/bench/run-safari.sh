#!/usr/bin/env bash
# Measures a model in Safari, on an iPhone at this Mac's cable or on the Mac
# itself, and prints the figures as JSON. README.md says how to set up a phone.
#
#   run-safari.sh [--mac] [--udid ID] [--model nano|URL|FILE.gguf|NAME] [--tokens N] [--repeats R]
#                 [--context N] [--prompt TEXT] [--host ADDRESS] [--timeout SECONDS]
#
# It starts `gemwire serve` (bin/gemwire, or $GEMWIRE) and safaridriver by itself.
# --host is the Mac's address that the phone reaches, where it has several.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${GEMWIRE:-$root/bin/gemwire}
driver=http://127.0.0.1:${GEMWIRE_DRIVER_PORT:-4723}

say() { printf 'run-safari: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

phone=yes udid='' model=nano host='' timeout=900
query='{"auto": "1"}'
while (($#)); do
  case "$1" in
    --mac) phone=no; shift; continue ;;
    --udid | --model | --tokens | --repeats | --context | --prompt | --host | --timeout) (($# > 1)) || die "$1 wants a value" ;;
    *) die "unknown option $1; see the top of this script" ;;
  esac
  case "$1" in
    --udid) udid=$2 ;;
    --model) model=$2 ;;
    --host) host=$2 ;;
    --timeout) timeout=$2 ;;
    *) query=$(jq -c --arg name "${1#--}" --arg value "$2" '.[$name] = $value' <<<"$query") ;;
  esac
  shift 2
done

check_tools() {
  [[ "$(uname -s)" == Darwin ]] || die "safaridriver is a part of macOS alone; run this on a Mac"
  command -v safaridriver >/dev/null || die "safaridriver is missing: install Safari, then run: sudo safaridriver --enable"
  command -v jq >/dev/null || die "jq is missing: macOS 15 has it, before that: brew install jq"
  [[ -x "$program" ]] || die "$program is missing: run make build"
  [[ -e "$root/bindings/wasm/npm/dist/index.js" ]] || die "the npm package is not built: run make wasm"
}

folder=$(mktemp -d)
pids=() session=''
clean_up() {
  [[ -z "$session" ]] || curl -s -X DELETE "$driver/session/$session" >/dev/null || true
  local pid
  for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT

# start_server leaves the page's address in $base and the model's in $model.
start_server() {
  local more=()
  if [[ -f "$model" ]]; then
    more=(--models "$(dirname "$model")")
    model=/models/$(jq -rn --arg name "$(basename "$model")" '$name | @uri')
  elif [[ "$model" != nano && "$model" != http* ]]; then
    more=(--ollama)
    model=/models/$(jq -rn --arg name "$model" '$name | @uri | gsub("%2F"; "/")')
  fi
  if [[ $phone == yes ]]; then more+=(--https --open-network --addr :8443); else more+=(--addr 127.0.0.1:0); fi
  "$program" serve --app "/bench/=$here" --app "/gemwire/=$root/bindings/wasm/npm/dist" ${more[@]+"${more[@]}"} >"$folder/urls" &
  pids+=($!)
  for _ in {1..50}; do
    [[ -s "$folder/urls" ]] && break
    kill -0 "${pids[0]}" 2>/dev/null || die "gemwire serve ended"
    sleep 0.2
  done
  sleep 0.5 # the other addresses
  base=$(tail -n 1 "$folder/urls")
  [[ -n "$base" ]] || die "gemwire serve printed no address"
  if [[ -n "$host" ]]; then base=$(sed -E "s#//[^/]+:#//$host:#" <<<"$base"); fi
}

start_driver() {
  safaridriver --port "${driver##*:}" &
  pids+=($!)
  for _ in {1..50}; do
    curl -s -o "$folder/status" "$driver/status" && return
    sleep 0.2
  done
  die "safaridriver does not answer; run once: sudo safaridriver --enable"
}

# ask sends a command of WebDriver (https://www.w3.org/TR/webdriver2) and prints its value.
ask() { # METHOD PATH JSON
  local answer
  answer=$(curl -s --max-time 120 -X "$1" -H 'Content-Type: application/json' --data "$3" "$driver$2") || die "safaridriver does not answer to $2"
  if jq -e '.value | type == "object" and has("error")' <<<"$answer" >/dev/null; then
    die "$(jq -r '.value | "\(.error): \(.message)"' <<<"$answer")"
  fi
  jq -r '.value | if . == null then "" elif type == "object" then tojson else . end' <<<"$answer"
}

begin_session() {
  local wanted='{"browserName": "Safari"}'
  if [[ $phone == yes ]]; then wanted='{"browserName": "Safari", "platformName": "iOS", "safari:useSimulator": false}'; fi
  if [[ -n "$udid" ]]; then wanted=$(jq -c --arg id "$udid" '.["safari:deviceUDID"] = $id' <<<"$wanted"); fi
  local made
  made=$(ask POST /session "$(jq -nc --argjson c "$wanted" '{capabilities: {alwaysMatch: $c}}')")
  session=$(jq -r .sessionId <<<"$made")
}

in_page() { ask POST "/session/$session/execute/sync" "$(jq -nc --arg s "$1" '{script: $s, args: []}')"; }

measure() {
  local page state='' end
  page="${base}bench/?$(jq -r --arg model "$model" '.model = $model | to_entries | map("\(.key)=\(.value | @uri)") | join("&")' <<<"$query")"
  say "opening $page"
  ask POST "/session/$session/url" "$(jq -nc --arg url "$page" '{url: $url}')" >/dev/null
  end=$((SECONDS + timeout))
  while ((SECONDS < end)); do
    state=$(in_page 'return document.documentElement.dataset.state')
    case "$state" in
      done) in_page 'return document.getElementById("figures").textContent'; return ;;
      failed) die "$(in_page 'return document.getElementById("error").textContent')" ;;
      running) ;;
      *) die "the page is not there: open ${base} on the phone once, and see README.md about its certificate" ;;
    esac
    say "$(in_page 'return document.getElementById("step").textContent')"
    sleep 5
  done
  die "nothing within $timeout s"
}

check_tools
start_server
start_driver
begin_session
measure
