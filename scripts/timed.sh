#!/usr/bin/env bash
# Runs a test binary as `go test -exec` does, and adds its CPU and wall seconds to $GEMWIRE_TEST_TIMES_FILE.
TIMEFORMAT='%U %S %R'
exec 3>&1 4>&2
status=0
seconds=$({ time "$@" >&3 2>&4; } 2>&1) || status=$?
awk -v test="$(basename "$1" .test) ($PWD)" '{ printf "%8.1f %8.1f  %s\n", $1 + $2, $3, test }' <<<"$seconds" >>"$GEMWIRE_TEST_TIMES_FILE"
exit "$status"
