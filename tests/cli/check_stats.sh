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

if [[ $case != nobody && $case != other_user ]]; then "$plays" "$plugin" twice; fi
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
    expect "$("$lanewise" stats)" "^No process .*has counted a call|^No process has counted a call" ;;
  pid) expect "$("$lanewise" stats "$pid")" "^process $pid " ;;
  nobody) expect "$("$lanewise" stats)" "^No process" ;;
  other_user)
    # An image runs as a user of its own: root sees its server, and leaves the counts to it.
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    chmod 755 "$scratch" && cp "$plays" "$plugin" "$scratch" && chmod 1777 /dev/shm
    (cd "$scratch" && exec setpriv --reuid 1234 --regid 1234 --clear-groups \
      "./$(basename "$plays")" "./$(basename "$plugin")" twice)
    for _ in 1 2; do expect "$("$lanewise" stats)" '^process [0-9]+ \(plays_nccl\), user 1234, '; done
    expect "$("$lanewise" stats --json)" '"user":1234,'
    ;;
  unknown_pid)
    status=0; said=$("$lanewise" stats 4194305 2>&1) || status=$?
    [[ $status == 2 ]] || { echo "status $status"; exit 1; }
    expect "$said" "process 4194305: expected one of this user" ;;
  watch) expect "$("$lanewise" stats --watch)" "ended$" ;;
esac
