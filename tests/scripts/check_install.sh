#!/usr/bin/env bash
# What scripts/install.sh does about an old CMake and about a user who is not root, with package
# programs that only pretend: check_install.sh SCRIPTS CASE
# shellcheck disable=SC2016 # the programs expand them
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
tree="$scratch/a tree"
mkdir -p "$tree" "$scratch/programs"
cp -R "$1" "$tree/scripts"

fail() {
  echo "not so: $*; it said: $(cat "$scratch/out")" >&2
  exit 1
}

program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/programs/$1"
  chmod +x "$scratch/programs/$1"
}

note='echo "$(basename "$0") $*" >>'"$scratch/calls"
program dpkg-query 'echo installed'
program apt-get "$note"
program id 'echo 1000'
program sudo "$note"
program cmake 'echo "cmake version 3.31.6"'
# Makes a virtual environment whose pip brings a new CMake.
program python3 "$note"'
mkdir -p "$3/bin"
printf "%s\n" "#!/bin/sh" "echo pip \$* >>'"$scratch"'/calls" \
  "printf \"%s\\\\n\" \"#!/bin/sh\" \"echo cmake version 3.31.6\" >$3/bin/cmake; chmod +x $3/bin/cmake" >"$3/bin/pip"
chmod +x "$3/bin/pip"'

: >"$scratch/calls"
install() { PATH="$scratch/programs:$PATH" "$tree/scripts/install.sh" >"$scratch/out" 2>&1; }
called() { grep -qE -- "$1" "$scratch/calls" || fail "called $1: $(cat "$scratch/calls")"; }

case $2 in
  does_nothing)
    install || fail "it passes"
    [[ ! -s $scratch/calls ]] || fail "nobody is called: $(cat "$scratch/calls")"
    ;;
  uses_sudo)
    program dpkg-query 'exit 1'
    install || fail "it passes"
    called '^sudo .*apt-get .* install .*g\+\+.* cmake .*nlohmann'
    ;;
  says_what_root_must_do)
    program dpkg-query 'exit 1'
    rm "$scratch/programs/sudo"
    ln -s "$(command -v bash)" "$scratch/programs/bash"
    for name in env dirname sed sort head grep; do ln -s "$(command -v $name)" "$scratch/programs/$name"; done
    status=0
    PATH="$scratch/programs" "$tree/scripts/install.sh" >"$scratch/out" 2>&1 || status=$?
    [[ $status == 1 ]] || fail "it ends with 1"
    grep -q 'as root: apt-get install .*g++' "$scratch/out" || fail "the command is said"
    ;;
  brings_a_newer_cmake)
    program cmake 'echo "cmake version 3.22.1"'
    install || fail "it passes"
    called '^python3 -m venv build/tools$'
    called '^pip install .*cmake>=3.25'
    : >"$scratch/calls"
    install || fail "it passes once more"
    [[ ! -s $scratch/calls ]] || fail "the second run needs no network: $(cat "$scratch/calls")"
    ;;
  *) fail "no such case: $2" ;;
esac
