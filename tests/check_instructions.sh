#!/usr/bin/env bash
# Instructions of one turn of a program's loop: check_instructions.sh PROGRAM LIMIT
set -euo pipefail
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }

collected() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

turns=10000
few=$(collected "$1" "$turns")
many=$(collected "$1" $((2 * turns)))
each=$(((many - few) / turns))
echo "$each instructions, at most $2"
[ "$each" -gt 0 ] && [ "$each" -le "$2" ]
