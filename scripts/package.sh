#!/usr/bin/env bash
# Makes what a release is: build/packages/lanewise-VERSION-PROCESSOR.tar.gz, .deb and .whl, from one
# build that needs no newer glibc than 2.28 (scripts/packaging/portable.sh). The bench is not in
# them: it depends on the CUDA at hand. Two runs give the same bits (times are those of the last
# commit, or SOURCE_DATE_EPOCH). Needs the network the first time.
# Usage: package.sh [x86_64|aarch64]
#        package.sh --from BUILD_FOLDER OUT_FOLDER   (packs another build as it is, for the tests)
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tools.sh
umask 022
export LC_ALL=C TZ=UTC

version=$(sed -nE 's/^project\(lanewise VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH

build_portable() {
  . scripts/packaging/portable.sh
  scripts/install.sh
  prepare_portable "$processor"
  build=$PWD/build/package-$processor
  # Debug paths would differ between two folders; -s leaves no symbols beside the dynamic ones.
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" \
    -DCMAKE_C_COMPILER="$portable/cc" -DCMAKE_CXX_COMPILER="$portable/c++" \
    -DCMAKE_C_FLAGS=-g0 -DCMAKE_CXX_FLAGS="-g0 -ffile-prefix-map=$PWD=." \
    -DCMAKE_MODULE_LINKER_FLAGS="-s $portable/finalize.o" -DCMAKE_EXE_LINKER_FLAGS=-s \
    -DCMAKE_LINK_DEPENDS_USE_LINKER=OFF -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_PREFIX_PATH="$portable/prefix" -DLANEWISE_DEPS_DIR="$portable/deps" \
    -DLANEWISE_BUILD_TESTS=OFF -DLANEWISE_BUILD_BENCH=OFF >"build/package.log" ||
    { tail -30 build/package.log >&2; exit 1; }
  cmake --build "$build" -j "$(nproc)" --target nccl-tuner-lanewise lanewise
}

# A release is not tested by the test suite's build: so the plugin itself is played, loaded twice and
# closed, before it is packed. One for another processor cannot be.
play_plugin() {
  local scenario
  [[ $processor == "$(uname -m)" ]] || { echo "package: $processor: not run here"; return 0; }
  "$portable/cc" -O1 -g0 tests/plugin/plays_nccl.c tests/plugin/tuner_player.c -o "$portable/plays_nccl" -ldl -lpthread
  for scenario in twice concurrently after_fork unbalanced; do
    "$portable/plays_nccl" "$build/plugin/libnccl-tuner-lanewise.so" "$scenario" >build/package.log 2>&1 || {
      tail -30 build/package.log >&2
      echo "package: the plugin fails when NCCL is played: $scenario" >&2
      exit 1
    }
  done
}

# The newest glibc whose symbols plugin and tool name, as in 2.28.
find_glibc() {
  find "$tree" -name '*.so' -type f -exec objdump -T "$tree/bin/lanewise" {} + |
    grep -oE 'GLIBC_[0-9.]+' | cut -d_ -f2 | sort -V | tail -1
}

# Lays the installation out as everyone gets it: the same order, owner, modes and times.
make_archive() {
  find "$work/$name" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  tar -c -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w \
    --format=gnu "$name" | gzip -n -9 >"$out/$name.tar.gz"
  echo "$out/$name.tar.gz"
}

make_deb() {
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb" \
    -D CPACK_INSTALL_CMAKE_PROJECTS="$build;lanewise;Unspecified;/" -D CPACK_STRIP_FILES="${#strip[@]}" \
    -D CPACK_DEBIAN_PACKAGE_DEPENDS="libc6 (>= $glibc)" \
    -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE="${processor/x86_64/amd64}" >"$work/deb.log" 2>&1 ||
    { cat "$work/deb.log" >&2; exit 1; }
  mv "$work"/deb/*.deb "$out/"
  echo "$out"/lanewise_*.deb
}

processor=${1:-x86_64} build='' out=$PWD/build/packages strip=()
case $processor in
--from)
  [[ $# -eq 3 ]] || { echo "package: expected --from BUILD_FOLDER OUT_FOLDER" >&2; exit 2; }
  processor=$(uname -m) build=$(realpath "$2") out=$(realpath -m "$3") strip=(--strip)
  ;;
x86_64 | aarch64)
  build_portable
  play_plugin
  ;;
*) echo "package: '$processor': expected x86_64 or aarch64" >&2; exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "${work:?}"' EXIT
name=lanewise-$version-$processor
tree=$work/$name
mkdir -p "$out"
cmake --install "$build" --prefix "$tree" --component Unspecified "${strip[@]}" >/dev/null
glibc=$(find_glibc)
make_archive
make_deb
python3 scripts/packaging/make_wheel.py "$tree" "$version" \
  "manylinux_${glibc/./_}_$processor" "$out"
echo "package: these need glibc $glibc or newer"
