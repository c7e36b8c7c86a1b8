#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Runs plays_ranks and looks for its result. Usage: check_ranks.sh REGEX PLAYS_RANKS ARGUMENTS..
regex=$1
shift
said=$("$@")
status=$?
echo "$said"
[[ $status == 77 ]] && exit 77
[[ $status == 0 ]] && grep -qE "^$regex" <<<"$said"
