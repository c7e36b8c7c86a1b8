#!/usr/bin/env bash
# What a program says of its version: check_version.sh PROGRAM SOURCE, and with `none` for PROGRAM
# what a build without a repository of its own is given.
set -euo pipefail
program=$1 source=$2
fail() { echo "not so: $*" >&2; exit 1; }

if [[ $program == none ]]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/tree"
  # A repository around it is not its own.
  git -C "$scratch" init -q && git -C "$scratch" -c user.name=a -c user.email=a@b commit -q --allow-empty -m a
  cmake -DSOURCE="$scratch/tree" -DHEADER="$scratch/commit.hpp" -P "$source/src/program/build_commit.cmake"
  grep -qx '#define LANEWISE_COMMIT ""' "$scratch/commit.hpp" || fail "no commit is given"
  exit 0
fi
said=$("$program" version)
[[ $said == "$("$program" --version)" ]] || fail "--version says the same"
top=$(git -C "$source" rev-parse --show-toplevel 2>/dev/null || echo none)
if [[ $top == "$(cd "$source" && pwd -P)" ]]; then
  # That of the build, which need not be the one that is checked out by now.
  [[ $said =~ ^lanewise\ [0-9.]+\ \(commit\ ([0-9a-f]{12})\)$ ]] || fail "a commit: $said"
  git -C "$source" cat-file -e "${BASH_REMATCH[1]}^{commit}" || fail "it is one of this repository"
else
  [[ $said =~ ^lanewise\ [0-9.]+$ ]] || fail "no commit: $said"
fi
