#!/usr/bin/env bash
# check_doctor.sh LANEWISE CASE: `lanewise doctor` on a machine made of files.
set -euo pipefail
program=$1 case=$2 here=$(cd "$(dirname "$0")" && pwd)
while IFS= read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(NCCL|LANEWISE)_')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

function_at() {  # PATH VENDOR DEVICE CLASS
  local at=machine/sys/devices/$1
  mkdir -p "$at" machine/sys/bus/pci/devices
  ln -s "../../../devices/$1" "machine/sys/bus/pci/devices/${1##*/}"
  echo "$2" > "$at/vendor"; echo "$3" > "$at/device"; echo "$4" > "$at/class"; echo 0 > "$at/numa_node"
  for end in max current; do
    echo "32.0 GT/s PCIe" > "$at/${end}_link_speed"; echo 16 > "$at/${end}_link_width"
  done
}

# Two GPUs behind one switch, IOMMU translation, 64 MiB of shared memory and a wrong variable.
top=pci0000:00/0000:00:01.1/0000:01:00.0
function_at pci0000:00/0000:00:01.1 0x1022 0x153e 0x060400
function_at $top 0x1000 0xc010 0x060400
for number in 0 1; do
  function_at $top/0000:02:0$number.0 0x1000 0xc010 0x060400
  function_at $top/0000:02:0$number.0/0000:0$((3 + number)):00.0 0x10de 0x2bb5 0x030200
  mkdir -p machine/sys/kernel/iommu_groups/1$number
  echo DMA-FQ > machine/sys/kernel/iommu_groups/1$number/type
  ln -s ../../kernel/iommu_groups/1$number \
    machine/sys/bus/pci/devices/0000:0$((3 + number)):00.0/iommu_group
done
mkdir -p machine/sys/devices/system/node/node0 machine/proc/self machine/proc/driver/nvidia machine/etc
echo 0 > machine/sys/devices/system/node/online
echo "NVRM version" > machine/proc/driver/nvidia/version
echo "shm /dev/shm tmpfs rw,size=16384k 0 0" > machine/proc/self/mounts
echo "NCCL_P2P_LEVEL=sys" > machine/etc/nccl.conf

run() {  # EXPECTED_STATUS ARGUMENTS...
  local expected=$1 actual=0
  shift
  "$program" doctor "$@" > output 2> errors || actual=$?
  [[ $actual -eq $expected ]] || { cat output errors; echo "status $actual, expected $expected"; exit 1; }
}

case $case in
  text)
    run 2 --root machine
    diff -u "$here/doctor/broken.txt" output ;;
  json)
    run 2 --root machine --json
    diff -u "$here/doctor/broken.json" output ;;
  page)
    run 0 --list
    diff -u "$here/../../src/host/doctor/FINDINGS.md" output ;;
  svg)
    run 2 --root machine --svg tree.svg
    grep -q '<svg xmlns' tree.svg
    grep -q 'broken iommu-translates' tree.svg
    [[ $(grep -c '<rect' tree.svg) -eq 5 ]] || { cat tree.svg; exit 1; }
    run 2 --root machine --svg nowhere/tree.svg
    grep -q 'nowhere/tree.svg: cannot' errors ;;
  leaves_files_alone)
    find machine -printf '%p %T@ %s\n' | sort > before
    run 2 --root machine
    find machine -printf '%p %T@ %s\n' | sort | diff before - ;;
  without_sys)
    mkdir empty
    run 0 --root empty
    run 1 --root empty --strict
    grep -q '/sys/bus/pci/devices is not visible' output ;;
  measures)
    mkdir programs
    cat > programs/lanewise-bench <<'EOT'
#!/bin/sh
[ "$1 $2" = "links --json" ] || exit 2
cat > "$3" <<'JSON'
{"links": {"gpus": ["0000:03:00.0", "0000:04:00.0"], "contention": [], "pairs": [
  {"from": 0, "to": 1, "method": "peer", "one_way_gbs": null, "error": "it hung"}]}}
JSON
exit 3 # as where a pair hangs
EOT
    chmod +x programs/lanewise-bench
    PATH=$PWD/programs:$PATH TMPDIR=$PWD run 2 --measure
    grep -q 'Peer access of 1 pairs of GPUs does not work: 0000:03:00.0 to 0000:04:00.0: it hung' output
    [[ -z $(ls -d lanewise-* 2>/dev/null) ]] || { echo "left behind: $(ls)"; exit 1; } ;;
  refuses)
    run 2 --root machine --measure
    grep -q -- '--measure: expected without --root' errors
    echo '{"links": {' > links.json
    run 2 --root machine --links links.json
    grep -q 'links.json:' errors
    run 2 --root nowhere
    grep -q 'nowhere: expected a folder' errors
    run 2 --root machine --pid 99999
    grep -q -- '--pid 99999: expected a running process' errors
    run 2 --root machine --nccl new
    grep -q -- '--nccl new: expected a release' errors
    echo '{' > hazards.json
    run 2 --root machine --hazards hazards.json
    grep -q 'hazards.json:' errors ;;
  *) echo "check_doctor: no case $case"; exit 1 ;;
esac
