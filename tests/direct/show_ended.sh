#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors

# Passes on what processes said while they ran, and adds what `lanewise stats` still says of those
# that it listed, which removes their counts.
# Usage: show_ended.sh LANEWISE < OUTPUT
set -euo pipefail
said=$(cat)
mapfile -t listed < <(sed -n 's/^process \([0-9]*\) .*running$/\1/p' <<<"$said")
ended=$(for pid in "${listed[@]}"; do "$1" stats "$pid"; done)
printf '%s\n' "$(grep -v '^status' <<<"$said")" "$ended" "$(grep '^status' <<<"$said")"
