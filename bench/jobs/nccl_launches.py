#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Records what NCCL really launches, by itself and when a tuner asks: for tests/data/nccl_launches.csv.

Usage: nccl_launches.py BENCH PLUGIN OUTPUT.csv NCCL_FOLDER...   (each holds a libnccl.so.2)
Ranks are threads on one GPU, with and without Lanewise's base environment. Channels and threads are
those of the captured kernel; a row without a choice in `asked` is NCCL's own.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

SIZES = [1024, 2048, 4096, 8192, 14336, 16384, 28672, 32768, 43008, 57344, 65536, 86016, 114688,
         131072, 172032, 229376, 262144, 524288, 1048576, 4194304]
# There NCCL launches every channel that the communicator has.
LARGEST = 16 << 20
ASKED = ["ring/ll/1", "ring/ll/2", "ring/ll/4", "ring/ll/8", "tree/ll/4", "ring/simple/2"]
THRESHOLDS = ["", "-1 -1 -1 8"]
RANKS = [4, 8]
# More blocks than a GPU runs at once hang where ranks share it: 8 ranks times 16 fit an H200.
CHANNELS = "16"
FIELDS = ["nccl", "ranks", "communicator_channels", "thresholds", "bytes", "asked", "algorithm",
          "protocol", "channels", "threads"]


def measure(bench, plugin, folder, ranks, thresholds):
    environment = dict(os.environ, NCCL_MAX_NCHANNELS=CHANNELS)
    environment["LD_LIBRARY_PATH"] = folder + ":" + environment.get("LD_LIBRARY_PATH", "")
    environment.pop("NCCL_THREAD_THRESHOLDS", None)
    if thresholds:
        environment["NCCL_THREAD_THRESHOLDS"] = thresholds
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [bench, "compare", "--threads", "--ranks", str(ranks), "--plugin", plugin,
                   "--bytes", ",".join(map(str, SIZES + [LARGEST])), "--calls", "1", "--rounds",
                   "1", "--most-rounds", "1", "--instances", "1", "--json", result.name]
        for arm in ["stock", "noop"] + ASKED:
            command += ["--arm", arm]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        with open(result.name, encoding="utf-8") as written:
            return json.load(written)


def rows_of(result, ranks, thresholds):
    sizes = {size["bytes"]: {arm["name"]: arm for arm in size["arms"]} for size in result["sizes"]}
    communicator_channels = sizes[LARGEST]["stock"]["launch"]["channels"]
    for size, arms in sizes.items():
        # Without a plugin nobody sees the algorithm: the costs are the same with one that is idle.
        arms["stock"]["choice"] = arms["noop"]["choice"]
        for name in ["stock"] + ASKED:
            arm = arms[name]
            if not arm["is_available"] or not arm["choice"] or not arm["launch"]:
                continue
            yield [result["environment"]["nccl"], ranks, communicator_channels, thresholds, size,
                   "" if name == "stock" else name, arm["choice"]["algorithm"],
                   arm["choice"]["protocol"], arm["launch"]["channels"], arm["launch"]["threads"]]


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    bench, plugin, output = sys.argv[1:4]
    rows = []
    for folder in sys.argv[4:]:
        for ranks in RANKS:
            for thresholds in THRESHOLDS:
                result = measure(bench, plugin, folder, ranks, thresholds)
                rows += rows_of(result, ranks, thresholds)
                # After each, so that a run that is cut short leaves what it has.
                with open(output, "w", encoding="ascii", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([FIELDS] + rows)


main()
