# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Imports the communication code of SGLang and vLLM from their unpacked wheels, for engines.py.

What has to do with communication is the wheel's own file; every other module of the package is a
stand-in: false, empty, and a decorator that changes nothing. So no kernel of an engine is needed.
"""
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import types

REAL = {
    "sglang": ["sglang.srt.distributed.parallel_state", "sglang.srt.distributed.utils",
               "sglang.srt.distributed.device_communicators.pynccl",
               "sglang.srt.distributed.device_communicators.pynccl_wrapper"],
    "vllm": ["vllm.distributed.parallel_state", "vllm.distributed.utils", "vllm.utils.nccl",
             "vllm.distributed.device_communicators.pynccl",
             "vllm.distributed.device_communicators.pynccl_wrapper",
             "vllm.distributed.device_communicators.cuda_communicator",
             "vllm.distributed.device_communicators.base_device_communicator",
             "vllm.distributed.device_communicators.all_reduce_utils"],
}


class Absent:
    """False and empty; called with one function it gives that back, as a decorator does."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *words, **_):
        return words[0] if len(words) == 1 and callable(words[0]) else self

    def __bool__(self):
        return False

    def __iter__(self):
        return iter(())

    def __getitem__(self, _):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __mro_entries__(self, _):
        return ()

    def __or__(self, _):
        return object

    __ror__ = __or__


ABSENT = Absent()


class StandIn(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return ABSENT


def stand_in_for(engine):
    """{module: {name: value}}: the few answers on which the communication code depends."""
    import torch  # the engines' own, not needed to read this file

    def stream():
        return torch.cuda.current_stream()

    def environment_number(name, default=0):
        return int(os.environ.get(name, default))

    def find_object(name):
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)

    if engine == "sglang":
        utils = {"is_cuda": lambda: True, "is_cuda_alike": lambda: True,
                 "get_int_env_var": environment_number, "get_current_device_stream_fast": stream}
        return {"sglang.srt.utils": utils, "sglang.srt.utils.common": utils,
                "sglang.srt.distributed.device_communicators.pynccl_allocator":
                    {"is_symmetric_memory_enabled": lambda: False}}

    class Platform(Absent):
        def is_cuda(self):
            return True

        def is_cuda_alike(self):
            return True

        def logical_device_id_to_visible_device_id(self, device):
            return device

        def get_device_communicator_cls(self):
            return "vllm.distributed.device_communicators.cuda_communicator.CudaCommunicator"

    return {"vllm.envs": {"VLLM_NCCL_SO_PATH": os.environ.get("VLLM_NCCL_SO_PATH")},
            "vllm.platforms": {"current_platform": Platform()},
            "vllm.config": {"get_current_vllm_config_or_none": lambda: None},
            "vllm.utils.torch_utils": {"current_stream": stream},
            "vllm.utils.import_utils": {"resolve_obj_by_qualname": find_object},
            "vllm.utils.system_utils": {"suppress_stdout": contextlib.nullcontext}}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, engine, wheel):
        self.engine, self.wheel = engine, pathlib.Path(wheel)
        self.answers = stand_in_for(engine)

    def find_spec(self, name, _path=None, _target=None):
        if name.split(".")[0] != self.engine:
            return None
        if name in REAL[self.engine]:
            file = self.wheel.joinpath(*name.split(".")).with_suffix(".py")
            return importlib.util.spec_from_file_location(name, file)
        # A package, so that modules below it are asked for here as well.
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        vars(module).update(self.answers.get(module.__name__, {}))


def open_engine(engine, wheel):
    """The engine's own parallel_state module; `wheel` is the folder that it was unpacked into."""
    sys.meta_path.insert(0, Finder(engine, wheel))
    return importlib.import_module(f"{engine}.{'srt.' if engine == 'sglang' else ''}"
                                   "distributed.parallel_state")
