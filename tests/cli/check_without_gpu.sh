#!/usr/bin/env bash
# As check_output.sh, on a machine without GPUs; exit 77 where there is one.
# Usage: check_without_gpu.sh LANEWISE STATUS TEXT ARGUMENTS...
lanewise=$1 status=$2 text=$3
shift 3
unset LANEWISE_MACHINE
"$lanewise" topology | grep -q '^note  no NVIDIA GPU$' || { echo "here is a GPU"; exit 77; }
exec "$(dirname "$0")/check_output.sh" "$status" "$text" "$lanewise" "$@"
