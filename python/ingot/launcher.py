# SPDX-License-Identifier: Apache-2.0
"""Launches of one program on one GPU, for tensors of any library: every launch from Python passes
here. Facts that are known before a call are not looked up at each call: see call_source.py."""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

from ingot import _library as lib
from ingot.call_source import CallFacts, UnguardedTensor, call_source, compile_call
from ingot.compiled_graph import CompiledGraph
from ingot.context import has_context
from ingot.device import Buffer, Device
from ingot.errors import InvalidArgumentError, LaunchError, code_of_error
from ingot.launch_arguments import LaunchArguments
from ingot.launch_sizes import LaunchSizes, OutputLayout, dim_sources
from ingot.param_sets import ParamSets
from ingot.specs import Size, TensorSpec

_MOST_SIZES = 4096  # the number of sizes whose needs are remembered
_LAUNCH_ERROR = code_of_error(LaunchError)  # also the code of a missing context


class Launcher:
    """The parts that launches of a program on one GPU share. `make_call` gives the function that
    launches; threads may call it at once.

    `fixed`: inputs without named extents are known to have the declared shapes. `dims`: the sizes
    that will be launched; a dimension that is not listed may have any size. `places`: the indices
    of the inputs, then of the params, among the tensors of a call; without it they stand in that
    order. `layouts`: the layouts of outputs that a call makes. `unguarded`: the inputs and params
    whose type, device, shape and strides each call checks, each with the remedy that its error
    names. If one fails a check, `adapt` replaces each of them, by its index; without it they are
    made contiguous. A named dimension whose size nothing gives is an InvalidArgumentError."""

    def __init__(self, program: CompiledGraph, device: Device, fixed: bool = False,
                 dims: Mapping[str, Size] | None = None, places: Sequence[int] | None = None,
                 layouts: Sequence[OutputLayout] | None = None,
                 unguarded: Mapping[int, str] | None = None,
                 adapt: Callable[[int, Any], Any] | None = None) -> None:
        self.program, self.device = program, device
        self._layouts, self._unguarded = layouts, dict(unguarded or {})
        self._adapt = adapt or (lambda _, tensor: tensor.contiguous())
        self._declared: tuple[TensorSpec, ...] = (*program.inputs, *program.params)
        self._fixed = fixed and not any(isinstance(extent, str) for index in self._unguarded
                                        for extent in self._declared[index].shape)
        self._places = list(range(len(self._declared)) if places is None else places)
        self._inputs = self._places[:len(program.inputs)]
        ranges = dict(dims or {})
        self._known = {name: size for name, size in ranges.items() if isinstance(size, int)}
        self._dims = dim_sources(program, self._known)
        self._sizes: dict[tuple[int, ...], LaunchSizes] = {}
        self._pool: list[LaunchArguments] = []
        self.params = ParamSets(program, device, self._places[len(program.inputs):], ranges,
                                self._pool.clear)
        self._workspaces: dict[int, Buffer] = {}  # by stream
        self._states: dict[int, Buffer] = {}
        self._outgrown: list[Buffer] = []
        self._lock = threading.Lock()  # of the three
        self._code: CodeType | None = None

    def make_call(self) -> Callable[..., Any]:
        """call(tensors, out=None): enqueues the kernels on the current stream, after preparing
        params that changed, and gives the outputs. Tensors must be dense, of the declared types and
        on the launcher's GPU. Where the device tracks no streams it is call(tensors, out, stream).
        A failed launch is a LaunchError; shapes that do not fit are an InvalidArgumentError."""
        if self._code is None:
            self._code = compile_call(call_source(self._facts()))
        scope = {"launcher": self, "params": self.params, "known_sizes": self._sizes,
                 "pool": self._pool, "workspaces": self._workspaces, "states": self._states,
                 "new_arguments": functools.partial(LaunchArguments, self.program),
                 "handle": self.program._handle, "launch": lib.library.ingot_program_launch,
                 **{f"dtype_{name}": dtype for name, dtype in self.device.dtypes.items()},
                 **self.device.scope()}
        exec(self._code, scope)  # noqa: S102
        call: Callable[..., Any] = scope.pop("call")  # a cycle otherwise
        return call

    def _facts(self) -> CallFacts:
        needs, is_sized = self.params.needs(), bool(self._dims)
        return CallFacts(
            self.device.index, self.device.tracks_streams, self._inputs,
            self._places[len(self._inputs):], LaunchArguments(self.program),
            list(self._dims.values()),
            [UnguardedTensor(self._places[i], self._declared[i].shape, self._declared[i].dtype,
                             self.device.index) for i in self._unguarded],
            is_watched=self.params.is_watched, is_fixed=self._fixed,
            has_workspace=is_sized or needs.workspace > 0, has_state=is_sized or needs.state > 0)

    def sizes_of(self, inputs: Sequence[Any]) -> LaunchSizes:
        """The needs of a launch with these inputs, which have the declared ranks."""
        key = tuple(inputs[dim.input].shape[dim.axis] // dim.factor for dim in self._dims.values())
        return self._sizes.get(key) or self.new_sizes(key)

    # --- for generated calls ---

    def new_sizes(self, key: tuple[int, ...]) -> LaunchSizes:
        """The needs of launches of new sizes, which are remembered."""
        if len(self._sizes) >= _MOST_SIZES:
            self._sizes.clear()
        sizes = LaunchSizes(self.program, {**self._known, **dict(zip(self._dims, key))},
                            self._layouts, self.device.dtypes, self.device.byte)
        self._sizes[key] = sizes
        return sizes

    def as_declared(self, tensors: Sequence[Any]) -> list[Any]:
        """The tensors of a call, with adapted ones in place of unguarded ones. Refuses other types,
        devices and shapes."""
        tensors = list(tensors)
        for index, remedy in self._unguarded.items():
            spec, place = self._declared[index], self._places[index]
            tensors[place] = self._adapt(index, tensors[place])
            try:
                self.device.check("tensor", [spec], [tensors[place]])
                _check_numbers(spec, tensors[place])
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"{error}; {remedy}") from None
        return tensors

    def write_shapes(self, arguments: LaunchArguments, sizes: LaunchSizes, tensors: Sequence[Any],
                     out: Sequence[Any] | None) -> None:
        """Gives the library the real shapes of tensors that do not have those of the sizes."""
        for i, (shape, place) in enumerate(zip(sizes.inputs, self._inputs)):
            if tensors[place].shape != shape:
                arguments.set_input_shape(i, tensors[place].shape)
                arguments.sizes = None
        for i, (shape, tensor) in enumerate(zip(sizes.outputs, out or ())):
            if tensor.shape != shape:
                arguments.set_output_shape(i, tensor.shape)
                arguments.sizes = None

    def new_workspace(self, stream: int, size: int) -> Buffer:
        """A workspace for a stream, whose launches run in turn."""
        return self._grown(self._workspaces, stream, size)

    def new_state(self, stream: int, size: int) -> Buffer:
        """Zeroed memory of a stream, whose launches run in turn; or of one captured launch."""
        if self.device.is_capturing():
            return self.device.zeros(size)
        return self._grown(self._states, stream, size)

    def _grown(self, buffers: dict[int, Buffer], stream: int, size: int) -> Buffer:
        """The buffer of a stream, grown to a size. Growth is by half at least."""
        with self._lock:
            buffer = buffers.get(stream)
            if buffer is not None and buffer.numel() >= size:
                return buffer
            if buffer is not None:
                size = max(size, buffer.numel() * 3 // 2)
                if not self.device.tracks_streams:  # launches may still use it
                    self._outgrown.append(buffer)
            buffers[stream] = grown = self.device.zeros(size)
            return grown

    def on_device(self, tensors: Sequence[Any], out: Any) -> Any:
        """A call with the GPU as the current one of this thread."""
        return self.device.call_on(self.make_call(), tensors, out)

    def failed(self, code: int, arguments: LaunchArguments, tensors: Sequence[Any],
               out: Any) -> Any:
        """Raises the error of a launch. A thread that has not called CUDA yet has no context: then
        nothing was enqueued, and the launch is repeated with one."""
        if code == _LAUNCH_ERROR and not has_context(self.device.index):
            lib.library.ingot_error_free(arguments.error)
            return self.on_device(tensors, out)
        return lib.raise_error(code, arguments.error)


def _check_numbers(spec: TensorSpec, tensor: Any) -> None:
    """Refuses extents that are not the declared numbers."""
    if any(isinstance(declared, int) and declared != extent
           for declared, extent in zip(spec.shape, tensor.shape)):
        raise InvalidArgumentError(f"tensor '{spec.name}' has another shape than when it was "
                                   f"compiled: expected {list(spec.shape)}, got "
                                   f"{list(tensor.shape)}")
