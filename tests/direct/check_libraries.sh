#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors

# Fails unless a direct library shows exactly its functions, needs what it may need, or leaves a
# process alone that has nothing to do with NCCL.
# Usage: check_libraries.sh LIBRARY.so symbols EXPORTS.map | preload | nccl | shell
set -euo pipefail
library=$1

fail() {
  echo "check_libraries: $*" >&2
  exit 1
}

needed() { readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

case $2 in
symbols)
  expected=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z0-9_]*\);$/\1/p' "$3" | sort)
  found=$(nm --dynamic --defined-only --format=posix "$library" | cut -d' ' -f1 | sort)
  [[ -n $expected && $found == "$expected" ]] ||
    fail "dynamic symbols differ from exports.map: $(diff <(echo "$expected") <(echo "$found") || true)"
  ! readelf --syms --wide "$library" | grep -w UNIQUE || fail "STB_GNU_UNIQUE defeats dlclose"
  ;;
preload | nccl)
  [[ $2 == preload ]] || needed | grep -qx 'libnccl.so.2' || fail "does not bring NCCL along"
  others=$(needed | grep -vxE 'lib(c|m|dl|pthread)\.so\.[0-9]|ld-linux-[a-z0-9_-]*\.so\.[12]' || true)
  [[ $2 != nccl ]] || others=$(grep -vx 'libnccl.so.2' <<<"$others" || true)
  [[ -z $others ]] || fail "needs $others"
  ;;
shell)
  # What a process has open and mapped differs by the library alone.
  look='exec cat /proc/self/maps'
  plain=$(LANEWISE_DIRECT=1:65536 bash -c "$look" | awk 'NF == 6 { print $6 }' | sort -u)
  loaded=$(LANEWISE_DIRECT=1:65536 LD_PRELOAD=$library bash -c "$look" | awk 'NF == 6 { print $6 }' |
    sort -u | grep -vxF "$library" | grep -v '/libm\.so\.6$')
  [[ $plain == "$loaded" ]] || fail "also mapped: $(diff <(echo "$plain") <(echo "$loaded"))"
  plain=$(LANEWISE_DIRECT=1:65536 bash -c 'echo /proc/self/fd/*')
  loaded=$(LANEWISE_DIRECT=1:65536 LD_PRELOAD=$library bash -c 'echo /proc/self/fd/*')
  [[ $plain == "$loaded" ]] || fail "files are open: $loaded, not $plain"
  ;;
*) fail "what is $2?" ;;
esac
