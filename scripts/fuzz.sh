#!/usr/bin/env bash
# Fuzzes the readers of files and settings. Usage: fuzz.sh [SECONDS for each, default 60] [NAME ..]
# Where there is no clang it says so and does nothing. What is found stays in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tools.sh
seconds=${1:-60}
shift || true
names=("$@")
[[ ${#names[@]} -gt 0 ]] || names=(profile tuner_csv nccl_xml hwloc_xml topo_matrix settings)

command -v clang++ >/dev/null || { echo "fuzz: no clang++, nothing fuzzed"; exit 0; }
cmake --preset fuzz
cmake --build --preset fuzz -j "$(nproc)" --target "${names[@]/#/fuzz_}"

fuzz() {
  local name=$1 grown=build/fuzz/grown/$1 found=build/fuzz/found/$1
  mkdir -p "$grown" "$found"
  "build/fuzz/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=65536 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 -artifact_prefix="$found/" \
    "$grown" "tests/fuzz/corpus/$name" && echo "fuzz: $name, $seconds s: nothing found"
}
export -f fuzz
export seconds
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I NAME bash -c 'fuzz NAME'
