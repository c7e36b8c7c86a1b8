#!/usr/bin/env bash
# Where scripts/deps.sh gets hwloc's source from, with a small library in hwloc's place and package
# programs that only pretend: check_deps.sh SCRIPTS CASE
# shellcheck disable=SC2016 # the programs expand them
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "${scratch:?}"' EXIT
tree="$scratch/a tree"
mkdir -p "$tree" "$scratch/programs" "$scratch/source/hwloc-9.9"/{hwloc,include}
cp -R "$1" "$tree/scripts"
unset CC LANEWISE_DEPS_DIR LANEWISE_HWLOC_TARBALL TMPDIR

fail() {
  echo "not so: $*" >&2
  exit 1
}

program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# As libtool, it cannot build where a path has a blank.
program "$scratch/source/hwloc-9.9/configure" 'for word in "$PWD" "$@"; do
  case $word in ac_* | CFLAGS=*) ;; *" "*) echo "a blank in $word"; exit 1 ;; esac
done
mkdir -p include/private/autogen
echo "#define HWLOC_HAVE_LINUXPCI 1" >include/private/autogen/config.h'
printf 'all:\n\techo "$(CPPFLAGS)" >libhwloc.a\ninstall:\n\tmkdir -p $(DESTDIR)/usr/lib && cp libhwloc.a $(DESTDIR)/usr/lib\n' \
  >"$scratch/source/hwloc-9.9/hwloc/Makefile"
printf 'install:\n\tmkdir -p $(DESTDIR)/usr/include && touch $(DESTDIR)/usr/include/hwloc.h\n' \
  >"$scratch/source/hwloc-9.9/include/Makefile"
tar -c -z -C "$scratch/source" -f "$scratch/a tarball.tar.gz" hwloc-9.9

# A mirror that lists two versions and serves the older one alone, and of that only the library's own
# archive: as one of Ubuntu's was seen to do.
program "$scratch/programs/apt-cache" 'printf "Package: hwloc\nVersion: 9.9-1\n\nPackage: hwloc\nVersion: 9.10-1\n"'
program "$scratch/programs/apt-get" "echo asked >>$scratch/asked
for word in \"\$@\"; do last=\$word; done
case \$last in
  update) exit 0 ;;
  hwloc=9.9-1)
    cp '$scratch/a tarball.tar.gz' hwloc_9.9.orig.tar.gz
    case \" \$* \" in *' --tar-only '*) ;; *) exit 100 ;; esac
    ;;
  *) exit 100 ;;
esac"

deps() { PATH="$scratch/programs:$PATH" "$tree/scripts/deps.sh" >"$scratch/out" 2>&1; }
status_of() {
  local status=0
  "$@" || status=$?
  echo "$status"
}
holds() { grep -qF -- "$1" "$scratch/out" || fail "said \"$1\": $(cat "$scratch/out")"; }
is_built() { grep -q -- '-Dgetenv=lanewise_hwloc_getenv' "$tree/.deps/lib/libhwloc.a" || fail "hwloc is built"; }

case $2 in
  takes_a_file)
    export LANEWISE_HWLOC_TARBALL="$scratch/a tarball.tar.gz"
    deps || fail "it builds: $(cat "$scratch/out")"
    is_built
    [[ -f $tree/.deps/include/hwloc.h ]] || fail "the header is there"
    [[ ! -e $scratch/asked ]] || fail "no package program is asked"
    ;;
  takes_the_version_that_is_served)
    deps || fail "it builds: $(cat "$scratch/out")"
    is_built
    ;;
  builds_once)
    deps && rm "$scratch/asked" && deps || fail "it builds twice: $(cat "$scratch/out")"
    [[ ! -e $scratch/asked ]] || fail "the second run asks nobody"
    holds 'is up to date'
    ;;
  says_how_without_network)
    program "$scratch/programs/apt-get" 'exit 100'
    [[ $(status_of deps) == 1 ]] || fail "it ends with 1"
    holds 'LANEWISE_HWLOC_TARBALL=FILE scripts/deps.sh'
    [[ ! -e $tree/.deps/stamp ]] || fail "nothing is half done"
    ;;
  names_a_missing_file)
    export LANEWISE_HWLOC_TARBALL="$scratch/none.tar.gz"
    [[ $(status_of deps) == 2 ]] || fail "it ends with 2"
    holds "LANEWISE_HWLOC_TARBALL=$scratch/none.tar.gz: expected a file"
    ;;
  *) fail "no such case: $2" ;;
esac
