# SPDX-License-Identifier: Apache-2.0
"""Programs, which are compiled graphs that can be launched: compile, bundle, load, bind, call."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from ctypes import byref
from typing import Any

from ingot import _arguments, dlpack
from ingot import _library as lib
from ingot._optional import torch_tensor_in
from ingot.bound_launcher import BoundLauncher
from ingot.compiled_graph import CompiledGraph
from ingot.errors import InvalidArgumentError
from ingot.graph import Graph, graph_of
from ingot.options import options_of
from ingot.specs import Size, by_name, check_dims


class BoundProgram:
    """A program with its params; made by Program.bind. Call it with the inputs, in the order of
    their declarations. PyTorch's tensors are launched as such; others through DLPack."""

    def __init__(self, program: CompiledGraph, params: Sequence[Any],
                 dims: Mapping[str, Size] | None = None) -> None:
        dims = check_dims(dims)
        unknown = [name for name in dims if name not in program.dims]
        if unknown:
            raise InvalidArgumentError(f"the graph has no named dimension '{unknown[0]}'; expected "
                                       f"{', '.join(program.dims) or 'none'}")
        self.program, self.params, self.dims = program, list(params), dict(dims)
        self._launchers: dict[Any, BoundLauncher] = {}  # by PyTorch's device; None: DLPack
        if params:
            self.prepare()

    def prepare(self, stream: int | None = None) -> None:
        """Prepares on the params' GPU, and waits for it. Call it after writes to params that their
        library does not count, when no launch that reads them is under way. PyTorch counts its own
        writes. `stream`: as of a call."""
        stream = _arguments.stream(stream)
        self._launcher(None, ()).prepare(stream)

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None) -> Any:
        """Enqueues the kernels, and gives the output, or a tuple of several. `stream`: a
        cudaStream_t; None: PyTorch's current stream, for other tensors the default stream. `out`:
        the tensors to write to, which are needed where the inputs' library has no array namespace
        to allocate them in. A tensor that does not fit is an InvalidArgumentError."""
        outputs = None
        if out is not None:
            outputs = list(out) if isinstance(out, (list, tuple)) else [out]
            if len(outputs) != len(self.program.outputs):
                raise InvalidArgumentError(f"out: expected {len(self.program.outputs)} tensors, "
                                           f"got {len(outputs)}")
        stream = _arguments.stream(stream)
        results = self._launcher(inputs, outputs or ()).launch(inputs, outputs, stream)
        return results[0] if len(results) == 1 else tuple(results)

    def _launcher(self, inputs: Sequence[Any] | None, outputs: Sequence[Any]) -> BoundLauncher:
        """The launcher for tensors of this library, on this GPU. `inputs`: None outside of a
        call."""
        tensors = (*(inputs or ()), *self.params, *outputs)
        tensor = torch_tensor_in(tensors)
        device = None if tensor is None else tensor.device
        launcher = self._launchers.get(device)
        if launcher is None:
            if tensor is None:
                launcher = dlpack.bound_launcher(self.program, inputs, self.params, self.dims)
            else:
                from ingot import torch_device
                launcher = torch_device.bound_launcher(self.program, self.params, self.dims, device)
            self._launchers[device] = launcher
        return launcher


class Program(CompiledGraph):
    """A compiled graph that can be launched; made by `compile` and `load`. Threads may use one
    program at once. The attributes are those of CompiledGraph."""

    _bound: BoundProgram | None = None

    def bind(self, *params: Any, dims: Mapping[str, Size] | None = None,
             **named: Any) -> BoundProgram:
        """Binds the params to tensors, by position or by name, prepares, and gives a function of
        the inputs. `dims`: the sizes that will be launched; a dimension that is not listed may have
        any size."""
        return BoundProgram(self, by_name("param", self.params, params, named), dims)

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None) -> Any:
        """Launches a graph without params: see BoundProgram.__call__."""
        if self.params:
            raise InvalidArgumentError(
                f"the graph has params: {', '.join(p.name for p in self.params)}; call "
                "program.bind(...) once, and its result for each launch")
        if self._bound is None:
            self._bound = self.bind()
        return self._bound(*inputs, out=out, stream=stream)


def compile(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
            target: str | None = None, device: str | None = None,
            precision: str | None = None) -> Program:
    """Compiles a graph, or the text of a spec, as far as CUDA source; needs no GPU.

    Options have the names of the command line. `matmul_precision` of f32 products: "highest" (also
    None), "pedantic", "high" (TF32) or "medium" (bf16). `math`, the rewrites that are allowed:
    "relaxed", "strict" or "finite". `device`: "a100", "h100", "h200" or "native"; None: the card
    present, or the family's own. `precision` is the old name of `matmul_precision`. A wrong option
    is an InvalidArgumentError, a graph without kernels an UnsupportedError."""
    graph, options = graph_of(graph), options_of(matmul_precision, math, target, device, precision)
    return Program(lib.make("ingot_compile", graph._handle, byref(options)))


def bundle(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
           target: str | None = None, device: str | None = None,
           precision: str | None = None) -> bytes:
    """Compiles a graph ahead of time, into the bytes of one file that `load` takes on machines
    without NVRTC. Options as of `compile`, but `device` may name several cards, as "a100,h100";
    None: the named cards that run the target. Needs NVRTC and no GPU."""
    graph = graph_of(graph)
    options = options_of(matmul_precision, math, target, device, precision, several=True)
    return lib.take_bytes(lib.make("ingot_bundle", graph._handle, byref(options)))


def load(bundle: bytes | bytearray | memoryview | str | os.PathLike[Any]) -> Program:
    """The program of a bundle, given as its bytes or as the path of its file; a path of bytes is
    taken for a bundle. No compiler runs. A bundle that does not read is a ParseError, a file that
    cannot be read a FileError."""
    if isinstance(bundle, (bytes, bytearray, memoryview)):
        try:
            data = bytes(bundle)
        except ValueError as error:  # of a memoryview that was released
            raise InvalidArgumentError(f"bundle: {error}") from None
        return Program(lib.make("ingot_program_load", data, len(data), None))
    return Program(lib.make("ingot_program_load_file", _arguments.path(
        bundle, "bundle: expected its bytes, or the path of its file")))
