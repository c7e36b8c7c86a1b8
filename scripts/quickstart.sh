#!/usr/bin/env bash
# From a bare Debian or Ubuntu to an installed Lanewise: installs packages, builds plugin and tool,
# installs them into build/install (or the folder given) and shows what Lanewise does to each size of
# a model's all-reduces. Then, where there are two GPUs or more, it builds the bench for just these
# GPUs and measures. After the first run it needs no network.
# Usage: quickstart.sh [--all-gpus] [--no-bench] [PREFIX]
#   --all-gpus  build the bench for every GPU that this CUDA knows, to copy it elsewhere (minutes)
#   --no-bench  stop after the explanation
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "quickstart: $1: expected [--all-gpus] [--no-bench] [PREFIX]" >&2; exit 2; }
prefix='' gpu_choice=here bench_choice=built
for word in "$@"; do
  case $word in
  --all-gpus) gpu_choice=all ;;
  --no-bench) bench_choice=none ;;
  -* | '') usage "'$word'" ;;
  *)
    [[ -z $prefix ]] || usage "'$word'"
    prefix=$word
    ;;
  esac
done
prefix=$(realpath -m "${prefix:-build/install}")
mkdir -p build
readonly log=$PWD/build/quickstart.log
: >"$log"

# What it said goes to the log, and to the screen where it failed.
quietly() {
  "$@" >>"$log" 2>&1 && return
  tail -30 "$log" >&2
  echo "quickstart: failed: $* (all of it is in $log)" >&2
  exit 1
}

# One line a tenth of the way, from Ninja's "[12/345]".
show_progress() {
  local line shown=0 tenth
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    [[ $tenth -gt $shown ]] || continue
    shown=$tenth
    echo "quickstart: $1: $((10 * tenth)) % (${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps)"
  done
}

build() {
  local what=$1
  shift
  cmake --build --preset release -j "$(nproc)" "$@" 2>&1 | show_progress "$what" && return
  grep -E -A5 'FAILED|error' "$log" | tail -30 >&2
  echo "quickstart: the build failed (all of it is in $log)" >&2
  exit 1
}

configure() {
  # CMake remembers that it found no nvcc; one that was installed since is to be seen.
  local again=()
  [[ -x $prefix/bin/lanewise-bench ]] || again=(--fresh)
  quietly cmake --preset release "${again[@]}" -DLANEWISE_BUILD_TESTS=OFF -DLANEWISE_QUICK_BUILD=ON \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF "$@"
}

count_gpus() {
  command -v nvidia-smi >/dev/null || { echo 0; return; }
  nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' || true
}

# "120-real" or "90-real;120-real": the compute capabilities of the GPUs that are here. Nothing where
# this nvcc does not know one of them: it is served by code that the driver translates.
list_architectures() {
  local known found one
  known=$("${CUDACXX:-nvcc}" --list-gpu-arch 2>/dev/null || true)
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -nE 's/^ *([0-9]+)\.([0-9]+) *$/\1\2/p' | sort -nu)
  for one in $found; do
    [[ -z $known ]] || grep -qx "compute_$one" <<<"$known" || return 0
  done
  sed 's/$/-real/' <<<"$found" | grep -v '^-real' | paste -sd ';' -
}

explain() {
  local machine="this machine" options=("${shape[@]}")
  if [[ $gpus -lt 2 ]]; then
    machine="the machine that ships with the tool, as here are fewer than two GPUs"
    options+=(--machine "$prefix/share/lanewise/machines/two_sockets_8gpu.xml" --ranks 8)
  fi
  echo
  echo "What Lanewise does for a hidden size of 7168 in bf16 ($machine):"
  "$prefix/bin/lanewise" explain "${options[@]}"
}

measure() {
  local architectures=() found missing
  found=$(list_architectures)
  [[ $gpu_choice == all || -z $found ]] || architectures=("-DCMAKE_CUDA_ARCHITECTURES=$found")
  configure -DLANEWISE_BUILD_BENCH=AUTO "${architectures[@]}"
  missing=$(sed -n 's/.*lanewise-bench is not built, missing: //p' "$log" | tail -1)
  if [[ -n $missing ]]; then
    echo "quickstart: not measured: lanewise-bench needs $missing; from NVIDIA's repository" \
      "for Debian or Ubuntu: cuda-toolkit (its bin folder on PATH) and libnccl-dev, or NCCL_ROOT=FOLDER/nvidia/nccl" \
      "of the wheel nvidia-nccl-cu13; then run this again" >&2
    return
  fi
  echo
  echo "To measure it, the bench is built now${found:+ for the GPUs of this machine (${found//-real/})}."
  build bench
  quietly cmake --install build/release --prefix "$prefix"
  echo "Measured on these $gpus GPUs, stock NCCL and Lanewise in turns:"
  "$prefix/bin/lanewise-bench" compare "${shape[@]}" ||
    echo "quickstart: the measurement failed, see above" >&2
}

scripts/install.sh
. scripts/tools.sh
scripts/deps.sh
gpus=$(count_gpus)
shape=(--hidden 7168 --dtype bf16 --tokens 1,2,4,8,16)
configure -DLANEWISE_BUILD_BENCH=OFF
build "plugin and tool" --target nccl-tuner-lanewise lanewise
# What needs CUDA is not built yet and is installed with the bench.
quietly cmake --install build/release --prefix "$prefix" --component Unspecified
explain
plugin=$(find "$prefix" -name libnccl-tuner-lanewise.so -print -quit)
cat <<EOT

Installed in $prefix. To start a server with it:
  export LD_LIBRARY_PATH="$(dirname "$plugin"):\$LD_LIBRARY_PATH" NCCL_TUNER_PLUGIN=lanewise
or, with the variables set for you:
  "$prefix/bin/lanewise" run -- COMMAND
EOT
[[ $gpus -lt 2 || $bench_choice == none ]] || measure
