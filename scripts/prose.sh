#!/usr/bin/env bash
# Checks what people read (Markdown, help texts, error messages, the app's texts) with textlint and our own list of
# phrases, scripts/prose/phrases.yml.
#
#   scripts/prose.sh [FILE...]      everything, or the files named
#
# Without Node it is skipped; with GEMWIRE_REQUIRE_DOCS=1 (as in CI) that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! scripts/setup.sh prose; then
  echo 'prose: skipped, because of what is missing above'
  [[ "${GEMWIRE_REQUIRE_DOCS:-}" != 1 ]]
  exit
fi
node scripts/prose/check.mjs "$@"
