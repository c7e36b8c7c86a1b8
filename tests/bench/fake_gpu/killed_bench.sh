#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Usage: killed_bench.sh BENCH ARGUMENTS...: the bench is killed in each way, at once and in the middle
# of its work; then none of its processes may be left.
set -u
left=0
alive() { # processes of the session that are no zombies
  ps -o pid=,stat=,args= -s "$1" | awk '$2 !~ /^Z/'
}
for signal in KILL TERM HUP; do
  for delay in 0.05 0.3 3; do
    setsid "$@" > /dev/null 2>&1 &
    session=$!
    sleep $delay
    started=$(alive $session | wc -l)
    kill -$signal $session
    wait $session 2> /dev/null
    # A busy machine is given time; ranks that stay do so for a minute.
    for look in 1 2 3 4 5 6 7 8 9 10; do
      [ -z "$(alive $session)" ] && break
      sleep 0.5
    done
    echo "$signal after $delay s: $started processes, left: $(alive $session | wc -l)"
    [ -z "$(alive $session)" ] || left=1
    alive $session | while read -r pid rest; do kill -9 "$pid"; done
  done
done
[ $left = 0 ] && echo "nobody is left"
