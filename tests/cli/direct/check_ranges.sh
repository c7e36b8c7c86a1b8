#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors

# From a comparison to a launch: direct_ranges.py writes sizes into a profile, `lanewise env --direct`
# says them to the libraries. Usage: check_ranges.sh LANEWISE MACHINE
set -euo pipefail
lanewise=$1 machine=$2
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 "$here/../../../scripts/direct_ranges.py" "$here/compare.json" \
  "$here/../golden/two_layers_profile.json" "$folder/profile.json"
# 57344 is not certain enough, and the fastest arm at 114688 summed wrongly.
expected='export LANEWISE_DIRECT=8=14336:28672:one-shot-ll,8=114688:114688:two-shot'
output=$(LANEWISE_MACHINE=$machine "$lanewise" env --profile "$folder/profile.json" --direct)
grep -qxF "$expected" <<<"$output" || {
  echo "expected $expected in: $output"
  exit 1
}
