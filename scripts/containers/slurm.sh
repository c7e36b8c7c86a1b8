#!/usr/bin/env bash
#SBATCH --nodes=1 --ntasks=1 --gres=gpu:8
# A server in an Apptainer or enroot image under Slurm, the plugin from a shared folder:
#   sbatch scripts/containers/slurm.sh IMAGE.sif|IMAGE.sqsh COMMAND..
# LANEWISE: an unpacked lanewise-VERSION-x86_64.tar.gz, /opt/lanewise where not set. Containers of
# Slurm inherit this job's variables and its /dev/shm, so nothing else has to be passed.
set -euo pipefail
lanewise=${LANEWISE:-/opt/lanewise}
image=${1:?usage: slurm.sh IMAGE COMMAND..}
shift
export NCCL_TUNER_PLUGIN=lanewise
name=libnccl-tuner-lanewise.so
[[ -f $lanewise/lib/$name ]] || { echo "slurm.sh: $lanewise/lib/$name: expected a file" >&2; exit 2; }

# Both kinds of images are served: of Debian's and of Red Hat's.
mounts=$lanewise/lib/$name:/usr/lib/$name,$lanewise/lib/$name:/usr/lib64/$name
profiles=${LANEWISE_PROFILES:-/etc/lanewise/profiles}
[[ ! -d $profiles ]] || mounts+=,$profiles:/etc/lanewise/profiles:ro
case $image in
*.sqsh) exec srun --container-image="$image" --container-mounts="$mounts" "$@" ;; # pyxis
*) exec srun apptainer exec --nv --bind "$mounts" "$image" "$@" ;;
esac
