#!/usr/bin/env bash
# `lanewise graph` as text: check_graph.sh LANEWISE CASE MACHINE (two AMD sockets, eight sm_120)
set -euo pipefail
lanewise=$1
machine=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "not so: $*" >&2
  exit 1
}

case $2 in
  writes)
    "$lanewise" graph --machine "$machine" -o "$scratch/graph.xml" >"$scratch/out" 2>"$scratch/err"
    [ ! -s "$scratch/out" ] || fail "a file's text is not printed"
    grep -q '<graph id="0" pattern="4"' "$scratch/graph.xml" || fail "it has a ring"
    grep -q 'any other fails' "$scratch/err" || fail "what it does to other communicators is said"
    ;;
  prints)
    "$lanewise" graph --machine "$machine" 2>/dev/null | head -1 | grep -qx '<graphs version="1">' ||
      fail "without -o it prints the file"
    ;;
  refuses)
    sed 's/sm="120"/sm="89"/' "$machine" >"$scratch/ada.xml"
    status=0
    "$lanewise" graph --machine "$scratch/ada.xml" -o "$scratch/graph.xml" 2>"$scratch/err" || status=$?
    [ "$status" = 2 ] || fail "status 2, not $status"
    grep -q 'would not help' "$scratch/err" || fail "the reason is said: $(cat "$scratch/err")"
    [ ! -e "$scratch/graph.xml" ] || fail "nothing is written"
    ;;
  numbers)
    # Beside this script: a machine whose GPUs are numbered 2, 3, 6 and 10.
    "$lanewise" graph --machine "$(dirname "$0")/machines/dev_subset.xml" >"$scratch/out" 2>/dev/null
    said=$(sed -n 's/.*gpu dev="\(.*\)".*/\1/p' "$scratch/out" | head -4 | tr '\n' ' ')
    [ "$said" = "0x2 0x3 0x6 0xa " ] || fail "the machine's own numbers are written, not: $said"
    ;;
  missing)
    status=0
    "$lanewise" graph --machine "$scratch/none.xml" 2>/dev/null || status=$?
    [ "$status" = 2 ] || fail "status 2, not $status"
    ;;
  *) fail "no such case: $2" ;;
esac
