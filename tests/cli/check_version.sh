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
  commit=$(git -C "$source" rev-parse --short=12 HEAD)
  [[ $said =~ ^lanewise\ [0-9.]+\ \(commit\ $commit\)$ ]] || fail "the commit $commit: $said"
else
  [[ $said =~ ^lanewise\ [0-9.]+$ ]] || fail "no commit: $said"
fi
