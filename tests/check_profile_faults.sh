#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# Makes two profiles of a machine for plays_profiles. Usage: check_profile_faults.sh LANEWISE
# PLAYS_PROFILES PLUGIN MACHINE SCENARIO
set -euo pipefail
export LANEWISE_MACHINE=$4 LANEWISE_AGREE_MS=20000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fingerprint=$("$1" topology --machine "$4" --json | grep -oE '"fingerprint": ?"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}')
profile() {
  cat >"$folder/$1.json" <<JSON
{"schema_version":1,"fingerprint":"$fingerprint","machine":"m","driver":"","nccl":"2.30.3","created":"2026-11-29T18:00:00Z",
"best_environment":null,"environments":[{"variables":{},"speedup":1.0,"memory_bytes":0,"groups":[
{"ranks":2,"gpus":[],"ll128_verified":false,"rules":[{"bytes":[1,1048576],"choice":"ring/simple/$1"}]}]}],"unsafe":[]}
JSON
}
profile 11
profile 13
mkdir "$folder/own"
export LANEWISE_PROFILE=$folder/own/profile.json
"$2" "$3" "$5" "$folder/11.json" 11 "$folder/13.json" 13
