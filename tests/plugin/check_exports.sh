#!/usr/bin/env bash
# Fails unless the plugin shows exactly its own symbols and needs nothing but an old enough glibc.
# Usage: check_exports.sh PLUGIN.so symbols|needed|glibc EXPORTS.map
set -euo pipefail
plugin=$1
check=$2
exports_map=$3
newest_glibc=2.35 # Ubuntu 22.04's, the oldest that serving images are built on
# Headers of 2.38 and later name functions of 2.38: for older systems there is scripts/package.sh.
glibc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
[[ $(printf '%s\n' "$glibc" 2.38 | sort -V | head -1) != 2.38 ]] || newest_glibc=2.38

fail() {
  echo "check_exports: $*" >&2
  exit 1
}

check_symbols() {
  local expected found
  expected=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z0-9_]*\);$/\1/p' "$exports_map" | sort)
  found=$(nm --dynamic --defined-only --format=posix "$plugin" | cut -d' ' -f1 | sort)
  [[ -n $expected && $found == "$expected" ]] ||
    fail "dynamic symbols differ from exports.map:" \
      "$(diff <(echo "$expected") <(echo "$found") || true)"
  ! readelf --syms --wide "$plugin" | grep -w UNIQUE || fail "STB_GNU_UNIQUE defeats dlclose"
  ! readelf --dynamic --wide "$plugin" | grep -w NODELETE || fail "NODELETE defeats dlclose"
}

check_needed() {
  local library
  while read -r library; do
    case $library in
    libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-x86-64.so.2 | \
      ld-linux-aarch64.so.1) ;;
    libhwloc.so.*) fail "needs $library: run scripts/deps.sh and configure again" ;;
    *) fail "needs $library" ;;
    esac
  done < <(readelf --dynamic --wide "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}

check_glibc() {
  local version
  version=$(objdump -T "$plugin" | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -V | tail -1)
  [[ -n $version ]] || fail "no versioned glibc symbol at all"
  [[ $(printf '%s\n' "$version" "$newest_glibc" | sort -V | tail -1) == "$newest_glibc" ]] ||
    fail "needs GLIBC_$version, newer than $newest_glibc"
}

"check_$check"
