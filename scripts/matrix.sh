#!/usr/bin/env bash
# Every NCCL release that Lanewise serves, one row each, as README.md's table wants it.
# Usage: matrix.sh fetch FOLDER [VERSION..]   libnccl-VERSION.so.xz of the wheels, one a minor release
#        matrix.sh FILE..                     which plugin interfaces the files libnccl-VERSION.so[.xz] name
#        matrix.sh --build BUILD FILE..       besides, a run of each on this machine's GPUs: with one GPU
#                                             8 ranks as threads from NCCL 2.30.3 on, before that one rank,
#                                             which shows that the plugin is loaded and stands aside
set -euo pipefail
export LC_ALL=C
# The last of each minor release from 2.21 on, the first that takes a tuner of v2 or later.
newest=(2.21.5 2.22.3 2.23.4 2.24.3 2.25.1 2.26.5 2.27.7 2.28.9 2.29.7 2.30.7 2.31.2 2.32.3)

stop() { echo "matrix: $1" >&2; exit 2; }
is_at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -1) == "$2" ]]; }

fetch() {
  local folder=$1 version
  shift
  [[ $# -gt 0 ]] || set -- "${newest[@]}"
  mkdir -p "$folder"
  for version in "$@"; do
    [[ ! -f $folder/libnccl-$version.so.xz ]] || continue
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      -d "$scratch" "nvidia-nccl-cu12==$version"
    python3 -m zipfile -e "$scratch"/nvidia_nccl_cu12-*.whl "$scratch/wheel"
    xz -T0 -1 -c "$scratch"/wheel/nvidia/nccl/lib/libnccl.so.2 >"$scratch/new.xz"
    mv "$scratch/new.xz" "$folder/libnccl-$version.so.xz"
    rm -rf "${scratch:?}"/*
  done
}

# "v2 v3": the versions of an interface that the library asks a plugin for.
list_interfaces() {
  grep -aoE "nccl$1Plugin_v[0-9]+" "$library" | sed 's/.*_//' | sort -uV | paste -sd ' ' -
}

# Sets $seen to what a run showed, or to why it failed.
run_release() {
  local version=$1 ranks=$gpus limits=()
  if [[ $gpus -eq 1 ]] && is_at_least "$version" 2.30.3; then
    ranks=8
    limits=(NCCL_MULTI_RANK_GPU_ENABLE=1)
  fi
  if ! timeout 120 env -u NCCL_NET_PLUGIN -u NCCL_ENV_PLUGIN "${limits[@]}" NCCL_TUNER_PLUGIN=lanewise \
    NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING,ENV NCCL_P2P_DISABLE=1 \
    LD_LIBRARY_PATH="$scratch/nccl:$build/plugin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$build/bench/lanewise-layers-check" "$ranks" >"$scratch/log" 2>&1; then
    seen="FAILED: $(grep -v INFO "$scratch/log" | tail -1)"
  elif ! grep -q 'sums right' "$scratch/log"; then
    seen="FAILED: no sums"
  else
    seen=$(sed -nE 's/.*(lanewise [0-9.]+: NCCL .*)/\1/p' "$scratch/log" | sort -u | head -1)
    [[ -n $seen ]] && seen="$ranks ranks: ${seen#lanewise *: }" || seen="FAILED: the plugin was not loaded"
  fi
  if [[ $seen == FAILED* ]]; then
    failures=$((failures + 1))
    cp "$scratch/log" "matrix-$version.log"
  fi
}

print_row() {
  local file=$1 version agreement="no: all ranks must have the same files" seen="not run"
  version=$(basename "$file" | sed -nE 's/^libnccl-([0-9.]+)\.so(\.xz)?$/\1/p')
  [[ -n $version && -f $file ]] || stop "$file: expected a file libnccl-VERSION.so or .so.xz"
  mkdir -p "$scratch/nccl"
  library=$scratch/nccl/libnccl.so.2
  if [[ $file == *.xz ]]; then xz -dc "$file" >"$library"; else cp "$file" "$library"; fi
  [[ ! " $(list_interfaces Tuner) " =~ \ v[5-9]\  ]] || agreement=yes
  [[ -z $build ]] || run_release "$version"
  printf '| %s | %s | %s | %s | %s | %s |\n' "$version" "$(list_interfaces Tuner)" \
    "$(list_interfaces Env)" "$(list_interfaces Net)" "$agreement" "$seen"
}

scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
build='' gpus=0 failures=0
case ${1:-} in
fetch)
  [[ $# -ge 2 ]] || stop "expected fetch FOLDER [VERSION..]"
  shift
  fetch "$@"
  exit
  ;;
--build)
  [[ $# -ge 3 ]] || stop "expected --build BUILD FILE.."
  build=$(realpath "$2")
  [[ -x $build/bench/lanewise-layers-check ]] || stop "$build: expected a build with the bench"
  gpus=$(nvidia-smi --list-gpus | grep -c '^GPU ') || stop "--build needs a GPU"
  shift 2
  ;;
esac
[[ $# -gt 0 ]] || stop "expected fetch FOLDER, or files libnccl-VERSION.so[.xz]"
echo '| NCCL | tuner | env | net | ranks agree | seen in a run |'
echo '| --- | --- | --- | --- | --- | --- |'
for file in "$@"; do print_row "$file"; done
[[ $failures -eq 0 ]] || { echo "matrix: $failures failed, see matrix-VERSION.log" >&2; exit 1; }
