# SPDX-License-Identifier: Apache-2.0
"""Compiled graphs: what they take, what they need, and their launches."""
from __future__ import annotations

import os
from ctypes import byref, c_int32, c_int64, c_void_p
from typing import Any, Mapping, NamedTuple

from ingot import _library as lib
from ingot.errors import InvalidArgumentError
from ingot.graph import Graph, graph_of
from ingot.launch import Bound
from ingot.options import choice, options_of
from ingot.specs import (Role, Size, by_name, declared_tensors, dims_array, listed,
                         names_of_dims)

FORMATS = ("ptx", "cubin", "cuda", "torch")


class Memory(NamedTuple):
    """Bytes of device memory that launches need, aligned to 256."""
    prepared: int   #: per parameter set, read-only after prepare
    workspace: int  #: per launch in flight, undefined on entry
    state: int      #: per launch in flight, zeroed once


class Code(NamedTuple):
    """Code of all kernels, and the JSON manifest that says how to launch it."""
    code: bytes
    manifest: str


class Program(lib.Handle):
    """A compiled graph; made by `compile`. Threads may use one program at once.

    `inputs`, `params` and `outputs` are TensorSpecs in the order in which the graph declares them;
    `dims` are the names of its named dimensions; `num_kernels` is how many kernels a launch runs,
    without those that prepare runs once for a set of params.
    """

    _free = "ingot_program_free"

    def __init__(self, handle):
        super().__init__(handle)
        self.inputs, self.params, self.outputs = (
            declared_tensors("program", self._handle, role) for role in Role)
        count = c_int32()
        lib.call("ingot_program_kernels", self._handle, byref(count))
        self.num_kernels: int = count.value
        self.dims = names_of_dims(self.inputs + self.params + self.outputs)

    def __repr__(self) -> str:
        return (f"<ingot.Program inputs ({listed(self.inputs)}) params ({listed(self.params)}) "
                f"outputs ({listed(self.outputs)}), {lib.count_text(self.num_kernels, 'kernel')} "
                "a launch>")

    def shape(self, role: Role, index: int, **sizes: int) -> tuple[int, ...]:
        """The extents of a tensor for sizes of its named dimensions."""
        if not isinstance(role, int) or not 0 <= role < len(Role):
            raise InvalidArgumentError("role: expected a Role such as ingot.Role.OUTPUT, got "
                                       f"{lib.told(role)}")
        tensors = (self.inputs, self.params, self.outputs)[role]
        index = lib.integer("index", index)
        if not 0 <= index < len(tensors):
            raise InvalidArgumentError(
                f"shape: expected one of {len(tensors)} tensors, got {index}")
        rank = len(tensors[index].shape)
        extents = (c_int64 * max(rank, 1))()
        lib.call("ingot_program_shape", self._handle, role, index, dims_array(sizes), len(sizes),
                 extents, rank)
        return tuple(extents[:rank])

    def memory(self, **sizes: Size) -> Memory:
        """The most that launches with these sizes need. What is not listed may have any size.
        Sizes that overflow are an InvalidArgumentError."""
        memory = lib.Memory()
        lib.call("ingot_program_memory", self._handle, dims_array(sizes), len(sizes), byref(memory))
        return Memory(memory.prepared, memory.workspace, memory.state)

    def code(self, format: str = "ptx") -> Code:
        """PTX, a cubin or CUDA source of all kernels, or a Python file for PyTorch. The first two
        need NVRTC."""
        kind = choice("format", FORMATS, format)
        code, manifest = c_void_p(), c_void_p()
        lib.call("ingot_program_code", self._handle, kind, byref(code), byref(manifest))
        return Code(lib.take_bytes(code), lib.take_bytes(manifest).decode())

    def bind(self, *params: Any, dims: Mapping[str, Size] | None = None, **named: Any):
        """Gives the params their tensors, by position or by name, prepares, and gives what can be
        called with the inputs. `dims` are the sizes that will be launched;
        a dimension that is not listed may have any."""
        return Bound(self, by_name("param", self.params, params, named), dims)

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None) -> Any:
        """Launches a graph without params: see Bound.__call__."""
        if self.params:
            raise InvalidArgumentError(
                f"the graph has params: {', '.join(p.name for p in self.params)}; call "
                "program.bind(...) once, and what it gives for each launch")
        if getattr(self, "_bound", None) is None:
            self._bound = self.bind()
        return self._bound(*inputs, out=out, stream=stream)


def compile(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
            target: str | None = None, device: str | None = None,
            precision: str | None = None) -> Program:
    """Compiles a graph, or the text of a spec, as far as CUDA source; needs no GPU.

    Options have the names of the command line. `matmul_precision` of f32 products: "highest" (also
    None), "pedantic", "high" (TF32) or "medium" (bf16). `math`, the rewrites that may be applied:
    "relaxed", "strict" or "finite". `device`: "a100", "h100", "h200" or "native"; None: the card
    present, or the family's own. `precision` is the old name of `matmul_precision`."""
    graph, options = graph_of(graph), options_of(matmul_precision, math, target, device, precision)
    return Program(lib.make("ingot_compile", graph._handle, byref(options)))


def bundle(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
           target: str | None = None, device: str | None = None,
           precision: str | None = None) -> bytes:
    """Compiles a graph ahead of time, into the bytes of one file that `load` takes on machines
    without NVRTC. Options as of `compile`, but `device` may name several cards, as "a100,h100";
    None: every card that has a name. Needs NVRTC and no GPU."""
    graph = graph_of(graph)
    options = options_of(matmul_precision, math, target, device, precision, several=True)
    return lib.take_bytes(lib.make("ingot_bundle", graph._handle, byref(options)))


def load(bundle: bytes | bytearray | memoryview | str | os.PathLike) -> Program:
    """The program of a bundle: its bytes, or the path of its file, which is no bytes then. No
    compiler runs."""
    if isinstance(bundle, (bytes, bytearray, memoryview)):
        try:
            data = bytes(bundle)
        except ValueError as error:  # of a memoryview that was released
            raise InvalidArgumentError(f"bundle: {error}") from None
        return Program(lib.make("ingot_program_load", data, len(data), None))
    return Program(lib.make("ingot_program_load_file", lib.path(
        bundle, "bundle: expected its bytes, or the path of its file")))
