#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Makes two profiles of a machine for plays_profiles. Usage: check_profile_faults.sh LANEWISE
# PLAYS_PROFILES PLAYS_RANKS PLUGIN MACHINE SCENARIO; of_two_ranks: each rank has one of them.
set -euo pipefail
export LANEWISE_MACHINE=$5 LANEWISE_AGREE_MS=20000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fingerprint=$("$1" topology --machine "$5" --json | grep -oE '"fingerprint": ?"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}')
profile() {
  cat >"$folder/$1.json" <<JSON
{"schema_version":1,"fingerprint":"$fingerprint","machine":"m","driver":"","nccl":"2.30.3","created":"2026-11-29T18:00:00Z",
"best_environment":null,"environments":[{"variables":{},"speedup":1.0,"memory_bytes":0,"groups":[
{"ranks":2,"gpus":[],"ll128_verified":false,"rules":[{"bytes":[1,1048576],"choice":"ring/simple/$1"}]}]}],"unsafe":[]}
JSON
}
profile 11
profile 13
if [[ $6 == of_two_ranks ]]; then
  said=$("$3" "$4" 2 0:LANEWISE_PROFILE="$folder/11.json" 1:LANEWISE_PROFILE="$folder/13.json")
  echo "$said"
  grep -q "^applied 0, stock 2, died 0, warned 2" <<<"$said"
  exit
fi
mkdir "$folder/own"
export LANEWISE_PROFILE=$folder/own/profile.json
"$2" "$4" "$6" "$folder/11.json" 11 "$folder/13.json" 13
