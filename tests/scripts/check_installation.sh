#!/usr/bin/env bash
# What others get from an installation, in a path with a blank and moved after it was made:
# check_installation.sh BUILD CONSUMER_SOURCE CASE
set -euo pipefail
build=$1 consumer=$2
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
prefix="$scratch/the prefix"

fail() {
  echo "not so: $*" >&2
  exit 1
}

expect_version() {
  local plugin said expected
  plugin=$(find "$prefix" -name libnccl-tuner-lanewise.so)
  # The tool also names the commit that it was built from.
  expected=$("$prefix/bin/lanewise" version | cut -d' ' -f1,2)
  said=$("$1" "$plugin")
  [[ $said == "$expected" ]] || fail "the plugin says \"$expected\", not \"$said\""
}

cmake --install "$build" --prefix "$scratch/made here" >/dev/null
case $3 in
  cmake_package)
    mv "$scratch/made here" "$prefix"
    cmake -S "$consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1 &&
      cmake --build "$scratch/build" >>"$scratch/log" 2>&1 || fail "it builds: $(cat "$scratch/log")"
    expect_version "$scratch/build/consumer"
    ;;
  pkg_config)
    # pkg-config's words are split by who uses them, so no blank here.
    prefix=$scratch/moved
    mv "$scratch/made here" "$prefix"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name lanewise.pc)")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046 # flags are words
    cc $(pkg-config --cflags lanewise) "$consumer/consumer.c" -o "$scratch/consumer" -ldl
    expect_version "$scratch/consumer"
    [[ -f $(pkg-config --variable=plugindir lanewise)/libnccl-tuner-lanewise.so ]] ||
      fail "plugindir holds the plugin"
    ;;
  uninstall)
    prefix="$scratch/made here"
    touch "$prefix/bin/mine" "$prefix/share/lanewise/mine"
    cmake --build "$build" --target uninstall >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
    left=$(cd "$prefix" && find . -type f -o -type l | sort | paste -sd ' ' -)
    [[ $left == "./bin/mine ./share/lanewise/mine" ]] || fail "only others' files are left, not: $left"
    [[ ! -e $prefix/include/lanewise ]] || fail "an empty folder is removed"
    ;;
  *) fail "no such case: $3" ;;
esac
