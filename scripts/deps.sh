#!/usr/bin/env bash
# Builds what distributions ship in a form that cannot go into a plugin: hwloc as a static,
# position-independent library. The source comes from the distribution's source package, or from a
# file of yours: LANEWISE_HWLOC_TARBALL=hwloc-2.9.0.tar.gz (no network needed then).
# The result lies in .deps (or in $LANEWISE_DEPS_DIR, which several checkouts can share); CMake
# finds it there by itself. Quick when it is there already. Needs g++ (or $CC) and make; not root.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/fetch_source.sh

# Raised whenever the way of building changes: an older build is then made anew.
readonly recipe="hwloc recipe 4"

deps="${LANEWISE_DEPS_DIR:-$PWD/.deps}"
tarball="${LANEWISE_HWLOC_TARBALL:-}"
[[ -z "$tarball" || -f "$tarball" ]] || {
  echo "deps: LANEWISE_HWLOC_TARBALL=$tarball: expected a file that is there" >&2
  exit 2
}
mkdir -p "$deps"
deps="$(cd "$deps" && pwd)"

is_built() { [[ -f "$deps/lib/libhwloc.a" && "$(cat "$deps/stamp" 2>/dev/null)" == "$recipe" ]]; }

is_built && { echo "deps: $deps is up to date"; exit 0; }
exec 9>"$deps/lock"
flock 9
is_built && { echo "deps: $deps is up to date"; exit 0; }

# libtool cannot build in a path with blanks, so neither source nor result lie in this folder.
[[ "${TMPDIR:-}" != *[[:space:]]* ]] || export TMPDIR=/tmp
work="$(mktemp -d)"
trap 'rm -rf "${work:?}"' EXIT

# hwloc's Linux backend reads PCI from sysfs, but --disable-pci would take that away too: so
# libpciaccess is just not found. hwloc's getenv goes to a function of ours
# (src/host/machine/hardware_hwloc.cpp): an HWLOC_ variable of the user's must not make one rank see another
# machine than its peers. So does its openat: it reads 25 files of every processor, most of them of
# caches that we filter out, whatever the filters say. Only the library is made: no tools, tools' files or documentation.
# The prefix and the folder would be in the library: so that two builds give the same bits, they are not.
# Steps are joined by && because a caller that asks for the result switches set -e off in here.
build_hwloc() {
  local host=() hooks="-Dgetenv=lanewise_hwloc_getenv -Dopenat=lanewise_hwloc_openat"
  [[ -z "${CC:-}" ]] || host=("--host=$("$CC" -dumpmachine)")
  cd "$work"/src/hwloc-*/ &&
    ./configure --quiet --prefix=/usr --libdir=/usr/lib "${host[@]}" \
      --enable-static --disable-shared --with-pic --enable-32bits-pci-domain \
      --disable-plugins --disable-plugin-dlopen --disable-plugin-ltdl --disable-libudev \
      --disable-libxml2 --disable-cuda --disable-nvml --disable-opencl --disable-gl \
      --disable-rsmi --disable-levelzero --disable-cairo --disable-doxygen --disable-readme \
      ac_cv_header_pciaccess_h=no ac_cv_lib_pciaccess_pci_slot_match_iterator_create=no \
      CFLAGS="-O2 -fvisibility=hidden" &&
    grep -q 'define HWLOC_HAVE_LINUXPCI 1' include/private/autogen/config.h &&
    # After configure: its own checks must see the real ones.
    make -s -j"$(nproc)" -C hwloc \
      CPPFLAGS="$hooks -ffile-prefix-map=$work/src/=" &&
    make -s -C hwloc install DESTDIR="$work/out" &&
    make -s -C include install DESTDIR="$work/out"
}

stop_with() {
  tail -50 "$work/log" >&2
  printf 'deps: %s\n' "$@" >&2
  exit 1
}

fetch_source hwloc "$work/src" "$tarball" >"$work/log" 2>&1 ||
  stop_with "${tarball:+$tarball: }cannot get hwloc's source; hand it in as a file:" \
    "  LANEWISE_HWLOC_TARBALL=FILE scripts/deps.sh" \
    "where FILE is hwloc's release archive (hwloc-2.9.0.tar.gz) or Debian's hwloc_2.9.0.orig.tar.bz2"
(build_hwloc) >"$work/log" 2>&1 || stop_with "hwloc does not build"
rm -rf "${deps:?}/include" "${deps:?}/lib"
mkdir -p "$deps/lib"
cp -R "$work/out/usr/include" "$deps/include"
cp "$work/out/usr/lib/libhwloc.a" "$deps/lib/"
echo "$recipe" >"$deps/stamp"
echo "deps: built hwloc in $deps"
