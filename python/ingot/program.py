# SPDX-License-Identifier: Apache-2.0
"""Compiled graphs: what they take, what they need, and their launches."""
from __future__ import annotations

import enum
import os
from ctypes import byref, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Mapping, NamedTuple, Sequence, Union

from ingot import _library as lib
from ingot.errors import InvalidArgumentError
from ingot.graph import DTYPES, Extent, Graph, parse

#: A size of a named dimension, or its least and most.
Size = Union[int, "tuple[int, int]"]

PRECISIONS = ("highest", "pedantic", "high", "medium")
MATHS = ("relaxed", "strict", "finite")
FORMATS = ("ptx", "cubin", "cuda", "torch")


class Role(enum.IntEnum):
    """What a tensor is to a program."""
    INPUT = 0
    PARAM = 1
    OUTPUT = 2


class TensorSpec(NamedTuple):
    """A tensor as the graph declares it; an extent is a number, a name or a product."""
    name: str
    dtype: str
    shape: tuple[Extent, ...]


class Memory(NamedTuple):
    """Bytes of device memory that launches need, aligned to 256."""
    prepared: int   #: per parameter set, read-only after prepare
    workspace: int  #: per launch in flight, undefined on entry
    state: int      #: per launch in flight, zeroed once


class Code(NamedTuple):
    """Code of all kernels, and the JSON manifest that says how to launch it."""
    code: bytes
    manifest: str


def dims_array(dims: Mapping[str, Size]):
    """The C interface's list of sizes; the names are kept alive by it."""
    result = (lib.Dim * max(len(dims), 1))()
    for to, (name, size) in zip(result, dims.items()):
        least, most = size if isinstance(size, tuple) and len(size) == 2 else (size, size)
        to.name = lib.text("name of a dimension", name)
        to.least, to.most = (lib.integer(f"size of '{name}'", end) for end in (least, most))
    return result


class Program(lib.Handle):
    """A compiled graph; made by `compile`. Threads may use one program at once.

    `inputs`, `params` and `outputs` are TensorSpecs in the order in which the graph declares them;
    `dims` are the names of its named dimensions; `num_kernels` is how many kernels a launch runs.
    """

    _free = "ingot_program_free"

    def __init__(self, handle):
        super().__init__(handle)
        self.inputs, self.params, self.outputs = (self._tensors(role) for role in Role)
        count = c_int32()
        lib.call("ingot_program_kernels", self._handle, byref(count))
        self.num_kernels: int = count.value
        names = (name for tensor in self.inputs + self.params + self.outputs
                 for extent in tensor.shape if isinstance(extent, str)
                 for name in extent.replace(" ", "").split("*") if not name.isdigit())
        self.dims: tuple[str, ...] = tuple(dict.fromkeys(names))

    def __repr__(self) -> str:
        def listed(tensors):
            return ", ".join(f"{name}: {dtype}{list(shape)}" for name, dtype, shape in tensors)
        return (f"<ingot.Program inputs ({listed(self.inputs)}) params ({listed(self.params)}) "
                f"outputs ({listed(self.outputs)}), {self.num_kernels} kernels>")

    def _tensors(self, role: Role) -> tuple[TensorSpec, ...]:
        count = c_size_t()
        lib.call("ingot_program_count", self._handle, role, byref(count))
        result = []
        for index in range(count.value):
            info = lib.TensorInfo()
            lib.call("ingot_program_tensor", self._handle, role, index, byref(info))
            result.append(TensorSpec(info.name.decode(), DTYPES[info.type], lib.shape_of(info)))
        return tuple(result)

    def shape(self, role: Role, index: int, **sizes: int) -> tuple[int, ...]:
        """The extents of a tensor for sizes of its named dimensions."""
        role = lib.integer("role", role)
        if not 0 <= role < len(Role):
            raise InvalidArgumentError(f"role: expected a Role, got {role}")
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
        """The most that launches with these sizes need. What is not listed may have any size."""
        memory = lib.Memory()
        lib.call("ingot_program_memory", self._handle, dims_array(sizes), len(sizes), byref(memory))
        return Memory(memory.prepared, memory.workspace, memory.state)

    def code(self, format: str = "ptx") -> Code:
        """PTX, a cubin or CUDA source of all kernels, or a Python file for PyTorch. The first two
        need NVRTC."""
        kind = _choice("format", FORMATS, format)
        code, manifest = c_void_p(), c_void_p()
        lib.call("ingot_program_code", self._handle, kind, byref(code), byref(manifest))
        return Code(lib.take_bytes(code), lib.take_bytes(manifest).decode())

    def bind(self, *params: Any, dims: Mapping[str, Size] | None = None, **named: Any):
        """Gives the params their tensors, by position or by name, prepares, and gives what can be
        called with the inputs: a ingot.launch.Bound. `dims` are the sizes that will be launched;
        a dimension that is not listed may have any."""
        from ingot.launch import Bound
        return Bound(self, _by_name("param", self.params, params, named),
                     {} if dims is None else dims)

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None) -> Any:
        """Launches a graph without params: see Bound.__call__."""
        if self.params:
            raise InvalidArgumentError(
                f"the graph has params: {', '.join(p.name for p in self.params)}; call "
                "program.bind(...) once, and what it gives for each launch")
        if getattr(self, "_bound", None) is None:
            self._bound = self.bind()
        return self._bound(*inputs, out=out, stream=stream)


def _by_name(role: str, declared: Sequence[TensorSpec], given: Sequence[Any],
             named: Mapping[str, Any]) -> list[Any]:
    """The tensors in the order of their declarations."""
    names = [tensor.name for tensor in declared]
    if len(given) > len(names):
        raise InvalidArgumentError(f"expected {len(names)} {role}s, got {len(given)}")
    tensors = dict(zip(names, given))
    for name, tensor in named.items():
        if name not in names:
            raise InvalidArgumentError(
                f"there is no {role} '{name}'; expected {', '.join(names) or 'none'}")
        if name in tensors:
            raise InvalidArgumentError(f"{role} '{name}' was given twice")
        tensors[name] = tensor
    missing = [name for name in names if name not in tensors]
    if missing:
        raise InvalidArgumentError(f"expected {role}s {', '.join(names)}, got no "
                                   f"{', '.join(missing)}")
    return [tensors[name] for name in names]


def _choice(what: str, names: Sequence[str], given: str) -> int:
    if not isinstance(given, str) or given not in names:
        raise InvalidArgumentError(f"{what}: expected {', '.join(names)}, got {lib.shown(given)}")
    return names.index(given)


def compile(graph: Graph | str, *, precision: str = "highest", math: str = "relaxed",
            target: str | None = None, device: str | None = None) -> Program:
    """Compiles a graph, or the text of a spec, as far as CUDA source; needs no GPU.

    `precision` of f32 products: "highest", "pedantic", "high" (TF32) or "medium" (bf16).
    `math`, the rewrites that may be applied: "relaxed", "strict" or "finite".
    `device`: "a100", "h100", "h200" or "native"; None: the card present, or the family's own."""
    graph, options = _graph_of(graph), _options(precision, math, target, device)
    return Program(lib.make("ingot_compile", graph._handle, byref(options)))


def _graph_of(graph: Graph | str) -> Graph:
    if isinstance(graph, str):
        graph = parse(graph)
    if not isinstance(graph, Graph):
        raise InvalidArgumentError(f"expected a Graph or a spec, got {type(graph).__name__}")
    return graph


def _options(precision: str, math: str, target: str | None, device: str | None):
    return lib.Options(precision=_choice("precision", PRECISIONS, precision),
                       math=_choice("math", MATHS, math),
                       target=None if target is None else lib.text("target", target),
                       device=None if device is None else lib.text("device", device))


def bundle(graph: Graph | str, *, precision: str = "highest", math: str = "relaxed",
           target: str | None = None, device: str | None = None) -> bytes:
    """Compiles a graph ahead of time, into the bytes of one file that `load` takes on machines
    without NVRTC. `device` is a list such as "a100,h100"; None: every card that has a name. Needs
    NVRTC and no GPU."""
    graph, options = _graph_of(graph), _options(precision, math, target, device)
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
    return Program(lib.make("ingot_program_load_file", lib.path(bundle)))
