#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Fails where a decision that was made before, with counters on, costs more than the limit.
# Usage: check_decision_cost.sh LIMIT PLAYS_LIMITS PLUGIN
set -euo pipefail
limit=$1 plays=$2 plugin=$3
export LANEWISE_AGREE_MS=60000

# Instructions inside getCollInfo of so many calls.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null '--toggle-collect=*get_coll_info*' \
    "$plays" "$plugin" "decides_$1" 2>&1 | sed -n 's/^==.*Collected : //p'
}
# What a size costs the first time is in both counts.
few=$(count 1000)
many=$(count 3000)
each=$(((many - few + 1999) / 2000))
echo "$each instructions a decision, $limit allowed ($few for 1000, $many for 3000)"
((few > 0 && each <= limit))
