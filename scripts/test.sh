#!/usr/bin/env bash
# Installs what is missing, builds with -Werror and runs every test, plain and then under the
# address, undefined-behaviour and thread sanitizers; counts a decision's instructions; runs each
# fuzzer for a minute where clang is. Needs the network the first time, no GPU.
# Usage: test.sh [PRESET ...], the default is all of the above, with presets only theirs.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[[ ${#presets[@]} -gt 0 ]] || presets=(dev asan tsan)

scripts/install.sh test
. scripts/tools.sh
scripts/deps.sh
for preset in "${presets[@]}"; do
  echo "test: $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" -j "$(nproc)"
  ctest --preset "$preset" -j "$(nproc)"
done
if [[ $# -eq 0 ]]; then
  echo "test: release, a decision's instructions: they count only where the compiler optimises"
  cmake --preset release -DLANEWISE_BUILD_BENCH=OFF
  cmake --build --preset release -j "$(nproc)" --target nccl-tuner-lanewise plays_limits
  ctest --preset release -L callgrind
  scripts/fuzz.sh
fi
