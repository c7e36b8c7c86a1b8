#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# One case of `lanewise stats`, in a /dev/shm of its own: exit 77 where no mount namespace is allowed.
# Usage: check_stats.sh LANEWISE PLAYS_NCCL PLUGIN CASE
set -euo pipefail
lanewise=$1 plays=$2 plugin=$3 case=$4
if [[ ${LANEWISE_PRIVATE_SHM:-} != 1 ]]; then
  unshare -m true 2>/dev/null || { echo "needs a mount namespace"; exit 77; }
  exec unshare -m env LANEWISE_PRIVATE_SHM=1 "$0" "$@"
fi
unset LANEWISE_PRIVATE_SHM
mount -t tmpfs tmpfs /dev/shm
expect() { grep -qE -- "$2" <<<"$1" || { echo "expected: $2"; echo "got: $1"; exit 1; }; }

if [[ $case != nobody ]]; then "$plays" "$plugin" twice; fi
pid=$(ls /dev/shm | sed -n 's/^lanewise-[0-9]*-stats-[0-9a-f]*-//p')
case $case in
  table)
    shown=$("$lanewise" stats)
    expect "$shown" "^process $pid \(plays_nccl\), NCCL [0-9.]+, since 20[0-9-]+ [0-9:]+ UTC, ended$"
    expect "$shown" "^ communicator [0-9a-f]{16}, 8 ranks, GPU unknown, applies, closed$"
    expect "$shown" "^ +14336 +1 +eager " ;;
  json) expect "$("$lanewise" stats --json)" '^"sizes":\[\{"bytes":14336,"calls":2\}\],$' ;;
  prometheus)
    expect "$("$lanewise" stats --prometheus)" "^lanewise_calls_total\{pid=\"$pid\".* 1$" ;;
  removes)
    "$lanewise" stats >/dev/null
    expect "$("$lanewise" stats)" "^No process of this user has counted a call.$" ;;
  pid) expect "$("$lanewise" stats "$pid")" "^process $pid " ;;
  nobody) expect "$("$lanewise" stats)" "^No process" ;;
  unknown_pid)
    status=0; said=$("$lanewise" stats 4194305 2>&1) || status=$?
    [[ $status == 2 ]] || { echo "status $status"; exit 1; }
    expect "$said" "process 4194305: expected one of this user" ;;
  watch) expect "$("$lanewise" stats --watch)" "ended$" ;;
esac
