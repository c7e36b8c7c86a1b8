#!/usr/bin/env bash
# What scripts/containers/slurm.sh starts, with a srun that prints it: check_slurm.sh SLURM.sh CASE
# shellcheck disable=SC2016 # srun expands it
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
mkdir -p "$scratch/lanewise/lib" "$scratch/profiles"
plugin=$scratch/lanewise/lib/libnccl-tuner-lanewise.so
touch "$plugin"
printf '#!/bin/sh\necho "$NCCL_TUNER_PLUGIN $*"\n' >"$scratch/srun"
chmod +x "$scratch/srun"
start() {
  LANEWISE=$scratch/lanewise LANEWISE_PROFILES=$scratch/profiles PATH=$scratch:$PATH "$slurm" "$@" 2>&1
}
slurm=$1
mounts=$plugin:/usr/lib/${plugin##*/},$plugin:/usr/lib64/${plugin##*/},$scratch/profiles:/etc/lanewise/profiles:ro
status=0
case $2 in
  apptainer) expected="lanewise apptainer exec --nv --bind $mounts x.sif serve me" said=$(start x.sif serve me) ;;
  enroot)
    expected="lanewise --container-image=x.sqsh --container-mounts=$mounts serve me"
    said=$(start x.sqsh serve me)
    ;;
  without_plugin)
    rm "$plugin"
    expected="slurm.sh: $plugin: expected a file" said=$(start x.sif serve) || status=$?
    [[ $status -eq 2 ]] || { echo "status $status"; exit 1; }
    ;;
esac
[[ $said == "$expected" ]] || { printf 'said     %s\nexpected %s\n' "$said" "$expected"; exit 1; }
