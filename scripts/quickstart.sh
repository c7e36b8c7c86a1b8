#!/usr/bin/env bash
# From a bare Debian 12 to an installed Lanewise: installs packages, builds, installs into
# build/install (or the folder given), measures where there are two GPUs or more, and ends with what
# Lanewise does to each size of a model's all-reduces.
# Usage: quickstart.sh [PREFIX]
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:-$PWD/build/install}

scripts/install.sh
scripts/deps.sh
mkdir -p build
log=build/quickstart.log
# CMake remembers that it found no nvcc; one that was installed since is to be seen.
again=()
[[ -x $prefix/bin/lanewise-bench ]] || again=(--fresh)
cmake --preset release "${again[@]}" -DLANEWISE_BUILD_TESTS=OFF \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF | tee "$log"
cmake --build --preset release -j "$(nproc)"
cmake --install build/release --prefix "$prefix"

lanewise=$prefix/bin/lanewise
plugin=$(find "$prefix" -name libnccl-tuner-lanewise.so -print -quit)
bench=$prefix/bin/lanewise-bench
gpus=0
if command -v nvidia-smi >/dev/null; then
  gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' || true)
fi

shape=(--hidden 7168 --dtype bf16 --tokens 1,2,4,8,16)
if [[ $gpus -ge 2 && ! -x $bench ]]; then
  missing=$(sed -n 's/.*lanewise-bench is not built, missing: //p' "$log")
  echo "quickstart: not measured: lanewise-bench needs ${missing:-nvcc, nccl.h}; from NVIDIA's repository" \
    "for Debian: cuda-toolkit (its bin folder on PATH) and libnccl-dev, or NCCL_ROOT=FOLDER/nvidia/nccl of" \
    "the wheel nvidia-nccl-cu13; then run this again" >&2
elif [[ $gpus -ge 2 ]]; then
  echo
  echo "Measured on these $gpus GPUs, stock NCCL and Lanewise in turns:"
  "$bench" compare "${shape[@]}" || echo "quickstart: the measurement failed, see above" >&2
fi

cat <<EOT

Installed in $prefix. To start a server with it:
  export LD_LIBRARY_PATH=$(dirname "$plugin"):\$LD_LIBRARY_PATH NCCL_TUNER_PLUGIN=lanewise

EOT
machine="this machine"
explain=("${shape[@]}")
if [[ $gpus -lt 2 ]]; then
  machine="the machine that ships with the tool, as here are fewer than two GPUs"
  explain+=(--machine "$prefix/share/lanewise/machines/two_sockets_8gpu.xml" --ranks 8)
fi
echo "What Lanewise does for a hidden size of 7168 in bf16 ($machine):"
"$lanewise" explain "${explain[@]}"
