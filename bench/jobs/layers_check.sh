#!/usr/bin/env bash
# Runs lanewise-layers-check with real NCCL libraries on a machine with two GPUs or more and checks
# what each release says: that it finds the net and env plugins by NAME, declines to use the net
# plugin, takes the tuner from the same library, and starts with the profile's environment.
# Usage: layers_check.sh BUILD_FOLDER LIBNCCL[.xz]...   (files named libnccl-VERSION.so[.xz])
set -uo pipefail
build=$(cd "$1" && pwd)
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# What the profile asks for: over host memory stock has at most 4 channels, so 20 are ours.
channels=20
environment=(NCCL_MIN_NCHANNELS=$channels NCCL_P2P_DISABLE=1)

fail() {
  echo "  FAILED: $*"
  failures=$((failures + 1))
}

expect_line() { grep -q -- "$1" "$scratch/log" || fail "no line \"$1\""; }

# run NAME=VALUE...: one program with these variables, its log in $scratch/log.
run() {
  timeout 120 env -u NCCL_TUNER_PLUGIN -u NCCL_NET_PLUGIN -u NCCL_ENV_PLUGIN \
    LD_LIBRARY_PATH="$scratch/nccl:$build/plugin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,TUNING,ENV "$@" \
    "$build/bench/lanewise-layers-check" >"$scratch/log" 2>&1 ||
    fail "status $?: $(grep -v INFO "$scratch/log" | tail -5)"
  expect_line 'sums right'
}

is_at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -1)" = "$2" ]; }

check_release() {
  local version=$1
  export LANEWISE_PROFILE=$scratch/profile.json
  "$build/tests/make_profile" "$LANEWISE_PROFILE" - "$version" 8 "${environment[@]}" ||
    fail "no profile"

  echo "NCCL $version, NCCL_NET_PLUGIN=lanewise"
  run NCCL_NET_PLUGIN=lanewise
  expect_line 'lanewise: no network of its own'
  expect_line "lanewise [0-9.]*: NCCL $version, [0-9]* ranks"
  grep -q ' Using network lanewise' "$scratch/log" && fail 'it became the network'

  echo "NCCL $version, NCCL_NET_PLUGIN=lanewise LANEWISE_APPLY_ENV=1"
  run NCCL_NET_PLUGIN=lanewise LANEWISE_APPLY_ENV=1
  expect_line "set NCCL_MIN_NCHANNELS=$channels"
  expect_line " $channels coll channels"

  is_at_least "$version" 2.28.7 || return 0
  echo "NCCL $version, NCCL_ENV_PLUGIN=lanewise"
  run NCCL_ENV_PLUGIN=lanewise
  expect_line "lanewise [0-9.]*: NCCL $version, [0-9]* ranks"
  expect_line " $channels coll channels"
}

for archive in "$@"; do
  version=$(basename "$archive" | sed -E 's/^libnccl-([0-9.]+)\.so.*/\1/')
  mkdir -p "$scratch/nccl"
  case $archive in
  *.xz) xz -dc "$archive" >"$scratch/nccl/libnccl.so.2" ;;
  *) cp "$archive" "$scratch/nccl/libnccl.so.2" ;;
  esac
  before=$failures
  check_release "$version"
  if [ "$failures" != "$before" ]; then
    echo "--- the last log of NCCL $version"
    tail -60 "$scratch/log"
  fi
done
echo "$failures failures"
[ "$failures" = 0 ]
