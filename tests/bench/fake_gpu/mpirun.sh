#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors

# Starts two ranks of "$@" with the variables of Open MPI, and says how they ended.
export OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE="fake-$$"
OMPI_COMM_WORLD_RANK=1 "$@" &
other=$!
OMPI_COMM_WORLD_RANK=0 "$@" 2>&1
first=$?
wait "$other"
second=$?
ls /dev/shm | grep -q "fake-$$" && left="something" || left="nothing"
echo "status $first $second, $left left"
