#!/usr/bin/env bash
# Takes every guard of tests/guards.txt out, one at a time, in a copy of this tree under build/guards
# and shows that a test fails then. Prints a line a guard; the exit status is 0 only where every one
# was missed. Run by hand: about 20 minutes on two cores.
# Usage: guards.sh [REGEX of the guards' names]
#        guards.sh --stale: only names those whose text is not in its file exactly once; in CI.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/tools.sh
wanted=${1:-.}
table=$PWD/tests/guards.txt
work=$PWD/build/guards tree=$PWD/build/guards/tree build=$PWD/build/guards/tree/build
export LANEWISE_DEPS_DIR=${LANEWISE_DEPS_DIR:-$PWD/.deps}
jobs=$(nproc)
if [[ $wanted == --stale ]]; then
  exec python3 - "$table" <<'PYTHON'
import sys
stale = 0
with open(sys.argv[1], encoding="utf-8") as table:
    for line in filter(lambda line: line.strip() and not line.startswith("#"), table):
        name, path, cut = line.split(" :: ")[:3]
        with open(path, encoding="utf-8") as file:
            if file.read().count(cut.replace("\\n", "\n")) != 1:
                print(f"stale: {name}: its text is not exactly once in {path}")
                stale += 1
sys.exit(stale > 0)
PYTHON
fi
name='' file='' cut='' put='' tests='' # of the line that split() read last

# Only what differs is copied, so that a second run builds little; what an interrupted run took out
# comes back.
copy_tree() {
  git ls-files -z --cached --others --exclude-standard | TREE=$tree python3 -c '
import filecmp
import os
import shutil
import sys
for name in sys.stdin.read().split("\0"):
    copy = os.path.join(os.environ["TREE"], name)
    if not os.path.isfile(name) or (os.path.isfile(copy) and filecmp.cmp(name, copy, False)):
        continue
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copy(name, copy)'
}

# Writes a table's line into $name, $file, $cut, $put, $tests; "\n" stands for a line's end.
split() {
  local rest=$1 field
  for field in name file cut put; do
    [[ $rest == *" :: "* ]] || { echo "guards: not five fields: $1" >&2; exit 2; }
    printf -v "$field" '%s' "${rest%% :: *}"
    rest=${rest#* :: }
  done
  [[ $put == "(nothing)" ]] && put=
  tests=$rest
}

# Fails where the text is not in the file exactly once.
is_there() {
  FILE=$tree/$file CUT=$cut python3 -c '
import os
import sys
with open(os.environ["FILE"], encoding="utf-8") as file:
    sys.exit(file.read().count(os.environ["CUT"].replace("\\n", "\n")) != 1)'
}

take_out() {
  FILE=$tree/$file CUT=$cut PUT=$put python3 -c '
import os
path, cut, put = os.environ["FILE"], os.environ["CUT"], os.environ["PUT"]
cut, put = cut.replace("\\n", "\n"), put.replace("\\n", "\n")
with open(path, encoding="utf-8") as file:
    text = file.read()
with open(path, "w", encoding="utf-8") as file:
    file.write(text.replace(cut, put))'
}

# What the tests of a regex run, of what this build makes.
targets_of() {
  ctest --test-dir "$build" -R "$1" --show-only=json-v1 | BUILD=$build python3 -c '
import json
import os
import re
import sys
build = os.path.realpath(os.environ["BUILD"]) + os.sep
found = set()
for test in json.load(sys.stdin)["tests"]:
    for path in re.findall(re.escape(build) + r"\S+", " ".join(test.get("command", []))):
        if os.path.isfile(path) and (os.access(path, os.X_OK) or ".so" in path):
            found.add(os.path.relpath(path, build))
print("\n".join(sorted(found)))'
}

# In a /dev/shm of its own where that can be had: without a guard, files are left there.
own_shm=(env)
if unshare --mount mount -t tmpfs none /dev/shm 2>/dev/null; then
  own_shm=(unshare --mount sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' sh)
fi
run_tests() {
  "${own_shm[@]}" ctest --test-dir "$build" -R "$1" --timeout 60 -j "$jobs" "${@:2}"
}

judge() {
  local targets failed
  mapfile -t targets < <(targets_of "$tests")
  [[ ${#targets[@]} -gt 0 && -n ${targets[0]} ]] || { echo "no such test"; return 1; }
  is_there || { echo "stale: its text is not there exactly once"; return 1; }
  take_out
  if ! cmake --build "$build" -j "$jobs" --target "${targets[@]}" >"$work/log" 2>&1; then
    echo "does not compile without it, see build/guards/log"
    return 1
  fi
  if run_tests "$tests" --stop-on-failure >"$work/log" 2>&1; then
    echo "NOT MISSED by $tests"
    return 1
  fi
  failed=$(sed -nE 's/^\t *[0-9]+ - (.*) \(([^)]*)\).*$/\1 (\2)/p' "$work/log" |
    grep -vE '\((Skipped|Disabled)\)$' | head -1)
  [[ -n $failed ]] || { echo "no test failed, see build/guards/log"; return 1; }
  echo "missed by $failed"
}

lines=()
all_tests=
while IFS= read -r line; do
  [[ -z $line || $line == "#"* ]] && continue
  split "$line"
  [[ $name =~ $wanted ]] || continue
  lines+=("$line")
  all_tests+="${all_tests:+|}$tests"
done <"$table"

copy_tree
# Warnings of what is unused without a guard are no errors here.
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DLANEWISE_BUILD_BENCH=OFF \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF >"$work/log"
cmake --build "$build" -j "$jobs" >"$work/log" || { tail -20 "$work/log" >&2; exit 2; }
run_tests "$all_tests" >"$work/log" ||
  { echo "guards: tests fail with every guard in place" >&2; tail -20 "$work/log" >&2; exit 2; }

not_missed=0
for line in "${lines[@]}"; do
  split "$line"
  cp "$tree/$file" "$work/whole"
  result=$(judge) || not_missed=$((not_missed + 1))
  echo "$name: $result"
  cp "$work/whole" "$tree/$file"
done
echo "${#lines[@]} guards taken out, $not_missed not missed"
[[ $not_missed == 0 ]]
