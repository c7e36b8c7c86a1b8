#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Holds `lanewise backends` against the engines' own code, taken from their wheels.

Usage: check_backends.py LANEWISE sglang-0.5.23-*.whl vllm-0.33.0-*.whl

The classes and functions that decide are executed as they stand, with a stand-in for torch, the
GPU and the process group; nothing of the engines is installed or kept. By hand, not in CI: the
wheels are large. Ends with 1 and the cases that differ.
"""
import ast
import builtins
import functools
import itertools
import json
import subprocess
import sys
import types
import zipfile
from unittest.mock import MagicMock

RANKS = (2, 4, 8)
CAPABILITIES = (89, 90, 120)
TOKENS = (1, 4, 16, 64)
HIDDEN = 7168
WIDEST = 64
MISSING = MagicMock(name="stand-in")


class Type(str):
    itemsize = 2


BF16, FP16, FP32 = Type("bf16"), Type("fp16"), Type("fp32")


class Device:
    """torch.device: the engines ask whether something is one."""

    index, type = 0, "cuda"

    def __init__(self, *_):
        pass


class Names(dict):
    """A module's globals in which every name that we do not give is a stand-in."""

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)
        return MISSING


class Tensor:
    dtype = BF16
    is_cuda = True
    is_cpu = False
    device = None

    def __init__(self, tokens):
        self.shape = (tokens, HIDDEN)
        self.nbytes = tokens * HIDDEN * 2

    def numel(self):
        return self.nbytes // 2

    def element_size(self):
        return 2

    def dim(self):
        return 2

    def is_contiguous(self):
        return True

    def clone(self):
        return self


class Source:
    """A file of a wheel. Read once: there are hundreds of cases."""

    def __init__(self, wheel, path):
        self.text = read_file(wheel, path)
        self.key = (wheel, path)

    def take(self, names, *wanted):
        """Executes the definitions of these names, without their decorators."""
        code, loaded = compile_part(*self.key, wanted)
        # A class's body does not ask __missing__.
        for name in loaded:
            names.setdefault(name, MISSING)
        exec(code, names)
        for name in wanted:
            if hasattr(names[name], "__del__"):
                names[name].__del__ = lambda *_: None
        return [names[name] for name in wanted]


@functools.lru_cache(maxsize=None)
def read_file(wheel, path):
    return zipfile.ZipFile(wheel).read(path).decode()


@functools.lru_cache(maxsize=None)
def compile_part(wheel, path, wanted):
    tree = ast.parse(read_file(wheel, path))
    body = []
    for node in ast.walk(tree):
        name = getattr(node, "name", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name = getattr(target, "id", None)
        if name in wanted and not any(name == getattr(b, "name", None) for b in body):
            if hasattr(node, "decorator_list"):
                node.decorator_list = []
            body.append(node)
    module = ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))
    loaded = sorted({node.id for node in ast.walk(module)
                     if isinstance(node, ast.Name) and not hasattr(builtins, node.id)})
    code = "from __future__ import annotations\n" + ast.unparse(module)
    return compile(code, path, "exec"), loaded


def torch_of(case):
    torch = MagicMock(name="torch")
    torch.device = Device
    torch.bfloat16, torch.float16, torch.float32 = BF16, FP16, FP32
    torch.cuda.get_device_capability = lambda *_: divmod(case["capability"], 10)
    torch.cuda.is_current_stream_capturing = lambda: case["captured"]
    torch.compiler.is_compiling = lambda: False
    torch.distributed.all_reduce = lambda *_, **__: case["taken"].append("NCCL by torch.distributed")
    return torch


def dist_of(case):
    dist = MagicMock(name="dist")
    dist.get_world_size = lambda *_, **__: case["ranks"]
    dist.get_rank = lambda *_, **__: 0
    return dist


def names_of(case, **more):
    capability = MagicMock()
    capability.as_version_str = lambda: "%d.%d" % divmod(case["capability"], 10)
    platform = MagicMock()
    platform.is_rocm = lambda: False
    platform.is_cuda = lambda: True
    platform.get_device_capability = lambda *_: capability
    platform.is_fully_connected = lambda *_: case["nvlink"]
    envs = MagicMock()
    envs.VLLM_BATCH_INVARIANT = False
    envs.SGLANG_PCIE_IPC_MAX_NUMEL.get = lambda: 0
    names = Names(
        torch=torch_of(case), dist=dist_of(case), current_platform=platform, envs=envs,
        custom_ar=True, in_the_same_node_as=lambda *_, **__: [True],
        _can_p2p=lambda *_: case["peer_access"], can_p2p=lambda *_: case["peer_access"],
        is_full_nvlink=lambda *_: case["nvlink"], is_weak_contiguous=lambda *_: True,
        _is_hip=False, _is_musa=False, _supports_mnnvl_multimem_reduce_scatter=lambda *_: False,
        symm_mem_available=True, _pcie_ipc_available=True, MiB=1 << 20, KiB=1024,
        __builtins__=__builtins__)
    symmetric = MagicMock()
    symmetric.rendezvous.return_value.multicast_ptr = 1 if case["nvlink"] else 0
    names["torch_symm_mem"] = symmetric
    names.update(more)
    return names


def construct(kind, *arguments, **keywords):
    """What comes after the conditions talks to the GPU: the object is kept as it is then."""
    made = kind.__new__(kind)
    try:
        made.__init__(*arguments, **keywords)
    except Exception:  # noqa: BLE001
        if getattr(made, "disabled", True):
            raise
    return made


def named(made, name, case, method):
    def take(*_, **__):
        case["taken"].append(name)
        return MISSING

    setattr(made, method, take)
    return made


def ask_vllm(wheel, case):
    base = "vllm/distributed/device_communicators/"
    source = lambda name: Source(wheel, base + name)  # noqa: E731
    tables = names_of(case)
    source("all_reduce_utils.py").take(
        tables, "CUSTOM_ALL_REDUCE_MAX_SIZES", "SYMM_MEM_ALL_REDUCE_MAX_SIZES",
        "FI_MNNVL_ALLREDUCE_MAX_SIZE_MB", "NCCL_SYMM_MEM_ALL_REDUCE_CONFIG",
        "should_nccl_symm_mem_allreduce")
    allocator = types.ModuleType("allocator")
    allocator.is_symmetric_memory_enabled = lambda: case["settings"].get("VLLM_USE_NCCL_SYMM_MEM") == "1"
    sys.modules["vllm.distributed.device_communicators.pynccl_allocator"] = allocator
    symm = construct(source("symm_mem.py").take(tables, "SymmMemCommunicator")[0], MISSING, 0)
    custom_class = source("custom_all_reduce.py").take(tables, "CustomAllreduce")[0]
    custom_class.create_shared_buffer = staticmethod(lambda *_, **__: [0])
    custom = construct(custom_class, MISSING, 0, symm_mem_enabled=not symm.disabled)
    comm = MagicMock()
    comm.fi_pcie_ipc_ar_comm = None
    if case["settings"].get("VLLM_ALLREDUCE_USE_FLASHINFER_PCIE_IPC") == "1" and case["peer_access"]:
        kind = source("flashinfer_pcie_ipc_all_reduce.py").take(
            tables, "_SUPPORTED_WORLD_SIZES", "_SUPPORTED_DTYPES", "FlashInferPcieIpcAllReduce")[2]
        ipc = construct(kind, MISSING, MISSING, Device())
        if not ipc.disabled:
            ipc.setup(hidden_dim=HIDDEN, dtype=BF16, capture_sizes=[WIDEST], tune_cache="x")
            ipc.workspace.supports = lambda tensor: tensor.numel() <= WIDEST * HIDDEN
        comm.fi_pcie_ipc_ar_comm = named(ipc, "FlashInfer PCIe IPC", case, "all_reduce")
    comm.fi_ar_comm = None
    limit = tables["FI_MNNVL_ALLREDUCE_MAX_SIZE_MB"].get((case["capability"], case["ranks"], 1))
    if limit is not None and case["nvlink"]:
        sys.exit("check_backends: a case with FlashInfer's table is not made here")
    comm.qr_comm = None
    comm.use_aiter_allreduce = False
    comm.ca_comm = named(custom, "custom all-reduce", case, "custom_all_reduce")
    comm.symm_mem_comm = named(symm, "torch symmetric memory", case, "all_reduce")
    comm.pynccl_comm = named(MagicMock(disabled=False, world_size=case["ranks"]), "NCCL by PyNccl", case, "all_reduce")
    tables["torch"].ops.vllm.all_reduce_symmetric_with_copy = lambda *_: (
        case["taken"].append("NCCL by PyNccl, symmetric memory") or MISSING)
    decide = Source(wheel, base + "cuda_communicator.py").take(tables, "all_reduce")[0]
    decide(comm, Tensor(case["tokens"]))


def make_sglang_custom(wheel, case, names):
    base = "sglang/srt/distributed/device_communicators/"
    source = Source(wheel, base + "custom_all_reduce_utils.py")
    names["os"] = types.SimpleNamespace(environ={})
    names["torch"].cuda.device_count = lambda: case["ranks"]
    names["dist"].all_gather = lambda *_, **__: None
    names["torch"].tensor = lambda values, **_: values[0]
    can_use = source.take(names, "can_use_custom_all_reduce_with_nvlink")[0]
    nvlink = can_use(None, Device(), [2, 4, 6, 8], "CustomAllreduce")
    if case["settings"].get("SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2", "1") == "1":
        configs = types.ModuleType("configs")
        configs.__dict__["torch"] = names["torch"]
        sys.modules["torch"] = names["torch"]
        text = Source(wheel, base + "configs/custom_all_reduce_v2.py").text
        exec(compile(text, "configs", "exec"), configs.__dict__)
        del sys.modules["torch"]
        if case["ranks"] in configs.get_supported_world_sizes() and nvlink is True:
            kind = Source(wheel, base + "custom_all_reduce_v2.py").take(names, "CustomAllReduceV2")[0]
            made = kind.__new__(kind)
            made.disabled, made.override_algo, made._graph_mode_allowed = False, None, True
            made.config = configs.get_all_reduce_config(case["ranks"])
            made._can_use_graph = lambda: case["captured"]
            return made, "custom all-reduce v2"
    kind = Source(wheel, base + "custom_all_reduce.py").take(names, "CustomAllreduce")[0]
    made = kind.__new__(kind)
    made.disabled = nvlink is None
    made.world_size, made.full_nvlink, made.max_size = case["ranks"], nvlink, kind._MAX_CAR_SIZE
    return made, "custom all-reduce"


def ask_sglang(wheel, case):
    names = names_of(case, is_in_tc_piecewise_cuda_graph=lambda: False)
    settings = case["settings"]
    comm = MagicMock(world_size=case["ranks"])
    comm._can_use_flashinfer_allreduce = lambda *_: False
    comm.hpu_communicator = comm.xpu_communicator = comm.qr_comm = comm.torch_symm_mem_comm = None
    comm.pymscclpp_comm = None
    if settings.get("--enable-mscclpp") == "1":
        mscclpp = MagicMock()
        mscclpp.should_mscclpp_allreduce = lambda *_: (
            case["captured"] and case["ranks"] in (4, 8) and case["peer_access"])
        comm.pymscclpp_comm = mscclpp
    comm.ca_comm, custom = make_sglang_custom(wheel, case, names)
    comm.pcie_ipc_comm = None
    if settings.get("SGLANG_ENABLE_PCIE_IPC_ALLREDUCE") == "1" and case["peer_access"]:
        kind = Source(wheel, "sglang/srt/distributed/device_communicators/pcie_ipc_ar.py").take(
            names, "_SUPPORTED_WORLD_SIZES", "_tune_batches", "PcieIpcCommunicator")[2]
        ipc = construct(kind, None, Device())
        ipc._max_rows = WIDEST
        comm.pcie_ipc_comm = ipc
    comm.is_symmetric_memory_enabled = lambda: settings.get("--enable-symm-mem") == "1"
    source = Source(wheel, "sglang/srt/distributed/parallel_state.py")
    group = source.take(names, "GroupCoordinator")[0]
    comm._resolve_outplace_all_reduce_method = types.MethodType(
        group._resolve_outplace_all_reduce_method, comm)
    methods = {"ca": custom, "pcie_ipc": "FlashInfer PCIe IPC", "pymscclpp": "MSCCL++"}
    names["outplace_all_reduce"] = lambda *_, outplace_all_reduce_method, **__: case["taken"].append(
        methods[outplace_all_reduce_method])
    comm.pynccl_comm = MagicMock(disabled=not case["captured"])
    in_place = types.MethodType(group._all_reduce_in_place, comm)
    is_symmetric = comm.is_symmetric_memory_enabled()
    named(comm.pynccl_comm, "NCCL by PyNccl, symmetric memory" if is_symmetric else "NCCL by PyNccl",
          case, "all_reduce")
    names["inplace_all_reduce"] = lambda tensor, **_: in_place(tensor)
    group.all_reduce(comm, Tensor(case["tokens"]))


@functools.lru_cache(maxsize=None)
def ask_steps(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["steps"]


def ask_lanewise(program, engine, release, case):
    capability, yes = str(case["capability"]), lambda truth: "yes" if truth else "no"  # noqa: E731
    command = [program, "backends", "--engine", engine, "--engine-version", release, "--json",
               "--ranks", str(case["ranks"]), "--capability", capability, "--nvlink",
               yes(case["nvlink"]), "--peer-access", yes(case["peer_access"]), "--hidden",
               str(HIDDEN), "--max-decode-tokens", str(WIDEST), "--tokens",
               ",".join(map(str, TOKENS + (WIDEST + 1,)))]
    for name, value in case["settings"].items():
        command.append(f"--set={name}={value}")
    return next(step["backend"] for step in ask_steps(*command)
                if step["captured"] == case["captured"] and step["tokens"] == case["tokens"])


# Imported where it is used.
sys.modules["flashinfer"] = sys.modules["flashinfer.comm"] = MagicMock(name="flashinfer")

SETTINGS = {
    "sglang": ({}, {"SGLANG_ENABLE_PCIE_IPC_ALLREDUCE": "1"}, {"--enable-mscclpp": "1"},
               {"--enable-symm-mem": "1"}, {"SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2": "0"}),
    "vllm": ({}, {"VLLM_ALLREDUCE_USE_FLASHINFER_PCIE_IPC": "1"}, {"VLLM_USE_NCCL_SYMM_MEM": "1"}),
}
LINKS = ((False, False), (False, True), (True, True))  # NVLink, peer access


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, wheels = sys.argv[1], {"sglang": sys.argv[2], "vllm": sys.argv[3]}
    asks = {"sglang": (ask_sglang, "0.5.23"), "vllm": (ask_vllm, "0.33.0")}
    count, wrong = 0, 0
    for engine, (ask, release) in asks.items():
        for ranks, capability, (nvlink, peers), captured, tokens, settings in itertools.product(
                RANKS, CAPABILITIES, LINKS, (True, False), TOKENS + (WIDEST + 1,), SETTINGS[engine]):
            if nvlink and capability != 90:
                continue  # no such machine
            case = {"ranks": ranks, "capability": capability, "nvlink": nvlink, "tokens": tokens,
                    "peer_access": peers, "captured": captured, "settings": settings, "taken": []}
            ask(wheels[engine], case)
            said = ask_lanewise(program, engine, release, case)
            count += 1
            if case["taken"] != [said]:
                wrong += 1
                print(f"{engine}: {case}: lanewise says {said}", flush=True)
    print(f"{count} cases, {wrong} differ")
    sys.exit(1 if wrong else 0)


main()
