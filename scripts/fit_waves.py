#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Fits the constants of src/core/model/latency.cpp to measured all-reduces over host memory.

    scripts/fit_waves.py tests/data/allreduce_h200x2.csv bench/measurements/allreduce_h200x4.csv

Prints both sets of constants as they stand in the source, and how far the model is from the data:
one for communicators whose ranks share GPUs, one for those with a GPU for each rank.
Weighted least squares on the relative error, no term below zero; standard library alone.
"""
import argparse
import collections
import csv
import math
import sys

WARP = 32
ONE_RANK_A_GPU, SHARED = "one_rank_a_gpu", "shared"
SERIES = [("Tree", "LL"), ("Tree", "Simple"), ("Ring", "LL"), ("Ring", "Simple")]
TERMS = ["base_us", "hop_us", "wave_us", "slice_kib_us", "fill_kib_us", "block_us", "kib_us"]


# Which terms a series has; the others are zero.
USED = {(SHARED, "Tree", "LL"): (0, 1, 3, 6), (SHARED, "Tree", "Simple"): (0, 1, 3, 4, 6),
        (ONE_RANK_A_GPU, "Tree", "LL"): (0, 1, 3, 4, 6),
        (ONE_RANK_A_GPU, "Tree", "Simple"): (0, 1, 3, 4, 6)}
for _sharing in (SHARED, ONE_RANK_A_GPU):
    USED[_sharing, "Ring", "LL"] = (0, 1, 2, 3, 6)
    USED[_sharing, "Ring", "Simple"] = (0, 1, 3, 5, 6)
# Beyond it, four GPUs that all write to host memory make Tree up to 28 times slower than any sum of
# hops and bytes, and never the best choice.
LARGEST_TREE_BYTES = {ONE_RANK_A_GPU: 128 << 10, SHARED: 4 << 20}
# Tree with Simple passes this much hop by hop before its steps overlap.
FILL_BYTES = 512 << 10


def divide_up(a, b):
    return -(-a // b)


def threshold(algorithm, protocol, ranks):
    if protocol == "Simple":
        return 64
    return 8 * ranks if algorithm == "Ring" else 8


def launch(algorithm, protocol, channels, size, ranks, available, release):
    """Threads, channels and slice as src/core/model/waves.cpp reckons them (2.26 and later)."""
    per_thread = threshold(algorithm, protocol, ranks)
    default, threads = available, 512
    while default > 1 and size < default * threads * per_thread:
        default -= 1
    while size < default * threads * per_thread and threads % 128 == 0:
        threads //= 2
    if protocol == "Simple":
        threads += WARP
    threads = 640 if algorithm == "Tree" else max(threads, 3 * WARP)
    wanted = min(channels, available) if channels else default
    least = (32 << 10) if release >= (2, 29) else (16 << 10)
    per_byte = 8 if protocol == "LL" else 2
    share = max(least, size * per_byte) // wanted
    share = divide_up(share, 16) * 16 if release >= (2, 29) else max(least, share)
    cell = divide_up(divide_up(least, per_byte), 16) * 16
    cells = divide_up(size, cell)
    per_channel = max(1, min(cells, divide_up(share, cell * per_byte)))
    fullest = min(size, per_channel * cell)
    pieces = fullest if algorithm == "Tree" else divide_up(fullest, ranks)
    moved = 8 if protocol == "LL" else 16
    return threads, min(wanted, divide_up(cells, per_channel)), pieces, max(
        1, divide_up(pieces, moved * threads))


def available_channels(environment):
    for word in environment.split():
        if word.startswith("NCCL_MIN_NCHANNELS="):
            return int(word.split("=")[1])
    return 4  # measured: two rings on the machine of the data, doubled


def features(row):
    """One value per term of LatencyTerms."""
    threads, _, pieces, waves = row["launch"]
    hops = 2 * (row["ranks"] - 1)
    times = hops if row["algorithm"] == "Ring" else 1
    fill = min(pieces, FILL_BYTES)
    return [1.0, hops, times * waves, times * pieces / 1024, hops * fill / 1024,
            hops * threads / 512, row["bytes"] / 1024]


def solve(matrix, right):
    """Gauss with pivoting."""
    n = len(right)
    rows = [list(line) + [value] for line, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit(rows, used):
    """Terms that minimise the relative error; a term that would be negative is dropped."""
    kept = list(used)
    while True:
        lines = [[features(row)[k] / row["us"] for k in kept] for row in rows]
        matrix = [[sum(line[a] * line[b] for line in lines) for b in range(len(kept))]
                  for a in range(len(kept))]
        right = [sum(line[a] for line in lines) for a in range(len(kept))]
        values = solve(matrix, right)
        worst = min(range(len(kept)), key=lambda k: values[k])
        if values[worst] >= 0:
            return [dict(zip(kept, values)).get(k, 0.0) for k in range(len(TERMS))]
        del kept[worst]


def read(paths):
    groups = collections.defaultdict(list)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        for line in lines:
            if line["transport"] != "SHM" or line["forced"] != "all":
                continue
            sharing = SHARED if int(line["ranks"]) > int(line["gpus"]) else ONE_RANK_A_GPU
            row = {"algorithm": line["algorithm"], "protocol": line["protocol"],
                   "channels": int(line["channels"]), "bytes": int(line["bytes"]),
                   "ranks": int(line["ranks"]), "us": float(line["us_per_call"]),
                   "available": available_channels(line["env"]),
                   "release": tuple(int(part) for part in line["nccl"].split("."))}
            if row["algorithm"] == "Tree" and row["bytes"] > LARGEST_TREE_BYTES[sharing]:
                continue
            row["launch"] = launch(row["algorithm"], row["protocol"], row["channels"],
                                   row["bytes"], row["ranks"], row["available"], row["release"])
            groups[sharing, row["algorithm"], row["protocol"]].append(row)
    return groups


def errors(rows, terms):
    return sorted(abs(sum(t * f for t, f in zip(terms, features(row))) / row["us"] - 1)
                  for row in rows)


def print_residuals(rows, terms):
    for row in sorted(rows, key=lambda r: (r["ranks"], r["available"], r["bytes"])):
        us = sum(t * f for t, f in zip(terms, features(row)))
        if not math.isclose(us, row["us"], rel_tol=0.1):
            print("   ", row["ranks"], row["available"], row["bytes"], row["channels"],
                  row["launch"], row["us"], f"{us:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--residuals", action="store_true", help="print every row's error")
    options = parser.parse_args()
    groups = read(options.csv)
    for sharing in (ONE_RANK_A_GPU, SHARED):
        print(f"{sharing}:")
        for algorithm, protocol in SERIES:
            rows = groups[sharing, algorithm, protocol]
            if not rows:
                sys.exit(f"no row of {algorithm}/{protocol}, {sharing}, over SHM")
            terms = fit(rows, USED[sharing, algorithm, protocol])
            by_size = errors(rows, terms)
            name = f"{algorithm}_{protocol}".lower()
            print(f".{name} = {{" + ", ".join(f"{value:.4f}" for value in terms) + "},"
                  f"  // {len(rows)} rows, error: median {100 * by_size[len(rows) // 2]:.1f} %, "
                  f"p95 {100 * by_size[int(len(rows) * .95)]:.1f} %, "
                  f"most {100 * by_size[-1]:.1f} %")
            if options.residuals:
                print_residuals(rows, terms)


if __name__ == "__main__":
    main()
