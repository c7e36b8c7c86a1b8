#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Fails where a process's first communicator, on the machine of a file and agreeing with itself, costs
# more instructions than the limit: 15 ms are allowed, and a slow processor takes 1 ns for each.
# Usage: check_init_cost.sh LIMIT PLAYS_LIMITS PLUGIN MACHINE
set -euo pipefail
export LANEWISE_AGREE_MS=60000 LANEWISE_MACHINE=$4
cost=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null '--toggle-collect=*open_context*' \
  "$2" "$3" decides_1000 2>&1 | sed -n 's/^==.*Collected : //p')
echo "$cost instructions for an init, $1 allowed"
((cost > 0 && cost <= $1))
