# shellcheck shell=bash
# To be sourced from the top folder: puts the CMake that install.sh may have fetched on the PATH.
least_cmake=3.25

[[ ! -x build/tools/bin/cmake ]] || PATH=$PWD/build/tools/bin:$PATH
export PATH

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/^cmake version //p'; }

has_new_cmake() {
  local version
  version=$(cmake_version)
  [[ -n $version && $(printf '%s\n' "$least_cmake" "$version" | sort -V | head -1) == "$least_cmake" ]]
}
