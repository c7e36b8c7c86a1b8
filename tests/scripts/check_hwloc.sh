#!/usr/bin/env bash
# Without scripts/deps.sh configuring ends with what to run: check_hwloc.sh SOURCE CMAKE
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
status=0
said=$("$2" -S "$1" -B "$scratch/build" -DLANEWISE_DEPS_DIR="$scratch/none" -DLANEWISE_BUILD_TESTS=OFF \
  -DLANEWISE_BUILD_BENCH=OFF 2>&1) || status=$?
[[ $status -eq 1 ]] || { echo "status $status: $said"; exit 1; }
for text in "  scripts/deps.sh" "-DLANEWISE_SHARED_HWLOC=ON"; do
  [[ $said == *"$text"* ]] || { echo "not said: $text: $said"; exit 1; }
done
