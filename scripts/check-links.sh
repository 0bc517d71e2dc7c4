#!/usr/bin/env bash
# Checks that every relative link in the repository's Markdown files leads to
# something that is there: a file, a folder, or a heading of a Markdown file.
set -euo pipefail
cd "$(dirname "$0")/.."

# anchors FILE lists the anchors of a file's headings, as GitHub makes them.
anchors() {
  grep -E '^#+ ' "$1" | sed -E 's/^#+ +//; s/[^[:alnum:] _-]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]'
}

broken=0
while IFS= read -r file; do
  while IFS= read -r link; do
    case "$link" in http://* | https://* | mailto:*) continue ;; esac
    path=${link%%#*}
    anchor=${link#"$path"}
    target=$file
    if [[ -n "$path" ]]; then target=$(dirname "$file")/$path; fi
    if [[ ! -e "$target" ]]; then
      printf '%s: nothing is at %s\n' "$file" "$link" >&2
      broken=1
    elif [[ -n "$anchor" ]] && ! anchors "$target" | grep -xF -- "${anchor#\#}" >/dev/null; then
      printf '%s: no heading for %s\n' "$file" "$link" >&2
      broken=1
    fi
  done < <(grep -oE '\]\([^) ]+\)' "$file" | sed -E 's/^\]\(//; s/\)$//')
done < <(git ls-files --cached --others --exclude-standard '*.md')
exit "$broken"
