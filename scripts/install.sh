#!/usr/bin/env bash
# Installs what building needs and what is missing here, from the distribution's packages; a newer
# CMake from PyPI into build/tools where the system's is older than 3.25 (scripts/tools.sh puts that
# on the PATH). Uses sudo where it is not root; does nothing, and needs neither sudo nor the
# network, where all is there.
# Usage: install.sh [test], with what the tests need besides
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tools.sh

packages=(
  g++ make cmake ninja-build pkg-config # to build
  bzip2 xz-utils ca-certificates # for scripts/deps.sh, which builds hwloc from source
  libspdlog-dev libfmt-dev nlohmann-json3-dev libcli11-dev libpugixml-dev
)
# For the bench's report, to count the instructions of a decision, and to bring the formatter.
[[ ${1:-} != test ]] || packages+=(libgtest-dev binutils python3 python3-matplotlib python3-venv valgrind)

is_installed() {
  local status
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null || true)
  [[ $status == installed ]]
}

# Sets $missing.
list_missing() {
  local package
  missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
}

install_missing() {
  local as_root=()
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || {
      echo "install: not root and no sudo; as root: apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "install: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  # Another package's half-done installation or a third party's list must not stop this one.
  "${apt[@]}" update || echo "install: apt-get update failed, trying with the lists there are" >&2
  "${apt[@]}" install --no-install-recommends "${missing[@]}"
}

# The machine's own Python and packages stay as they are: the new CMake lies in build/tools.
install_newer_cmake() {
  echo "install: CMake $(cmake_version) is older than $least_cmake: a newer one from PyPI into build/tools"
  python3 -m venv build/tools &&
    build/tools/bin/pip install --quiet --disable-pip-version-check "cmake>=$least_cmake,<4" || {
    rm -rf build/tools
    echo "install: no newer CMake: put one of $least_cmake or later on the PATH" >&2
    exit 1
  }
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  list_missing "${packages[@]}"
  install_missing
else
  echo "install: not a Debian: please install the equivalents of ${packages[*]}" >&2
fi

if [[ ${1:-} == test && $(clang-format --version 2>/dev/null) != *" version 14."* ]]; then
  [[ -x build/tools/bin/pip ]] || python3 -m venv build/tools
  build/tools/bin/pip install --quiet --disable-pip-version-check clang-format==14.0.6
fi

if ! has_new_cmake; then
  if command -v apt-get >/dev/null; then
    list_missing python3 python3-venv
    install_missing
  fi
  install_newer_cmake
fi
