#!/usr/bin/env bash
# What a program does where its output cannot be written: check_full_output.sh KIND COMMAND...
# KIND: full (no space), closed (no descriptor), pipe (the reader has gone; nothing is said then)
set -u
kind=$1
shift
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
status=0
case $kind in
  full) "$@" >/dev/full 2>"$errors" || status=$? ;;
  closed) "$@" >&- 2>"$errors" || status=$? ;;
  pipe)
    # Where SIGPIPE is ignored, as a service's is, writing fails instead of ending the program.
    trap '' PIPE
    exec 5> >(:)
    wait $!
    "$@" >&5 2>"$errors" || status=$?
    ;;
esac
cat "$errors"
if [[ $kind == pipe ]]; then
  [[ $status == 141 ]] || { echo "exit status $status, expected 141"; exit 1; }
  ! grep -q 'standard output' "$errors" || { echo "a closed pipe is quiet"; exit 1; }
  exit 0
fi
[[ $status == 2 ]] || { echo "exit status $status, expected 2"; exit 1; }
grep -q 'cannot write standard output' "$errors" || { echo "expected a message"; exit 1; }
