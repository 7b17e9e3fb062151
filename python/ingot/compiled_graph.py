# SPDX-License-Identifier: Apache-2.0
"""A compiled graph: its tensors, the memory that it needs, and its code."""
from __future__ import annotations

from ctypes import byref, c_int32, c_int64, c_void_p
from typing import NamedTuple

from ingot import _library as lib
from ingot import _structs
from ingot._arguments import count_text, integer, type_and_repr
from ingot.errors import InvalidArgumentError
from ingot.options import choice
from ingot.specs import Role, Size, declared_tensors, dims_array, listed, names_of_dims

FORMATS = ("ptx", "cubin", "cuda", "torch")  # in the order of ingot_format


class Memory(NamedTuple):
    """Bytes of device memory that launches need, aligned to 256."""
    prepared: int   #: per parameter set, read-only after prepare
    workspace: int  #: per launch in flight, undefined on entry
    state: int      #: per launch in flight, zeroed once


class Code(NamedTuple):
    """The code of all kernels, and the JSON manifest that says how to launch it."""
    code: bytes
    manifest: str


class CompiledGraph(lib.Handle):
    """A compiled graph, which ingot.Program launches.

    `inputs`, `params` and `outputs` are TensorSpecs in the order of the graph's declarations.
    `dims` are the names of its named dimensions. `num_kernels` is the number of kernels that a
    launch runs; it leaves out those that prepare runs once for a set of params."""

    _free = "ingot_program_free"

    def __init__(self, handle: c_void_p) -> None:
        super().__init__(handle)
        self.inputs, self.params, self.outputs = (
            declared_tensors("program", self._handle, role) for role in Role)
        count = c_int32()
        lib.call("ingot_program_kernels", self._handle, byref(count))
        self.num_kernels: int = count.value
        self.dims = names_of_dims(self.inputs + self.params + self.outputs)

    def __repr__(self) -> str:
        return (f"<ingot.{type(self).__name__} inputs ({listed(self.inputs)}) params "
                f"({listed(self.params)}) outputs ({listed(self.outputs)}), "
                f"{count_text(self.num_kernels, 'kernel')} a launch>")

    def shape(self, role: Role, index: int, **sizes: int) -> tuple[int, ...]:
        """The extents of tensor `index` of a role, for sizes of the named dimensions. An index or a
        size that does not fit is an InvalidArgumentError."""
        if not isinstance(role, int) or not 0 <= role < len(Role):
            raise InvalidArgumentError("role: expected a Role such as ingot.Role.OUTPUT, got "
                                       f"{type_and_repr(role)}")
        tensors = (self.inputs, self.params, self.outputs)[role]
        index = integer("index", index)
        if not 0 <= index < len(tensors):
            raise InvalidArgumentError(
                f"shape: expected one of {len(tensors)} tensors, got {index}")
        rank = len(tensors[index].shape)
        extents = (c_int64 * max(rank, 1))()
        lib.call("ingot_program_shape", self._handle, role, index, dims_array(sizes), len(sizes),
                 extents, rank)
        return tuple(extents[:rank])

    def memory(self, **sizes: Size) -> Memory:
        """The most memory that launches of these sizes need. A dimension that is not listed may
        have any size. Sizes that overflow are an InvalidArgumentError."""
        memory = _structs.Memory()
        lib.call("ingot_program_memory", self._handle, dims_array(sizes), len(sizes), byref(memory))
        return Memory(memory.prepared, memory.workspace, memory.state)

    def code(self, format: str = "ptx") -> Code:
        """The code of all kernels. `format`: "ptx", "cubin", "cuda" (CUDA source) or "torch" (a
        Python file for PyTorch). The first two need NVRTC, and raise UnavailableError without."""
        kind = choice("format", FORMATS, format)
        code, manifest = c_void_p(), c_void_p()
        lib.call("ingot_program_code", self._handle, kind, byref(code), byref(manifest))
        return Code(lib.take_bytes(code), lib.take_bytes(manifest).decode())
