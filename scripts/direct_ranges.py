#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Writes the sizes at which the direct layer beat NCCL into a profile.

Usage: direct_ranges.py RESULT.json PROFILE.json OUTPUT.json

RESULT.json is of `lanewise-bench compare --json`, with arms of NCCL (stock, lanewise, lanewise-env,
..) and arms direct:LO:HI:FORM. A size is direct's where every sum was right and the lower end of the
interval is above 1.03 over the fastest of the NCCL arms. Nothing is claimed between two sizes of
which one is not direct's, nor outside of what was measured.
"""
import json
import sys

LEAST_GAIN = 1.03


def fail(text):
    print(f"direct_ranges: {text}", file=sys.stderr)
    sys.exit(2)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")


def form_of(arm):
    words = arm["name"].split(":")
    return words[3] if words[0] == "direct" and len(words) == 4 else None


def is_sound(arm):
    return arm["fault"] is None and arm["wrong"] == 0 and arm["median_us"] is not None


def best_direct(size):
    """The fastest direct arm of a size with its evidence against NCCL's fastest; None: not enough."""
    nccl = [arm for arm in size["arms"] if not arm["name"].startswith("direct:") and is_sound(arm)]
    direct = [arm for arm in size["arms"] if form_of(arm) and is_sound(arm)]
    if not nccl or not direct:
        return None
    rival = max(nccl, key=lambda arm: arm["ratio"])
    arm = max(direct, key=lambda arm: arm["ratio"])
    low = arm["ratio_low"] / max(rival["ratio_high"], 1.0)
    if low <= LEAST_GAIN:
        return None
    return {"bytes": [size["bytes"]] * 2, "form": form_of(arm), "nccl_us": rival["median_us"],
            "us": arm["median_us"], "speedup": arm["ratio"] / max(rival["ratio"], 1.0),
            "ci95": [low, arm["ratio_high"] / max(rival["ratio_low"], 1.0)],
            "samples": arm["samples"]}


def ranges_of(sizes):
    ranges = []
    was_direct = False
    for size in sorted(sizes, key=lambda size: size["bytes"]):
        found = best_direct(size)
        if found and was_direct and found["form"] == ranges[-1]["form"]:
            # The evidence of the weaker end stands for both.
            if found["speedup"] < ranges[-1]["speedup"]:
                found["bytes"][0] = ranges[-1]["bytes"][0]
                ranges[-1] = found
            else:
                ranges[-1]["bytes"][1] = size["bytes"]
        elif found:
            ranges.append(found)
        was_direct = found is not None
    return ranges


def main():
    if len(sys.argv) != 4:
        fail("expected RESULT.json PROFILE.json OUTPUT.json")
    result, profile = read(sys.argv[1]), read(sys.argv[2])
    ranks = result["environment"]["ranks"]
    if result["environment"]["fingerprint"] != profile["fingerprint"]:
        fail(f"{sys.argv[1]} was measured on another machine than {sys.argv[2]}")
    ranges = ranges_of(result["sizes"])
    if not ranges:
        fail(f"{sys.argv[1]}: the direct layer is nowhere certain to be faster")
    index = profile["best_environment"] or 0
    groups = [group for group in profile["environments"][index]["groups"]
              if group["ranks"] == ranks]
    if not groups:
        fail(f"{sys.argv[2]}: environment {index} has no group of {ranks} ranks")
    for group in groups:
        group["direct"] = ranges
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump(profile, file, indent=1)
        file.write("\n")
    for one in ranges:
        print(f"{one['bytes'][0]} to {one['bytes'][1]} bytes: {one['form']}, {one['us']:.1f} us where "
              f"NCCL takes {one['nccl_us']:.1f}")


if __name__ == "__main__":
    main()
