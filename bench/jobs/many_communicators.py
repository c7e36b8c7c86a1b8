#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Makes, splits and destroys communicators of two GPUs in one process, for bench/RESULTS.md.

Usage: many_communicators.py ITERATIONS, each of four communicators; NCCL is what LD_PRELOAD or the
loader path gives. Prints descriptors and resident memory after 20 communicators and at the end.
"""
import ctypes
import os
import sys

import torch

GPUS, SPLITS = 2, 3
Pointers = ctypes.c_void_p * GPUS
nccl = ctypes.CDLL("libnccl.so.2")


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: NCCL's result is {result}")


def usage():
    pages = int(open("/proc/self/statm", encoding="ascii").read().split()[1])
    return len(os.listdir("/proc/self/fd")), pages * os.sysconf("SC_PAGE_SIZE") >> 20


def split(whole):
    part = Pointers()
    check(nccl.ncclGroupStart(), "ncclGroupStart")
    for gpu in range(GPUS):
        place = ctypes.cast(ctypes.byref(part, 8 * gpu), ctypes.POINTER(ctypes.c_void_p))
        check(nccl.ncclCommSplit(ctypes.c_void_p(whole[gpu]), 0, gpu, place, None), "ncclCommSplit")
    check(nccl.ncclGroupEnd(), "ncclGroupEnd")
    return part


def destroy(communicators):
    check(nccl.ncclGroupStart(), "ncclGroupStart")
    for gpu in range(GPUS):
        check(nccl.ncclCommDestroy(ctypes.c_void_p(communicators[gpu])), "ncclCommDestroy")
    check(nccl.ncclGroupEnd(), "ncclGroupEnd")


def main():
    for gpu in range(GPUS):
        torch.zeros(1, device=f"cuda:{gpu}")
    early = None
    iterations = int(sys.argv[1])
    for iteration in range(iterations):
        whole = Pointers()
        devices = (ctypes.c_int * GPUS)(*range(GPUS))
        check(nccl.ncclCommInitAll(whole, GPUS, devices), "ncclCommInitAll")
        made = [whole] + [split(whole) for _ in range(SPLITS)]
        for communicators in reversed(made):
            destroy(communicators)
        if iteration == 4:
            early = usage()
    left = [name for name in os.listdir("/dev/shm") if "lanewise" in name and "stats" not in name]
    print(iterations * (1 + SPLITS), "communicators; descriptors, MiB after 20:", early,
          "at the end:", usage(), "segments left:", left)


main()
