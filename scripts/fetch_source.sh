# shellcheck shell=bash
# To be sourced: fetch_source NAME FOLDER TARBALL unpacks a library's source into FOLDER/NAME-*: from
# the file TARBALL where one is named, else from the archive in the distribution's source package,
# whether or not the machine asks for such. What a distribution patches is not wanted, and a mirror was
# seen that has the archive alone. Needs neither root nor the machine's own package lists.

# A private copy of the machine's package sources that asks for source packages: deb822 files and
# one-line files alike. The machine's own lists stay as they are.
copy_sources() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -f "$file" ]] || continue
    sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$apt/parts/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -f "$file" ]] || continue
    sed -nE 's/^[[:space:]]*deb[[:space:]]+/deb-src /p' "$file" \
      >"$apt/parts/copy-of-$(basename "$file" .list).list"
  done
}

# PROGRAM WORD..: no installed version may decide which source is asked for, so the machine's status
# file is left out.
apt_private() {
  local program=$1
  shift
  "$program" -q -o Dir::Etc::SourceList="$apt/none" -o Dir::Etc::SourceParts="$apt/parts" \
    -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/none" \
    -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The versions that the lists name, newest first: a mirror may have dropped one and serve another.
list_versions() {
  apt_private apt-cache showsrc "$1" | sed -n 's/^Version: *//p' | sort -rVu
}

fetch_source() {
  local name=$1 folder=$2 tarball=$3 version apt
  mkdir -p "$folder"
  [[ -z "$tarball" ]] || { tar -x -f "$tarball" -C "$folder"; return; }
  apt=$(mktemp -d)
  mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
  : >"$apt/none"
  copy_sources
  # A third party's list without source packages makes update complain; only the fetch must work.
  apt_private apt-get update || true
  while read -r version; do
    rm -rf "${folder:?}"/*
    (cd "$folder" && apt_private apt-get --only-source --tar-only source "$name=$version" &&
      tar -x -f "$name"_*.orig.tar.*) || continue
    rm -rf "${apt:?}"
    return 0
  done < <(list_versions "$name")
  rm -rf "${apt:?}"
  return 1
}
