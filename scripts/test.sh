#!/usr/bin/env bash
# Installs what is missing, builds with -Werror and runs every test: under the address and
# undefined-behaviour sanitizers where they can run it, else plain and with the plugin optimised as in
# a release (the bench, packages, what counts memory, system calls or a decision's instructions); those
# with several threads or ranks under the thread sanitizer, too. Runs each fuzzer for ten seconds
# where clang is (longer: scripts/fuzz.sh). Needs the network the first time, no GPU.
# Usage: test.sh [PRESET ...]; the default is all of the above; `test.sh dev` is every test, plain.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
[[ ${#presets[@]} -gt 0 ]] || presets=(dev asan tsan)

scripts/install.sh test
. scripts/tools.sh
scripts/deps.sh
scripts/format.sh --check

# Many tests wait for most of their time: two for each processor.
build_and_test() {  # PRESET [-DNAME=VALUE ..] TARGET.. -- CTEST_ARGUMENT..
  local preset=$1 targets=() settings=()
  shift
  while [[ $1 == -D* ]]; do settings+=("$1") && shift; done
  while [[ $1 != -- ]]; do targets+=("$1") && shift; done
  shift
  echo "test: $preset"
  cmake --preset "$preset" "${settings[@]}"
  cmake --build --preset "$preset" -j "$(nproc)" ${targets[@]:+--target "${targets[@]}"}
  ctest --preset "$preset" -j "$((2 * $(nproc)))" "$@"
}

for preset in "${presets[@]}"; do
  case $preset in
    dev)
      if [[ $# -gt 0 ]]; then
        build_and_test dev -DLANEWISE_OPTIMIZE_PLUGIN=OFF --
      else
        build_and_test dev -DLANEWISE_OPTIMIZE_PLUGIN=ON plain_tests -- --label-regex plain
      fi
      ;;
    # What starts threads or ranks: the rest has nothing for this sanitizer to see.
    tsan)
      build_and_test tsan nccl-tuner-lanewise plugin_without_hwloc plugin_of_another_version sharing_tests \
        plays_nccl plays_ranks plays_limits plays_starts -- --exclude-regex AThousand --tests-regex \
        '^(sharing_tests|FaultyRanks|PlaysNccl\.|Limits\.(Sixty|Ten))'
      ;;
    *) build_and_test "$preset" -- ;;
  esac
done
[[ $# -gt 0 ]] || scripts/fuzz.sh 10
