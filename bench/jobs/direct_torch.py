#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Two processes on one GPU all-reduce through the direct layer: by torch.distributed, which
liblanewise-preload.so reaches, and by PyNccl's way, a library opened with ctypes.

Usage: direct_torch.py FOLDER_OF_THE_LIBRARIES [--graphs]
LD_PRELOAD may name the NCCL to use: from 2.30.3 on two ranks may share a GPU.
Ends with 0 only where all sums are right and the direct layer says that it took the calls.
"""
import ctypes
import os
import subprocess
import sys

SIZES = [1, 7, 1024, 7168, 28673, 100352]
RANGES = "1:262144"


def values(torch, count, dtype, rank, seed):
    generator = torch.Generator().manual_seed(seed * 1000 + rank)
    return (torch.randn(count, generator=generator) * 4).to(dtype)


def expected(torch, count, dtype, ranks, seed):
    total = torch.zeros(count, dtype=torch.float32)
    for rank in range(ranks):
        total += values(torch, count, dtype, rank, seed).float()
    return total.to(dtype)


def check(torch, what, found, count, dtype, ranks, seed):
    wanted = expected(torch, count, dtype, ranks, seed)
    if torch.equal(found.cpu(), wanted):
        return 0
    print(f"WRONG {what}: {count} of {dtype}", flush=True)
    return 1


def run_torch(rank, ranks, with_graphs):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda:0"))
    wrong = 0
    seed = 0
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        for count in SIZES:
            seed += 1
            data = values(torch, count, dtype, rank, seed).cuda()
            dist.all_reduce(data)
            torch.cuda.synchronize()
            wrong += check(torch, "eager", data, count, dtype, ranks, seed)
    if with_graphs:
        data = torch.zeros(7168, dtype=torch.bfloat16, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            dist.all_reduce(data)
        for replay in range(5):
            data.copy_(values(torch, 7168, torch.bfloat16, rank, 500 + replay))
            graph.replay()
            torch.cuda.synchronize()
            wrong += check(torch, "graph", data, 7168, torch.bfloat16, ranks, 500 + replay)
    dist.destroy_process_group()
    return wrong


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


def run_ctypes(rank, ranks, library, id_file):
    import time

    import torch

    torch.cuda.set_device(0)
    torch.zeros(1, device="cuda")
    nccl = ctypes.CDLL(library)
    nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                   ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId,
                                      ctypes.c_int]
    nccl.ncclCommDestroy.argtypes = [ctypes.c_void_p]
    unique = UniqueId()
    if rank == 0:
        assert nccl.ncclGetUniqueId(ctypes.byref(unique)) == 0
        with open(id_file + ".part", "wb") as file:
            file.write(bytes(unique))
        os.rename(id_file + ".part", id_file)
    while not os.path.exists(id_file):
        time.sleep(0.05)
    with open(id_file, "rb") as file:
        unique = UniqueId.from_buffer_copy(file.read())
    communicator = ctypes.c_void_p()
    assert nccl.ncclCommInitRank(ctypes.byref(communicator), ranks, unique, rank) == 0
    wrong = 0
    seed = 2000
    for dtype, number in ((torch.bfloat16, 9), (torch.float16, 6), (torch.float32, 7)):
        for count in SIZES:
            seed += 1
            data = values(torch, count, dtype, rank, seed).cuda()
            out = torch.empty_like(data)
            stream = torch.cuda.current_stream()
            assert nccl.ncclAllReduce(data.data_ptr(), out.data_ptr(), count, number, 0,
                                      communicator, stream.cuda_stream) == 0
            torch.cuda.synchronize()
            wrong += check(torch, "ctypes", out, count, dtype, ranks, seed)
    nccl.ncclCommDestroy(communicator)
    return wrong


def preloaded(folder):
    """Our library before an NCCL that is preloaded: the one in torch may be too old for two ranks
    on a GPU."""
    own = os.path.join(folder, "liblanewise-preload.so")
    return " ".join([own, os.environ.get("LD_PRELOAD", "")]).strip()


def start(mode, folder, extra, variables):
    environment = dict(os.environ, NCCL_MULTI_RANK_GPU_ENABLE="1", LANEWISE_DIRECT=RANGES,
                       LANEWISE_LOG="debug", MASTER_ADDR="127.0.0.1", MASTER_PORT="29517",
                       **variables)
    processes = [subprocess.Popen([sys.executable, __file__, mode, str(rank), "2", folder, *extra],
                                  env=environment, stderr=subprocess.PIPE, text=True)
                 for rank in range(2)]
    failed = False
    took = 0
    for process in processes:
        _, errors = process.communicate(timeout=500)
        print(errors, end="")
        took += sum(int(line.split("took ")[1].split()[0]) for line in errors.splitlines()
                    if "lanewise: direct: took" in line)
        failed = failed or process.returncode != 0
    print(f"{mode}: {'FAILED' if failed else 'right'}, the direct layer took {took} calls")
    return failed or took == 0


def main():
    if sys.argv[1] in ("torch", "ctypes"):
        rank, ranks, folder = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
        if sys.argv[1] == "torch":
            sys.exit(1 if run_torch(rank, ranks, "--graphs" in sys.argv) else 0)
        library = os.path.join(folder, "liblanewise-nccl.so")
        sys.exit(1 if run_ctypes(rank, ranks, library, sys.argv[5]) else 0)
    folder = os.path.abspath(sys.argv[1])
    graphs = [word for word in sys.argv[2:] if word == "--graphs"]
    id_file = f"/tmp/lanewise-direct-torch-{os.getpid()}"
    failed = start("torch", folder, graphs,
                   {"LD_PRELOAD": preloaded(folder)})
    failed = start("ctypes", folder, [id_file], {}) or failed
    if os.path.exists(id_file):
        os.remove(id_file)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
