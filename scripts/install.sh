#!/usr/bin/env bash
# Installs what building needs and what is missing here, from Debian's packages. Uses sudo where it
# is not root; does nothing, and needs neither, where all is there.
# Usage: install.sh [test], with what the tests need besides
set -euo pipefail

packages=(
  g++ make cmake ninja-build pkg-config # to build
  dpkg-dev xz-utils ca-certificates     # for scripts/deps.sh, which builds hwloc from source
  libhwloc-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libcli11-dev libpugixml-dev
)
# For the bench's report, and to count the instructions of a decision.
[[ ${1:-} != test ]] || packages+=(libgtest-dev binutils python3 python3-matplotlib valgrind)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install: not a Debian: please install the equivalents of ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || {
    echo "install: not root and no sudo; as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

echo "install: ${missing[*]}"
# Another package's half-done installation or a third party's list must not stop this one.
apt update || echo "install: apt-get update failed, trying with the lists there are" >&2
apt install --no-install-recommends "${missing[@]}"
