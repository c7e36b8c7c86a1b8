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
  # What the loader opens beside its own is the library; nothing is opened later.
  read -r files < <(LD_PRELOAD=$library LANEWISE_DIRECT=1:65536 bash -c \
    'ls -l /proc/$$/fd | grep -c -- "->"; grep -c -E "libnccl|libcuda" /proc/$$/maps || true' | tr '\n' ' ')
  plain=$(LANEWISE_DIRECT=1:65536 bash -c \
    'ls -l /proc/$$/fd | grep -c -- "->"; grep -c -E "libnccl|libcuda" /proc/$$/maps || true' | tr '\n' ' ')
  [[ "$files " == "$plain" || "$files" == "$plain" ]] || fail "open files and libraries: '$plain' without, '$files' with it"
  ;;
*) fail "what is $2?" ;;
esac
