#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
# The rules of a profile are those of exactly the GPUs that the ranks drive, whatever their order.
# Usage: check_gpu_groups.sh LANEWISE PLAYS_RANKS PLUGIN FAKE_CUDA MACHINE BUSES CHANNELS
# BUSES of the ranks as in 18,98; CHANNELS of every rank, "model" for no rule of the profile.
set -euo pipefail
lanewise=$1 plays=$2 plugin=$3 machine=$5
IFS=, read -ra buses <<<"$6"
export FAKE_CUDA=$4 LANEWISE_MACHINE=$machine LANEWISE_AGREE_MS=20000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fingerprint=$("$lanewise" topology --machine "$machine" --json | grep -oE '"fingerprint": ?"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}')
group() {
  echo "{\"ranks\":$1,\"gpus\":[$2],\"ll128_verified\":false,\"rules\":[{\"bytes\":[14336,14336],\"choice\":\"ring/simple/$3\"}]}"
}
cat >"$folder/profile.json" <<JSON
{"schema_version":1,"fingerprint":"$fingerprint","machine":"m","driver":"","nccl":"2.30.3","created":"2026-11-29T18:00:00Z",
"best_environment":null,"environments":[{"variables":{},"speedup":1.0,"memory_bytes":0,"groups":[
$(group 2 1,2 11),$(group 2 1,3 13),$(group 4 1,2,3,4 17)]}],"unsafe":[]}
JSON
export LANEWISE_PROFILE=$folder/profile.json
faults=()
for rank in "${!buses[@]}"; do faults+=("$rank:bus=${buses[rank]}"); done
said=$("$plays" "$plugin" "${#buses[@]}" "${faults[@]}") || true
echo "$said"
if [[ $7 == model ]]; then
  grep -q "2 ranks were measured on GPUs 1,2 or 1,3, here on 1,4" <<<"$said" && ! grep -qE ": 1[137] channels" <<<"$said"
else
  [[ $(grep -c ": $7 channels$" <<<"$said") == "${#buses[@]}" ]]
fi
