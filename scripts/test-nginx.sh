#!/usr/bin/env bash
# Runs a real nginx with the configuration of compose.yaml (docker/nginx) and asks
# it for everything that an app and its models need: status, headers, ranges,
# compression, caching, and what it has to refuse. No container is needed.
#
#   scripts/test-nginx.sh
#   scripts/test-nginx.sh app   visits the built app behind it in Chromium
#
# With GEMWIRE_REQUIRE_NGINX=1 (as in CI) a machine without nginx fails.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/skip.sh

if ! scripts/setup.sh nginx; then
  skip GEMWIRE_REQUIRE_NGINX 'nginx tests, for what is missing above'
fi

if [[ "${1:-}" == app ]]; then
  exec node docker/test/app.mjs
fi

# What is compressed beforehand is what it was, and the same each time.
test_precompress() {
  local folder
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' RETURN
  mkdir "$folder/one" "$folder/two"
  seq 10000 | tee "$folder/one/a.js" >"$folder/two/a.js"
  printf x >"$folder/one/small.js"
  cp "$folder/one/a.js" "$folder/one/photo.png"
  node docker/precompress.mjs "$folder/one" >/dev/null
  sleep 1 # a time in what comes out would differ
  node docker/precompress.mjs "$folder/two" >/dev/null
  cmp "$folder/one/a.js.gz" "$folder/two/a.js.gz"
  cmp "$folder/one/a.js.br" "$folder/two/a.js.br"
  gzip -dc "$folder/one/a.js.gz" | cmp - "$folder/one/a.js"
  node -e 'const z = require("node:zlib"), fs = require("node:fs"); process.stdout.write(z.brotliDecompressSync(fs.readFileSync(process.argv[1])))' "$folder/one/a.js.br" | cmp - "$folder/one/a.js"
  [[ "$(ls "$folder/one")" == $'a.js\na.js.br\na.js.gz\nphoto.png\nsmall.js' ]]
}

if command -v node >/dev/null; then
  test_precompress || { echo 'test-nginx: docker/precompress.mjs fails' >&2; exit 1; }
  echo 'ok   compressing beforehand'
fi
GEMWIRE_REQUIRE_NGINX=1 go test -count=1 -run 'Nginx|BlobsPath' -v ./tools/internal/serve | grep -E '^(ok|FAIL|panic)|--- FAIL|^    --- PASS|_test.go' | sed -E 's/^ +--- PASS: /ok   /'
