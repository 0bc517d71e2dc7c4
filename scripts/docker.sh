#!/usr/bin/env bash
# Builds and runs what compose.yaml describes.
#
#   scripts/docker.sh build|up|down|logs|ps|config [ARGUMENTS OF docker compose]
#
# Ollama's store is that of OLLAMA_MODELS, the user's or the system's; without
# one, the app has the models of its own page. GEMWIRE_ADDRESS (127.0.0.1:8080)
# says where it listens, GEMWIRE_USER (101:101) who reads the store.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'docker: %s\n' "$*" >&2; exit 1; }

command -v docker >/dev/null || die 'docker is missing: install Docker Engine with the compose plugin from https://docs.docker.com/engine/install'
docker compose version >/dev/null 2>&1 || die 'docker compose is missing: install the plugin, https://docs.docker.com/compose/install'

find_store() {
  local folder
  for folder in "${OLLAMA_MODELS:-}" "$HOME/.ollama/models" /usr/share/ollama/.ollama/models; do
    if [[ -n "$folder" && -d "$folder/manifests" ]]; then
      printf '%s\n' "$folder"
      return
    fi
  done
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/gemwire/no-ollama
  mkdir -p "$folder/manifests" "$folder/blobs"
  printf '%s\n' "$folder"
}

OLLAMA_MODELS=$(find_store)
export OLLAMA_MODELS
# The commit's time, so that the same commit gives the same files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo '')}
export SOURCE_DATE_EPOCH

verb=${1:?usage: scripts/docker.sh build|up|down|logs|ps|config}
shift
case "$verb" in
  build) docker compose build "$@" ;;
  up)
    docker compose up --detach --wait "$@" || { docker compose logs --tail 20 >&2; die 'it did not start; what it said is above'; }
    printf 'http://%s/ serves the app and the models of %s\n' "${GEMWIRE_ADDRESS:-localhost:8080}" "$OLLAMA_MODELS"
    ;;
  logs) docker compose logs --follow --tail 100 "$@" ;;
  down | ps | config) docker compose "$verb" "$@" ;;
  *) die "unknown verb '$verb'" ;;
esac
