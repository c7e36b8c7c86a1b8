#!/usr/bin/env bash
# A command's output is the golden file's: check_golden.sh GOLDEN COMMAND [ARGUMENTS ...]
set -euo pipefail
golden=$1
shift
# The user's own settings and configuration file would change what is explained.
while IFS= read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(NCCL|LANEWISE)_')
export HOME=/nonexistent
diff -u "$golden" <("$@")
