# To be sourced: skip VARIABLE WHAT ends a test that a machine cannot run, and says so. With $VARIABLE at 1 (as in CI) that
# is a failure.
skip() {
  echo "skipped: $2"
  [[ "${!1:-}" != 1 ]] || exit 1
  exit 0
}
