#!/usr/bin/env bash
# Installs what is missing, builds with -Werror and runs every test, plain and then under the
# address, undefined-behaviour and thread sanitizers. Needs the network the first time, no GPU.
# Usage: test.sh [PRESET ...], the default is: dev asan tsan, and a minute of each fuzzer where clang
# is
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[[ ${#presets[@]} -gt 0 ]] || presets=(dev asan tsan)

scripts/install.sh test
scripts/deps.sh
for preset in "${presets[@]}"; do
  echo "test: $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" -j "$(nproc)"
  ctest --preset "$preset" -j "$(nproc)"
done
if [[ $# -eq 0 ]]; then
  scripts/fuzz.sh
fi
