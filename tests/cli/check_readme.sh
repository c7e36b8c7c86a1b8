#!/usr/bin/env bash
# Fails unless plugin/README.md has the table of settings as the tool prints it.
# Usage: check_readme.sh LANEWISE plugin/README.md
set -euo pipefail
table=$("$1" settings)
found=$(sed -n '/^## Settings/,/^## /p' "$2" | grep -E '^\| (Variable|---|LANEWISE_)')
[[ $table == "$found" ]] || {
  echo "check_readme: plugin/README.md and lanewise settings differ:" >&2
  diff <(echo "$found") <(echo "$table") >&2 || true
  exit 1
}
