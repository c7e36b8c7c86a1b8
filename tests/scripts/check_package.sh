#!/usr/bin/env bash
# What scripts/package.sh makes of a build: check_package.sh SOURCE BUILD CASE
set -euo pipefail
source=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
export SOURCE_DATE_EPOCH=1790000000
shape=(--ranks 8 --hidden 7168 --dtype bf16 --tokens 1)

fail() {
  echo "not so: $*" >&2
  exit 1
}

pack() { "$source/scripts/package.sh" --from "$build" "$1" >"$scratch/log" 2>&1 || fail "it packs: $(cat "$scratch/log")"; }

# expect_use TOOL MACHINES: it explains, and starts a server with its own plugin.
expect_use() {
  local tool=$1 said folder
  said=$("$tool" explain --machine "$2/two_sockets_8gpu.xml" "${shape[@]}")
  [[ $said == *14336* ]] || fail "it explains: $said"
  # shellcheck disable=SC2016 # the server's shell expands it
  folder=$(env -u LD_LIBRARY_PATH "$tool" run -- sh -c 'echo "$LD_LIBRARY_PATH"' 2>/dev/null)
  [[ $folder == "$3"* && -f $folder/libnccl-tuner-lanewise.so ]] || fail "the plugin is found: $folder"
}

pack "$scratch/one"
case $3 in
  archive)
    mkdir -p "$scratch/any where"
    tar -x -f "$scratch"/one/lanewise-*.tar.gz -C "$scratch/any where"
    folder=$(echo "$scratch/any where"/lanewise-*)
    expect_use "$folder/bin/lanewise" "$folder/share/lanewise/machines" "$folder"
    [[ -f $folder/share/doc/lanewise/LICENSE && -L $folder/lib/libnccl-net-lanewise.so ]] ||
      fail "licence and links are there"
    ;;
  wheel)
    python3 -m zipfile -e "$scratch"/one/lanewise-*.whl "$scratch/site"
    chmod +x "$scratch/site/lanewise/bin/lanewise" # as pip does, from the mode that zipfile ignores
    printf '#!/bin/sh\nexec python3 -m lanewise "$@"\n' >"$scratch/tool"
    chmod +x "$scratch/tool"
    export PYTHONPATH=$scratch/site
    expect_use "$scratch/tool" "$scratch/site/lanewise/share/lanewise/machines" "$scratch/site"
    python3 - "$scratch"/one/lanewise-*.whl <<'PYTHON' || fail "names, hashes and modes are a wheel's"
import base64, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
record = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")][0]
lines = [line.rsplit(",", 2) for line in wheel.read(record).decode().splitlines()]
assert sorted(line[0] for line in lines) == sorted(wheel.namelist())
for name, digest, size in lines:
    if name != record:
        found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + found and int(size) == len(wheel.read(name)), name
assert wheel.getinfo("lanewise/bin/lanewise").external_attr >> 16 & 0o111
PYTHON
    ;;
  deb)
    dpkg-deb -x "$scratch"/one/lanewise_*.deb "$scratch/root"
    [[ $(dpkg-deb -f "$scratch"/one/lanewise_*.deb Depends) == "libc6 (>= 2."* ]] || fail "it needs glibc alone"
    [[ -z $(dpkg-deb -c "$scratch"/one/lanewise_*.deb | grep -v 'root/root') ]] || fail "all is root's"
    expect_use "$scratch/root/usr/bin/lanewise" "$scratch/root/usr/share/lanewise/machines" "$scratch/root/usr"
    ;;
  same_bits)
    (umask 077 && pack "$scratch/two")
    for file in "$scratch"/one/*; do
      cmp "$file" "$scratch/two/$(basename "$file")" || fail "two runs make the same $(basename "$file")"
    done
    [[ $(find "$scratch/one" -type f | wc -l) -eq 3 ]] || fail "archive, package and wheel are made"
    ;;
  *) fail "no such case: $3" ;;
esac
