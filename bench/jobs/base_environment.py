#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""What the base environment costs where the plugin changes nothing: the worst ratios to stock.

Usage: base_environment.py BENCH PLUGIN NCCL_FOLDER OUTPUT_FOLDER RANKS[,RANKS]
Ranks are threads on one GPU, NCCL's library is NCCL_FOLDER/libnccl.so.2. Beside stock run: stock once
more in ranks of its own (how far two communicators differ by themselves), the base environment with a
plugin that is inert (noop-env) and with one that only observes (lanewise-env, LANEWISE_MODE=observe).
A line an arm: the sizes below the limit, and the worst as bytes: ratio [95 %] channels x threads.
"""
import json
import os
import subprocess
import sys

COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "broadcast"]
# Not a variable of anybody's: ranks with it are others, and the same.
TWIN = "env:LANEWISE_BENCH_TWIN=1"
ARMS = ["stock", TWIN, "noop", "noop-env", "lanewise-env"]
LIMIT = 0.98
SECONDS = 75


def measure(bench, plugin, folder, output, ranks, collective):
    name = os.path.join(output, f"base-{ranks}-{collective}.json")
    environment = dict(os.environ, LANEWISE_MODE="observe")
    environment["LD_LIBRARY_PATH"] = folder + ":" + environment.get("LD_LIBRARY_PATH", "")
    environment.pop("NCCL_THREAD_THRESHOLDS", None)
    command = [bench, "compare", "--threads", "--ranks", str(ranks), "--plugin", plugin, "--range",
               "1K:16M", "--collective", collective, "--calls", "10", "--rounds", "12",
               "--most-rounds", "18", "--instances", "5", "--budget", str(SECONDS), "--json", name]
    for arm in ARMS:
        command += ["--arm", arm]
    with open(name + ".txt", "w", encoding="utf-8") as log:
        status = subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT,
                                check=False).returncode
    if not os.path.exists(name):
        print(f"{ranks} ranks, {collective}: ended with {status}, see {name}.txt", flush=True)
        return None
    with open(name, encoding="utf-8") as written:
        return json.load(written)


# Of each arm: the sizes, worst first. What was looked at again counts with the better reading, as
# in `compare --check never-worse`.
def ratios_of(result):
    found = {}
    for part in ["sizes", "again"]:
        for size in result.get(part, []):
            for arm in size["arms"]:
                if not arm.get("ratio"):
                    continue
                sizes = found.setdefault(arm["name"], {})
                if size["bytes"] not in sizes or arm["ratio"] > sizes[size["bytes"]]["ratio"]:
                    sizes[size["bytes"]] = arm
    return {name: sorted(sizes.items(), key=lambda item: item[1]["ratio"])
            for name, sizes in found.items()}


def describe(size, arm):
    launch = arm["launch"] or {"channels": "?", "threads": "?"}
    return (f"{size}: {arm['ratio']:.3f} [{arm['ratio_low']:.3f} {arm['ratio_high']:.3f}] "
            f"{launch['channels']}x{launch['threads']}")


def show(ranks, collective, result):
    for name, sizes in ratios_of(result).items():
        if name == "stock" or not sizes:
            continue
        low = [size for size, arm in sizes if arm["ratio"] < LIMIT]
        worst = ", ".join(describe(size, arm) for size, arm in sizes[:3])
        shown = "stock again" if name == TWIN else name
        print(f"{ranks} {collective:14} {shown:13} {len(low)} of {len(sizes)} below {LIMIT}; "
              f"worst {worst}", flush=True)


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    bench, plugin, folder, output, ranks = sys.argv[1:]
    os.makedirs(output, exist_ok=True)
    for count in map(int, ranks.split(",")):
        for collective in COLLECTIVES:
            result = measure(bench, plugin, folder, output, count, collective)
            if result is not None:
                show(count, collective, result)


main()
