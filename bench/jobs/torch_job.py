#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Times all-reduces in CUDA graphs of a PyTorch job, one process a GPU, for bench/RESULTS.md.

Usage: torchrun --nproc-per-node N torch_job.py. MODE=pynccl calls NCCL by ctypes on the current
stream, as serving engines do; MODE=torch, the default, by torch.distributed. HOLD=SECONDS goes on
with eager calls, about so long. Rank 0 prints microseconds a call, by KiB.
"""
import ctypes
import gc
import json
import os
import time

import torch
import torch.distributed as distributed

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
MODE = os.environ.get("MODE", "torch")
CALLS, ROUNDS, HIDDEN = 20, 60, 7168
NCCL_BFLOAT16, NCCL_SUM = 9, 0


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


def open_pynccl():
    distributed.init_process_group("gloo")
    nccl = ctypes.CDLL("libnccl.so.2")
    unique = UniqueId()
    if RANK == 0:
        assert nccl.ncclGetUniqueId(ctypes.byref(unique)) == 0
    box = [bytes(unique)]
    distributed.broadcast_object_list(box, 0)
    unique = UniqueId.from_buffer_copy(box[0])
    communicator = ctypes.c_void_p()
    nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
    assert nccl.ncclCommInitRank(ctypes.byref(communicator), RANKS, unique, RANK) == 0
    pointer = ctypes.c_void_p
    nccl.ncclAllReduce.argtypes = [pointer, pointer, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                   pointer, pointer]

    def reduce(values):
        stream = torch.cuda.current_stream().cuda_stream
        assert nccl.ncclAllReduce(values.data_ptr(), values.data_ptr(), values.numel(),
                                  NCCL_BFLOAT16, NCCL_SUM, communicator, stream) == 0

    return reduce, lambda: nccl.ncclCommDestroy(communicator)


def open_torch():
    distributed.init_process_group("nccl", device_id=torch.device("cuda", RANK))
    return distributed.all_reduce, lambda: None


def capture(reduce, values):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            reduce(values)
    return graph


def time_graphs(graphs):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    samples = {tokens: [] for tokens in graphs}
    for _ in range(ROUNDS):
        for tokens, graph in graphs.items():
            graph.replay()
            start.record()
            graph.replay()
            graph.replay()
            stop.record()
            stop.synchronize()
            samples[tokens].append(start.elapsed_time(stop) * 1000 / (2 * CALLS))
    return {14 * tokens: round(sorted(us)[ROUNDS // 2], 2) for tokens, us in samples.items()}


def main():
    torch.cuda.set_device(RANK)
    reduce, close = open_pynccl() if MODE == "pynccl" else open_torch()
    inputs = {tokens: torch.zeros(HIDDEN * tokens, device="cuda", dtype=torch.bfloat16)
              for tokens in (1, 2, 4, 8, 16)}
    for values in inputs.values():
        reduce(values)
    torch.cuda.synchronize()
    graphs = {tokens: capture(reduce, values) for tokens, values in inputs.items()}
    torch.cuda.synchronize()
    distributed.barrier()
    times = time_graphs(graphs)
    if RANK == 0:
        print(MODE, "us by KiB", json.dumps(times), flush=True)
    # As many calls on each rank, whatever its clock says.
    for _ in range(int(float(os.environ.get("HOLD", "0")) * 30)):
        for values in inputs.values():
            reduce(values)
        torch.cuda.synchronize()
        time.sleep(0.02)
    values = torch.full((HIDDEN,), float(RANK + 1), device="cuda", dtype=torch.bfloat16)
    reduce(values)
    torch.cuda.synchronize()
    assert (values == RANKS * (RANKS + 1) / 2).all(), "wrong sum"
    # NCCL waits for ever to destroy a communicator while a captured graph is alive.
    graphs.clear()
    gc.collect()
    torch.cuda.synchronize()
    distributed.barrier()
    close()
    distributed.destroy_process_group()


main()
