#!/usr/bin/env bash
# Formats the C and C++ sources as .clang-format says, with clang-format 14: another one formats
# otherwise. scripts/install.sh test brings it from PyPI into build/tools.
# Usage: format.sh [--check]: changes nothing, and fails where something would change
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tools.sh

[[ $(clang-format --version 2>/dev/null) == *" version 14."* ]] || {
  echo "format: expected clang-format 14: scripts/install.sh test" >&2
  exit 2
}
how=(-i)
[[ ${1:-} != --check ]] || how=(--dry-run -Werror)
find bench include plugin src tests -regex '.*\.\(c\|cpp\|cu\|cuh\|h\|hpp\)' -print0 |
  xargs -0 clang-format "${how[@]}"
