# shellcheck shell=bash
# To be sourced from the top folder: a tool chain whose programs run on old systems. `zig c++`, from
# PyPI, builds for any glibc and any processor with a C++ library of its own inside. Of the
# distribution it takes headers, and hwloc and pugixml as source.
. scripts/fetch_source.sh

readonly zig_version=0.14.1
readonly glibc_floor=2.28 # RHEL 8, Debian 10: PyTorch's wheels run on nothing older

# prepare_portable PROCESSOR: sets $portable, the folder of compilers (cc, c++), hwloc (deps) and a
# prefix with the rest.
prepare_portable() {
  portable=$PWD/build/portable/$1
  zig_python=$PWD/build/zig/bin/python
  mkdir -p "$portable/prefix/include"
  fetch_zig
  write_compiler cc "$1-linux-gnu.$glibc_floor"
  write_compiler c++ "$1-linux-gnu.$glibc_floor"
  local name
  for name in fmt spdlog nlohmann CLI; do
    [[ -d $portable/prefix/include/$name ]] ||
      cp -RpL "/usr/include/$name" "$portable/prefix/include/$name"
  done
  write_package fmt fmt::fmt-header-only FMT_HEADER_ONLY=1
  write_package spdlog spdlog::spdlog_header_only
  write_package nlohmann_json nlohmann_json::nlohmann_json
  write_package CLI11 CLI11::CLI11
  CC="$portable/cc" LANEWISE_DEPS_DIR="$portable/deps" scripts/deps.sh
  "$portable/cc" -O2 -g0 -fPIC -c scripts/packaging/finalize.c -o "$portable/finalize.o"
  [[ -f $portable/prefix/lib/libpugixml.a ]] || build_pugixml
  write_package pugixml pugixml::static "" "$portable/prefix/lib/libpugixml.a"
}

fetch_zig() {
  [[ $("$zig_python" -m ziglang version 2>/dev/null) != "$zig_version" ]] || return 0
  python3 -m venv build/zig
  build/zig/bin/pip install --quiet --disable-pip-version-check "ziglang==$zig_version"
}

# zig knows the linker's options as -Wl, alone. An unchanged file stays, so that CMake does not
# build everything again.
write_compiler() {
  cat >"$portable/$1.new" <<EOT
#!/usr/bin/env bash
words=()
while [[ \$# -gt 0 ]]; do
  if [[ \$1 == -Xlinker ]]; then
    words+=("-Wl,\$2")
    shift
  else
    words+=("\$1")
  fi
  shift
done
exec "$zig_python" -m ziglang $1 -target $2 "\${words[@]}"
EOT
  chmod +x "$portable/$1.new"
  cmp -s "$portable/$1.new" "$portable/$1" || cp -p "$portable/$1.new" "$portable/$1"
  rm "$portable/$1.new"
}

# write_package NAME TARGET [DEFINITION [LIBRARY]]: the distribution's own CMake packages name its
# folders and its shared libraries.
write_package() {
  local folder=$portable/prefix/lib/cmake/$1
  mkdir -p "$folder"
  cat >"$folder/${1}Config.cmake" <<EOT
if(NOT TARGET $2)
  add_library($2 INTERFACE IMPORTED)
  set_target_properties($2 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "\${CMAKE_CURRENT_LIST_DIR}/../../../include"
    INTERFACE_COMPILE_DEFINITIONS "${3:-}" INTERFACE_LINK_LIBRARIES "${4:-}")
endif()
EOT
}

build_pugixml() {
  local work=$portable/pugixml
  rm -rf "${work:?}"
  fetch_source pugixml "$work" "${LANEWISE_PUGIXML_TARBALL:-}" >"$portable/pugixml.log" 2>&1 || {
    tail -20 "$portable/pugixml.log" >&2
    echo "package: cannot get pugixml's source; hand it in: LANEWISE_PUGIXML_TARBALL=pugixml-1.13.tar.gz" >&2
    exit 1
  }
  mkdir -p "$portable/prefix/lib"
  cp "$work"/pugixml-*/src/*.hpp "$portable/prefix/include/"
  (cd "$work"/pugixml-*/src && "$portable/c++" -O2 -fPIC -fvisibility=hidden -c pugixml.cpp -o pugixml.o &&
    "$zig_python" -m ziglang ar rcsD "$portable/prefix/lib/libpugixml.a" pugixml.o)
}
