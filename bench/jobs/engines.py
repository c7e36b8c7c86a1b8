#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""All-reduces through the group coordinators of SGLang or vLLM, for bench/RESULTS.md.

Usage: engines.py sglang|vllm WHEEL [RANKS]. WHEEL is the folder into which the engine's wheel was
unpacked. RANKS processes (4; 2 make no pipeline) share the GPUs, by NCCL_MULTI_RANK_GPU_ENABLE=1
where there are fewer: groups world, tp, pp and dp as the engine makes them, each with a communicator
of PyNccl and one of torch. START=spawn|forkserver|fork is how processes begin, spawn by default.
Rank 0 prints `lanewise stats` if LANEWISE names the tool. NCCL is what LD_PRELOAD or the loader
path gives.
"""
import multiprocessing
import os
import socket
import subprocess
import sys

import engine_modules

HIDDEN, CALLS = 7168, 5


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def list_groups(ranks):
    """{name: lists of ranks}: tensor-parallel neighbours, pipeline and data-parallel across them."""
    width = 2 if ranks >= 4 else ranks
    rows = [list(range(first, first + width)) for first in range(0, ranks, width)]
    columns = [[row[i] for row in rows] for i in range(width)]
    return {"world": [list(range(ranks))], "tp": rows, "pp": columns, "dp": columns}


def make_coordinator(engine, state, name, lists, device):
    if engine == "vllm":
        return state.GroupCoordinator(lists, device, "nccl", True, group_name=name)
    return state.GroupCoordinator(lists, device, "nccl", use_pynccl=True, use_mscclpp=False,
                                  use_custom_allreduce=False, use_torch_symm_mem_all_reduce=False,
                                  use_hpu_communicator=False, use_xpu_communicator=False,
                                  group_name=name)


def find_pynccl(engine, coordinator):
    holder = coordinator.device_communicator if engine == "vllm" else coordinator
    return holder.pynccl_comm


def require_sum(torch, values, coordinator, what):
    expected = sum(rank + 1 for rank in coordinator.ranks)
    if not (values == expected).all():
        sys.exit(f"{what}: expected {expected}, got {values[0].item()}")


def reduce_eager(torch, coordinator, rank):
    """As the engine does outside of graphs: by torch.distributed."""
    for _ in range(CALLS):
        values = torch.full((HIDDEN,), float(rank + 1), device="cuda", dtype=torch.bfloat16)
        torch.distributed.all_reduce(values, group=coordinator.device_group)
    require_sum(torch, values, coordinator, "torch.distributed")


def reduce_in_graph(torch, engine, coordinator, rank):
    """As the engine does in a graph: by PyNccl, on the stream of the capture."""
    pynccl = find_pynccl(engine, coordinator)
    assert pynccl.available, "PyNccl found no NCCL"
    pynccl.disabled = False  # what the engines' own context of a capture does
    reduce = pynccl.outplace_all_reduce if engine == "sglang" else pynccl.all_reduce
    values = torch.full((HIDDEN,), float(rank + 1), device="cuda", dtype=torch.bfloat16)
    reduce(values)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total = reduce(values)
    graph.replay()
    torch.cuda.synchronize()
    require_sum(torch, total, coordinator, "PyNccl")
    return graph


def run_rank(engine, wheel, rank, ranks, port):
    import torch

    device = rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                                         world_size=ranks)
    state = engine_modules.open_engine(engine, wheel)
    graphs = []
    for name, lists in list_groups(ranks).items():
        coordinator = make_coordinator(engine, state, name, lists, device)
        if len(coordinator.ranks) == 1:
            continue
        reduce_eager(torch, coordinator, rank)
        graphs.append(reduce_in_graph(torch, engine, coordinator, rank))
        torch.distributed.barrier()
        if rank == 0:
            print(f"{engine}: group {name} of {len(coordinator.ranks)}: sums right", flush=True)
    if rank == 0 and "LANEWISE" in os.environ:
        subprocess.run([os.environ["LANEWISE"], "stats"], check=False)
    torch.distributed.barrier()
    # NCCL waits for ever to destroy a communicator while a captured graph is alive.
    os._exit(0)


def main():
    if not 3 <= len(sys.argv) <= 4 or sys.argv[1] not in engine_modules.REAL:
        sys.exit("engines: expected sglang|vllm WHEEL [RANKS]")
    engine, wheel = sys.argv[1], os.path.abspath(sys.argv[2])
    ranks = int(sys.argv[3]) if len(sys.argv) == 4 else 4
    context = multiprocessing.get_context(os.environ.get("START", "spawn"))
    port = free_port()
    workers = [context.Process(target=run_rank, args=(engine, wheel, rank, ranks, port))
               for rank in range(ranks)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failed = [rank for rank, worker in enumerate(workers) if worker.exitcode != 0]
    sys.exit(f"engines: ranks {failed} failed" if failed else 0)


if __name__ == "__main__":
    main()
