#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors

# A job of two ranks whose first try is killed while rank 0 waits, and that is then started again
# under the same name, rank 1 first.
export OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE="fake-again-$$"
OMPI_COMM_WORLD_RANK=0 "$@" >/dev/null 2>&1 &
first=$!
for _ in $(seq 100); do
  ls /dev/shm | grep -q "fake-again-$$" && break
  sleep 0.1
done
sleep 0.5
kill -9 "$first"
wait "$first"
ls /dev/shm | grep -q "fake-again-$$" && echo "one segment left"
OMPI_COMM_WORLD_RANK=1 "$@" &
other=$!
sleep 1
OMPI_COMM_WORLD_RANK=0 "$@" 2>&1
first=$?
wait "$other"
echo "status $first $?"
