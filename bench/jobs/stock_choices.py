#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Records what any NCCL would launch on a machine of 2 to 8 GPUs, on a machine with one GPU: for
tests/data/nccl_choices.csv.

Usage: stock_choices.py SHIM.so TOPOLOGY.xml OUTPUT.csv NCCL_FOLDER...   (each holds a libnccl.so.2)
SHIM.so is one_gpu_as_many.c (cc -shared -fPIC one_gpu_as_many.c -ldl). A rank is a process that takes
the GPU for one of the topology file's; each all-reduce is captured into a graph and never run. The
algorithm is what NCCL logs (NCCL_DEBUG_SUBSYS=TUNING); channels and threads are the kernel's. Without
peer access (NCCL_P2P_DISABLE=1). NCCL's log, with its prices, is kept beside OUTPUT.csv.
"""
import csv
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import time

SIZES = [1024, 2048, 4096, 8192, 14336, 16384, 28672, 32768, 43008, 57344, 65536, 86016, 114688,
         131072, 172032, 229376, 262144, 524288, 1048576, 4194304]
# There NCCL launches every channel that the communicator has.
LARGEST = 16 << 20
THRESHOLDS = ["", "-1 -1 -1 8"]
RANKS = [4, 8]
FIELDS = ["machine", "ring_channels", "ring_gbs", "nccl", "ranks", "communicator_channels", "thresholds", "bytes", "asked", "algorithm",
          "protocol", "channels", "threads"]
ALGORITHMS = ["tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"]
PROTOCOLS = ["ll", "ll128", "simple"]
BFLOAT16 = 9
SECONDS = 60


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


class KernelNode(ctypes.Structure):  # CUDA_KERNEL_NODE_PARAMS_v2
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3),
                ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("arguments", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def checked(result, what):
    if result != 0:
        sys.exit(f"{what}: {result}")


def share_id(nccl, rank, path):
    unique = UniqueId()
    if rank == 0:
        checked(nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId")
        with open(path + ".part", "wb") as file:
            file.write(bytes(unique))
        os.rename(path + ".part", path)
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as file:
        ctypes.memmove(ctypes.byref(unique), file.read(), 128)
    return unique


# Blocks and threads of the one kernel in the graph of a captured call.
def launch_of(cuda, stream, call):
    checked(cuda.cuStreamBeginCapture_v2(stream, 2), "cuStreamBeginCapture")
    call()
    graph = ctypes.c_void_p()
    checked(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)), "cuStreamEndCapture")
    nodes = (ctypes.c_void_p * 64)()
    count = ctypes.c_size_t(64)
    checked(cuda.cuGraphGetNodes(graph, nodes, ctypes.byref(count)), "cuGraphGetNodes")
    found = None
    for node in nodes[:count.value]:
        kind = ctypes.c_int()
        checked(cuda.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)), "cuGraphNodeGetType")
        if kind.value != 0:
            continue
        kernel = KernelNode()
        checked(cuda.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(node), ctypes.byref(kernel)),
                "cuGraphKernelNodeGetParams")
        found = (kernel.grid[0], kernel.block[0])
    return found


def run_rank(rank, ranks, folder):
    cuda = ctypes.CDLL("libcuda.so.1")
    nccl = ctypes.CDLL("libnccl.so.2")
    context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    checked(cuda.cuInit(0), "cuInit")
    checked(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    checked(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    checked(cuda.cuStreamCreate(ctypes.byref(stream), 1), "cuStreamCreate")
    checked(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(LARGEST)), "cuMemAlloc")
    communicator = ctypes.c_void_p()
    checked(nccl.ncclCommInitRank(ctypes.byref(communicator), ranks,
                                  share_id(nccl, rank, folder + "/id"), rank), "ncclCommInitRank")
    for size in SIZES + [LARGEST]:
        call = lambda: checked(
            nccl.ncclAllReduce(memory, memory, ctypes.c_size_t(size // 2), BFLOAT16, 0, communicator,
                               stream), "ncclAllReduce")
        launch = launch_of(cuda, stream, call)
        if rank == 0:
            print("launch", size, *launch, flush=True)
    # The graphs hold on to the communicator: there is nothing to tidy up.
    os._exit(0)


def environment_of(rank, gpus, shim, topology, library_folder, folder, thresholds):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("NCCL_", "LANEWISE_"))}
    environment.update({
        "ONE_GPU_BUS_ID": gpus[rank], "ONE_GPU_INDEX": str(rank), "LD_PRELOAD": os.path.abspath(shim),
        "NCCL_TOPO_FILE": os.path.abspath(topology), "NCCL_P2P_DISABLE": "1", "NCCL_NVLS_ENABLE": "0",
        # From 2.30 on NCCL knows a GPU by more than its bus.
        "NCCL_MULTI_RANK_GPU_ENABLE": "1",
        "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,TUNING,GRAPH",
        "NCCL_DEBUG_FILE": f"{folder}/log.{rank}",
        "LD_LIBRARY_PATH": library_folder + ":" + environment.get("LD_LIBRARY_PATH", "")})
    if thresholds:
        environment["NCCL_THREAD_THRESHOLDS"] = thresholds
    return environment


def name_from(names, text):
    return names[int(text)] if text.isdigit() else text.lower().replace("_", "")


# What NCCL logged of each size: "14336 Bytes -> Algo 1 proto 0", or by name.
def choices_in(log):
    found = {}
    for size, algorithm, protocol in re.findall(
            r"(\d+) Bytes -> Algo (\w+) proto (\w+)", log):
        found[int(size)] = (name_from(ALGORITHMS, algorithm), name_from(PROTOCOLS, protocol))
    return found


def record(shim, topology, output, library_folder, ranks, thresholds):
    with open(topology, encoding="utf-8") as file:
        gpus = re.findall(r'<pci busid="([^"]+)"[^>]*>\s*<gpu', file.read())
    with tempfile.TemporaryDirectory() as folder:
        started = [subprocess.Popen(
            [sys.executable, __file__, "--rank", str(rank), str(ranks), folder],
            stdout=subprocess.PIPE, text=True,
            env=environment_of(rank, gpus, shim, topology, library_folder, folder, thresholds))
            for rank in range(ranks)]
        try:
            printed = [process.communicate(timeout=SECONDS)[0] for process in started][0]
        finally:
            for process in started:
                process.kill()
        with open(folder + "/log.0", encoding="utf-8") as file:
            log = file.read()
    release = re.search(r"NCCL version (\d+\.\d+\.\d+)", log)
    if release and not thresholds:
        with open(f"{output}.{release[1]}.{ranks}.log", "w", encoding="utf-8") as file:
            file.write(log)
    launches = {int(size): (int(blocks), int(threads)) for size, blocks, threads in
                re.findall(r"^launch (\d+) (\d+) (\d+)$", printed, re.M)}
    choices = choices_in(log)
    ring = re.search(r"Pattern 4, crossNic \d, nChannels (\d+), bw ([0-9.]+)/", log)
    if not release or not ring or len(choices) < len(launches) or LARGEST not in launches:
        sys.stderr.write(log[-6000:])
        raise RuntimeError(f"{library_folder}, {ranks} ranks: no choices")
    for size in SIZES:
        yield [os.path.basename(topology), *ring.groups(), release[1], ranks, launches[LARGEST][0], thresholds, size, "", *choices[size],
               *launches[size]]


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--rank":
        run_rank(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    shim, topology, output = sys.argv[1:4]
    rows = []
    for folder in sys.argv[4:]:
        for ranks in RANKS:
            for thresholds in THRESHOLDS:
                try:
                    rows += record(shim, topology, output, folder, ranks, thresholds)
                except (RuntimeError, subprocess.TimeoutExpired, KeyError) as error:
                    print(f"{folder}, {ranks} ranks, '{thresholds}': {error!r}", flush=True)
                    continue
                print(f"{folder}, {ranks} ranks, '{thresholds}': recorded", flush=True)
                # After each, so that a run that is cut short leaves what it has.
                with open(output, "w", encoding="ascii", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([FIELDS] + rows)


main()
