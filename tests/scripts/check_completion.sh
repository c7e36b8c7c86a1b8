#!/usr/bin/env bash
# What the shell completes after some words: check_completion.sh COMPLETION LANEWISE
set -euo pipefail
. "$1"
lanewise=$2

fail() {
  echo "not so: $*" >&2
  exit 1
}

# complete_words WORD..: the last one is being typed.
complete_words() {
  COMP_WORDS=("$lanewise" "$@") COMP_CWORD=$# COMPREPLY=()
  _lanewise
}
offers() { [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || fail "it offers $1: ${COMPREPLY[*]}"; }

complete_words ex
[[ ${COMPREPLY[*]} == explain ]] || fail "one command: ${COMPREPLY[*]}"
complete_words ''
for command in run env stats profile; do offers "$command"; done
complete_words profile c
[[ ${COMPREPLY[*]} == "check convert" ]] || fail "the parts of a command: ${COMPREPLY[*]}"
complete_words explain --hid
[[ ${COMPREPLY[*]} == --hidden ]] || fail "its options: ${COMPREPLY[*]}"
complete_words run -- bas
offers bash
