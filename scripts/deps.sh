#!/usr/bin/env bash
# Builds what Debian ships in a form that cannot go into a plugin: hwloc as a static,
# position-independent library, from Debian's own source package. The result lies in .deps (or in
# $LANEWISE_DEPS_DIR, which several checkouts can share); CMake finds it there by itself.
# Quick when it is there already. Needs g++, make, dpkg-dev and the network; not root.
set -euo pipefail
cd "$(dirname "$0")/.."

# Raised whenever the way of building changes: an older build is then made anew.
readonly recipe="hwloc recipe 3"

deps="${LANEWISE_DEPS_DIR:-$PWD/.deps}"
mkdir -p "$deps"
deps="$(cd "$deps" && pwd)"

is_built() { [[ -f "$deps/lib/libhwloc.a" && "$(cat "$deps/stamp" 2>/dev/null)" == "$recipe" ]]; }

is_built && { echo "deps: $deps is up to date"; exit 0; }
exec 9>"$deps/lock"
flock 9
is_built && { echo "deps: $deps is up to date"; exit 0; }

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/src"

# A private copy of the machine's package sources that asks for source packages: deb822 files and
# one-line files alike. The machine's own lists stay as they are.
copy_sources() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -f "$file" ]] || continue
    sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$work/apt/parts/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -f "$file" ]] || continue
    sed -nE 's/^[[:space:]]*deb[[:space:]]+/deb-src /p' "$file" \
      >"$work/apt/parts/copy-of-$(basename "$file" .list).list"
  done
}

apt_private() {
  apt-get -q -o Dir::Etc::SourceList="$work/apt/none" -o Dir::Etc::SourceParts="$work/apt/parts" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

fetch_source() {
  copy_sources && : >"$work/apt/none" || return 1
  # A third party's list without source packages makes update complain; only the fetch must work.
  apt_private update
  (cd "$work/src" && apt_private source hwloc)
}

# hwloc's Linux backend reads PCI from sysfs, but --disable-pci would take that away too: so
# libpciaccess is just not found. hwloc's getenv goes to a function of ours
# (src/host/machine/hardware_hwloc.cpp): an HWLOC_ variable of the user's must not make one rank see another
# machine than its peers. So does its openat: it reads 25 files of every processor, most of them of
# caches that we filter out, whatever the filters say. Only the library is made: no tools, tools' files or documentation.
# Steps are joined by && because a caller that asks for the result switches set -e off in here.
build_hwloc() {
  cd "$work"/src/hwloc-*/ &&
    ./configure --quiet --prefix="$deps" --libdir="$deps/lib" \
      --enable-static --disable-shared --with-pic --enable-32bits-pci-domain \
      --disable-plugins --disable-plugin-dlopen --disable-plugin-ltdl --disable-libudev \
      --disable-libxml2 --disable-cuda --disable-nvml --disable-opencl --disable-gl \
      --disable-rsmi --disable-levelzero --disable-cairo --disable-doxygen --disable-readme \
      ac_cv_header_pciaccess_h=no ac_cv_lib_pciaccess_pci_slot_match_iterator_create=no \
      CFLAGS="-O2 -fvisibility=hidden" &&
    grep -q 'define HWLOC_HAVE_LINUXPCI 1' include/private/autogen/config.h &&
    # After configure: its own checks must see the real ones.
    make -s -j"$(nproc)" -C hwloc \
      CPPFLAGS="-Dgetenv=lanewise_hwloc_getenv -Dopenat=lanewise_hwloc_openat" &&
    make -s -C hwloc install &&
    make -s -C include install
}

stop_with() {
  tail -50 "$work/log" >&2
  echo "deps: $1" >&2
  exit 1
}

fetch_source >"$work/log" 2>&1 || stop_with "cannot fetch hwloc's source package"
(build_hwloc) >"$work/log" 2>&1 || stop_with "hwloc does not build"
rm -rf "$deps/lib/pkgconfig" "$deps"/lib/*.la
echo "$recipe" >"$deps/stamp"
echo "deps: built hwloc in $deps"
