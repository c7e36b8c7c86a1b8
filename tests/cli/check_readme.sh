#!/usr/bin/env bash
# Fails unless plugin/README.md has the table of settings as the tool prints it, README.md has at most
# 150 lines, and each file that a *.md of the tree links to is there.
# Usage: check_readme.sh LANEWISE SOURCE_FOLDER
set -euo pipefail
most_lines=150 status=0
fail() {
  echo "check_readme: $1" >&2
  status=1
}

table=$("$1" settings)
found=$(sed -n '/^## Settings/,/^## /p' "$2/plugin/README.md" | grep -E '^\| (Variable|---|LANEWISE_)')
[[ $table == "$found" ]] || fail "plugin/README.md and lanewise settings differ:
$(diff <(echo "$found") <(echo "$table"))"
lines=$(wc -l <"$2/README.md")
[[ $lines -le $most_lines ]] || fail "README.md: expected at most $most_lines lines, found $lines"

while IFS=: read -r file link; do
  link=${link#*(} link=${link%)} link=${link%%#*}
  [[ $link =~ ^https?: || -z $link || -e $(dirname "$file")/$link ]] || fail "$file links to $link: no such file"
done < <(find "$2" -mindepth 1 -maxdepth 4 \( -name build -o -name '.[!.]*' \) -prune -o -name '*.md' -print0 |
  xargs -0 grep -HoE '\]\([^) ]+\)')
exit "$status"
