#!/usr/bin/env bash
# What scripts/quickstart.sh says about measuring, with programs that only pretend to build:
# check_quickstart.sh QUICKSTART CASE
# shellcheck disable=SC2016 # the programs expand them
set -euo pipefail
case=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tree/scripts" "$scratch/programs"
cp "$1" "$scratch/tree/scripts/quickstart.sh"

program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

gpus='echo "GPU 0: H200"; echo "GPU 1: H200"'
words='-- lanewise-bench is not built, missing: nvcc, nccl.h (-DNCCL_ROOT=)'
install='mkdir -p "$4/bin" "$4/lib"; cp bench "$4/bin/lanewise"; : >"$4/lib/libnccl-tuner-lanewise.so"'
if [[ $case == measures ]]; then
  words="-- Configuring done"
  install+='; cp bench "$4/bin/lanewise-bench"'
fi
[[ $case != without_gpus ]] || gpus='exit 9'
program "$scratch/tree/scripts/install.sh" :
program "$scratch/tree/scripts/deps.sh" :
program "$scratch/tree/bench" 'echo "$(basename "$0") $1"'
program "$scratch/programs/nvidia-smi" "$gpus"
program "$scratch/programs/cmake" "case \$1 in --preset) echo '$words' ;; --install) $install ;; esac"

said=$(PATH=$scratch/programs:$PATH "$scratch/tree/scripts/quickstart.sh" "$scratch/prefix" 2>&1)
printf '%s\n' "$said"
hint='^quickstart: not measured: .* nvcc, nccl.h .*cuda-toolkit.*libnccl-dev'
holds() { grep -qE -- "$1" <<<"$said" || { echo "not said: $1"; exit 1; }; }
lacks() { ! grep -qE -- "$1" <<<"$said" || { echo "said: $1"; exit 1; }; }
holds '^lanewise explain$'
case $case in
  names_what_is_missing) holds "$hint" ;;
  measures) holds '^lanewise-bench compare$' && lacks 'not measured' ;;
  without_gpus) lacks 'not measured' ;;
esac
