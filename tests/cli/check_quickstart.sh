#!/usr/bin/env bash
# What scripts/quickstart.sh builds and says, with programs that only pretend to build:
# check_quickstart.sh QUICKSTART CASE
# shellcheck disable=SC2016 # the programs expand them
set -euo pipefail
case=$2
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
tree="$scratch/a tree"
mkdir -p "$tree/scripts" "$scratch/programs"
cp "$1" "$(dirname "$1")/tools.sh" "$tree/scripts/"

program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

gpus='case $1 in --list-gpus) echo "GPU 0: H200"; echo "GPU 1: H200" ;; *) echo 9.0; echo 12.0 ;; esac'
known='compute_80
compute_90
compute_120'
words='-- lanewise-bench is not built, missing: nvcc, nccl.h (-DNCCL_ROOT=)'
install='mkdir -p "$4/bin" "$4/lib"; cp bench "$4/bin/lanewise"; : >"$4/lib/libnccl-tuner-lanewise.so"'
case $case in
  measures | for_all_gpus | for_a_gpu_that_nvcc_does_not_know | without_bench)
    words="-- Configuring done"
    install+='; [ ! -e bench_is_built ] || cp bench "$4/bin/lanewise-bench"'
    ;;
  without_gpus) gpus='exit 9' ;;
  fails) words="-- Configuring done" ;;
esac
[[ $case != for_a_gpu_that_nvcc_does_not_know ]] || known=compute_90
program "$tree/scripts/install.sh" :
program "$tree/scripts/deps.sh" :
program "$tree/bench" 'echo "$(basename "$0") $1"'
program "$scratch/programs/nvidia-smi" "$gpus"
program "$scratch/programs/nvcc" "echo '$known'"
steps='printf "[1/4] one\n[2/4] two\n"'
built="$steps; case \"\$*\" in *--target*) ;; *) : >bench_is_built ;; esac"
[[ $case != fails ]] || built='echo "FAILED: x.o"; echo "x.cpp:1: error: no such thing"; exit 1'
program "$scratch/programs/cmake" "echo \"cmake \$*\" >>'$scratch/calls'
case \$1 in --preset) echo '$words' ;; --install) $install ;; --build) $built ;; esac"

options=()
[[ $case != for_all_gpus ]] || options=(--all-gpus)
[[ $case != without_bench ]] || options=(--no-bench)
status=0
said=$(PATH=$scratch/programs:$PATH CUDACXX=nvcc "$tree/scripts/quickstart.sh" "${options[@]}" "$scratch/the prefix" 2>&1) ||
  status=$?
printf '%s\n' "$said"
hint='^quickstart: not measured: .* nvcc, nccl.h .*cuda-toolkit.*libnccl-dev'
holds() { grep -qE -- "$1" <<<"$said" || { echo "not said: $1"; exit 1; }; }
lacks() { ! grep -qE -- "$1" <<<"$said" || { echo "said: $1"; exit 1; }; }
called() { grep -qE -- "$1" "$scratch/calls" || { cat "$scratch/calls"; echo "not called: $1"; exit 1; }; }
uncalled() { ! grep -qE -- "$1" "$scratch/calls" || { cat "$scratch/calls"; echo "called: $1"; exit 1; }; }

if [[ $case == fails ]]; then
  [[ $status -eq 1 ]] || { echo "status $status"; exit 1; }
  holds 'x.cpp:1: error: no such thing'
  holds 'the build failed \(all of it is in .*/build/quickstart.log\)'
  exit
fi
[[ $status -eq 0 ]] || { echo "status $status"; exit 1; }
holds '^lanewise explain$'
holds '^quickstart: plugin and tool: 50 % \(2 of 4 steps\)$'
called '^cmake --preset release .*-DLANEWISE_QUICK_BUILD=ON .*-DLANEWISE_BUILD_BENCH=OFF'
called '^cmake --build .*--target nccl-tuner-lanewise lanewise$'
case $case in
  names_what_is_missing) holds "$hint" ;;
  measures)
    holds '^lanewise-bench compare$'
    lacks 'not measured'
    called 'BUILD_BENCH=AUTO -DCMAKE_CUDA_ARCHITECTURES=90-real;120-real$'
    # The explanation does not wait for the bench.
    [[ $(grep -nE '^lanewise explain$' <<<"$said" | cut -d: -f1) -lt $(grep -n 'quickstart: bench: ' <<<"$said" | head -1 | cut -d: -f1) ]] ||
      { echo "the bench is built before the explanation"; exit 1; }
    ;;
  for_all_gpus | for_a_gpu_that_nvcc_does_not_know)
    holds '^lanewise-bench compare$'
    uncalled 'CUDA_ARCHITECTURES'
    ;;
  without_bench)
    lacks '^lanewise-bench'
    uncalled 'BUILD_BENCH=AUTO'
    ;;
  without_gpus) lacks 'not measured' ;;
esac
