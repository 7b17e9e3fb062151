# SPDX-License-Identifier: Apache-2.0
"""Launches of one program on PyTorch's tensors, on one GPU: the path that every call takes, so it
looks nothing up that it can know before.

Prepared memory belongs to the tensors that were prepared; several layers may share a launcher. What
was replaced, moved or written to since (a tensor's version counts the writes) is prepared again,
into memory of its own, as launches on other streams may still read the old one. Once a launch was
captured in a CUDA graph the memory of its params stays where it is: replays read it.
"""
from __future__ import annotations

import functools
import math
import threading
import weakref
from ctypes import byref, c_int64
from types import CodeType
from typing import Any, Mapping, NamedTuple, Sequence

import torch

from ingot import _library as lib
from ingot.context import has_context, use_context
from ingot.errors import InvalidArgumentError, NotPreparedError
from ingot.program import Memory, Program
from ingot.specs import Role, Size, dims_array
from ingot.torch.launch_arguments import Arguments
from ingot.torch.launch_source import (CallFacts, Unguarded, call_source, compile_call,
                                        dense_strides)

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32,
          "i64": torch.int64, "bool": torch.bool}

_MOST_SIZES = 4096    # whose needs are remembered
_LAUNCH_ERROR = 8     # INGOT_LAUNCH_ERROR: also that there is no context


def use_device(index: int) -> None:
    """Makes a GPU the current one of this thread, PyTorch's and the driver's."""
    torch.cuda.set_device(index)
    use_context(index)


class _ParamSet:
    """Params that may be launched with, what they were like, and the memory that was prepared from
    them. It does not keep them alive; `forget` is called when one of them dies, before another can
    have its id. is_watched: memory was prepared, so writes matter."""

    def __init__(self, params: Sequence[torch.Tensor], is_watched: bool,
                 prepared: torch.Tensor | None, forget):
        self.key = tuple(map(id, params))
        self.pointers = [param.data_ptr() for param in params]
        self.versions = [_version(param) for param in params] if is_watched else None
        self.shapes = _shapes(params)
        self.prepared = prepared
        self.pointer = prepared.data_ptr() if prepared is not None else 0
        self.streams: set[int] = set()
        self.is_captured = False
        self._deaths = [weakref.ref(param, lambda _, key=self.key: forget(key))
                        for param in params]

    def holds(self, params: Sequence[torch.Tensor]) -> bool:
        """Whether the tensors, which have these ids, are what they were then."""
        return self.pointers == [param.data_ptr() for param in params] and (
            self.versions is None or self.versions == [param._version for param in params])


def _shapes(tensors: Sequence[torch.Tensor]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(tensor.shape) for tensor in tensors)


def check_tensors(role: str, specs, tensors: Sequence[Any], device: torch.device) -> None:
    """Refuses all but dense tensors of the declared types and ranks on the device."""
    if len(tensors) != len(specs):
        raise InvalidArgumentError(f"expected {len(specs)} {role}s "
                                   f"({', '.join(spec.name for spec in specs) or 'none'}), got "
                                   f"{len(tensors)}")
    for spec, tensor in zip(specs, tensors):
        what = f"{role} '{spec.name}'"
        if not isinstance(tensor, torch.Tensor):
            raise InvalidArgumentError(f"{what}: expected a torch.Tensor beside others of them, "
                                       f"got {type(tensor).__name__}")
        if tensor.dtype is not DTYPES[spec.dtype]:
            raise InvalidArgumentError(
                f"{what}: expected elements of {spec.dtype} ({DTYPES[spec.dtype]}), got "
                f"{tensor.dtype}; convert it with .to({DTYPES[spec.dtype]})")
        if tensor.device != device:
            raise InvalidArgumentError(f"{what}: expected a tensor on {device}, got one on "
                                       f"{tensor.device}; move it there")
        if tensor.dim() != len(spec.shape):
            raise InvalidArgumentError(f"{what}: expected shape {list(spec.shape)}, got "
                                       f"{list(tensor.shape)}")
        if not tensor.is_contiguous():
            raise InvalidArgumentError(
                f"{what}: expected dense row-major elements, got shape {list(tensor.shape)} with "
                f"strides {list(tensor.stride())}; make it contiguous()")


def _check_numbers(spec, tensor: torch.Tensor) -> None:
    """Refuses extents that are not the declared numbers."""
    if any(isinstance(declared, int) and declared != extent
           for declared, extent in zip(spec.shape, tensor.shape)):
        raise InvalidArgumentError(f"tensor '{spec.name}' has another shape than when it was "
                                   f"compiled: expected {list(spec.shape)}, got "
                                   f"{list(tensor.shape)}")


def _version(param: torch.Tensor) -> int:
    if param.is_inference():
        raise InvalidArgumentError(
            "a param must count the writes to it, which a tensor made under "
            "torch.inference_mode does not; make it outside, or clone it there")
    return param._version


class OutputLayout(NamedTuple):
    """How an output lies: its dims from the slowest to the fastest, which is the order in which
    the graph has them, and its strides, or None where they follow from its sizes."""
    order: list[int]
    strides: tuple[int, ...] | None = None

    def place(self, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of the tensor that the graph declares with `shape`."""
        dense = dense_strides(shape)
        axes = [self.order.index(dim) for dim in range(len(self.order))]
        strides = self.strides or tuple(dense[axis] for axis in axes)
        return tuple(shape[axis] for axis in axes), strides


class _Sizes:
    """What a launch of given sizes needs, and the shapes of its tensors."""

    def __init__(self, program: Program, sizes: dict[str, int],
                 layouts: Sequence[OutputLayout] | None):
        memory = program.memory(**sizes)
        self.workspace, self.state = memory.workspace, memory.state
        self.inputs, self.outputs = (
            tuple(program.shape(role, i, **sizes) for i in range(len(specs)))
            for role, specs in ((Role.INPUT, program.inputs), (Role.OUTPUT, program.outputs)))
        layouts = layouts or [OutputLayout(list(range(len(shape)))) for shape in self.outputs]
        self.made = [(*layout.place(shape), DTYPES[spec.dtype])
                     for shape, layout, spec in zip(self.outputs, layouts, program.outputs)]


def _empty_on(device: torch.device):
    """empty_strided(shape, strides, dtype) on the current GPU, the quickest way there is: what
    PyTorch's own generated code calls, where this PyTorch has it."""
    quick = getattr(getattr(torch._C._dynamo, "guards", None), "_empty_strided_cuda", None)
    if quick is not None:
        return quick
    return lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype,
                                                             device=device)


class Launcher:
    """What launches of a program on one GPU share. `make_call` gives what calls it; threads may
    call it at once.

    `fixed`: inputs without named extents are known to have the declared shapes. `dims`: the sizes
    that will be launched; what is not listed may have any. `places`: where among the arguments of
    a call each input, then each param stands; without it in that order. `layouts`: how the outputs
    that a call makes shall lie. `unguarded`: those of the inputs and params whose type, device,
    shape and strides each call looks at."""

    def __init__(self, program: Program, device: torch.device, fixed: bool = False,
                 dims: Mapping[str, Size] | None = None, places: Sequence[int] | None = None,
                 layouts: Sequence[OutputLayout] | None = None,
                 unguarded: Mapping[int, str] | None = None):
        self.program, self.device, self._ranges = program, device, dict(dims or {})
        self._layouts, self._unguarded = layouts, dict(unguarded or {})
        self.num_prepared = 0  # how often params were prepared
        declared = (*program.inputs, *program.params)
        self._fixed = fixed and not any(isinstance(extent, str) for index in self._unguarded
                                        for extent in declared[index].shape)
        self._index = device.index if device.index is not None else torch.cuda.current_device()
        if device.type == "cuda":
            self.device = torch.device("cuda", self._index)
        num_inputs, num_params = len(program.inputs), len(program.params)
        places = list(range(num_inputs + num_params)) if places is None else list(places)
        self._places = places
        self._inputs, self._param_places = places[:num_inputs], places[num_inputs:]
        self._pool: list[Arguments] = []
        self._states: dict[int, torch.Tensor] = {}
        self._known = {name: size for name, size in self._ranges.items() if isinstance(size, int)}
        self._names, dims_at = _dims_of(program, self._known)
        self._dims = [(self._inputs[i], axis, factor) for i, axis, factor in dims_at]
        self._sizes: dict[tuple[int, ...], _Sizes] = {}
        self._sets: dict[tuple[int, ...], _ParamSet] = {}
        self._last: _ParamSet | None = None
        self._captured: list[torch.Tensor] = []  # memory that CUDA graphs read
        self._is_watched = self._needs().prepared > 0
        self._prepared_shapes: set[tuple] = set()  # of params
        self._code: CodeType | None = None  # of what make_call gives
        self._lock = threading.RLock()  # of prepare; a param may die within it

    def make_call(self):
        """call(tensors, out=None). Its globals hold all that it uses, as each lookup takes time at
        each launch. It enqueues the kernels on the current stream, prepares first where a param
        changed, and gives the outputs. Tensors must be dense, of the declared types and ranks, and
        on the launcher's GPU."""
        if self._code is None:
            self._code = compile_call(call_source(self._facts()))
        scope = {"launcher": self, "known_sizes": self._sizes, "pool": self._pool,
                 "new_arguments": functools.partial(Arguments, self.program),
                 "handle": self.program._handle, "launch": lib.library.ingot_program_launch,
                 "current_device": torch._C._cuda_getDevice,
                 "current_stream": torch._C._cuda_getCurrentRawStream,
                 "check": torch._C._dynamo.guards.assert_size_stride,
                 "empty": _empty_on(self.device), "uint8": torch.uint8, "torch": torch}
        exec(self._code, scope)
        return scope.pop("call")  # a cycle otherwise

    def _facts(self) -> CallFacts:
        needs, is_sized = self._needs(), bool(self._dims)
        return CallFacts(
            self._index, self._inputs, self._param_places, Arguments(self.program), self._dims,
            [self._unguarded_fact(i) for i in self._unguarded],
            is_watched=self._is_watched, is_fixed=self._fixed,
            has_workspace=is_sized or needs.workspace > 0, has_state=is_sized or needs.state > 0)

    def _unguarded_fact(self, index: int) -> Unguarded:
        spec = (*self.program.inputs, *self.program.params)[index]
        device = self.device.index if self.device.type == "cuda" else -1
        return Unguarded(self._places[index], spec.shape, str(DTYPES[spec.dtype]), device)

    def _as_declared(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The tensors, where unguarded ones were replaced since: dense copies of those that lie
        otherwise. Refuses other types, devices and shapes."""
        tensors = list(tensors)
        for index, remedy in self._unguarded.items():
            spec = (*self.program.inputs, *self.program.params)[index]
            place = self._places[index]
            tensors[place] = tensors[place].contiguous()
            try:
                check_tensors("tensor", [spec], [tensors[place]], self.device)
                _check_numbers(spec, tensors[place])
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"{error}; {remedy}") from None
        return tensors

    def _needs(self) -> Memory:
        """What depends on params alone needs the same memory at every size."""
        return self.program.memory(**{name: self._ranges.get(name, (0, 1))
                                      for name in self.program.dims})

    def _failed(self, code: int, arguments: Arguments, tensors, out):
        if code == _LAUNCH_ERROR and not has_context(self._index):
            # A thread that has not called CUDA yet; nothing was enqueued.
            lib.library.ingot_error_free(arguments.error)
            return self._on_device(tensors, out)
        return lib.raise_error(code, arguments.error)

    def _check_shapes(self, arguments: Arguments, sizes: _Sizes, tensors, out) -> None:
        """Gives the library the shapes as they are, where they are not those of the sizes."""
        first = len(arguments.data) - len(arguments.outputs)
        inputs = [tensors[place] for place in self._inputs]
        for start, shapes, given in ((0, sizes.inputs, inputs),
                                     (first, sizes.outputs, out or ())):
            for i, (shape, tensor) in enumerate(zip(shapes, given)):
                if tensor.shape != shape:
                    arguments.set_shape(start + i, tensor.shape)
                    arguments.sizes = None

    def _on_device(self, tensors, out):
        """A call with the GPU as the current one of this thread."""
        before = torch.cuda.current_device()
        use_device(self._index)
        try:
            return self.make_call()(tensors, out)
        finally:
            torch.cuda.set_device(before)

    def _new_sizes(self, key: tuple[int, ...]) -> _Sizes:
        if len(self._sizes) >= _MOST_SIZES:
            self._sizes.clear()
        sizes = _Sizes(self.program, {**self._known, **dict(zip(self._names, key))},
                       self._layouts)
        self._sizes[key] = sizes
        return sizes

    def _note_stream(self, param_set: _ParamSet, stream: int) -> None:
        """Keeps the prepared memory from being reused while another stream reads it, or, where the
        launch is captured, as long as the graph may be replayed."""
        if torch.cuda.is_current_stream_capturing():
            param_set.is_captured = True
            self._captured.append(param_set.prepared)
        elif stream not in param_set.streams:
            param_set.prepared.record_stream(torch.cuda.current_stream(self.device))
            param_set.streams.add(stream)

    def _state(self, stream: int, size: int) -> torch.Tensor:
        """Zeros: of the stream, whose launches run in turn, or of one captured launch."""
        if torch.cuda.is_current_stream_capturing():
            return torch.zeros(size, dtype=torch.uint8, device=self.device)
        state = self._states.get(stream)
        if state is None or state.numel() < size:
            state = self._states[stream] = torch.zeros(size, dtype=torch.uint8, device=self.device)
        return state

    def _param_set(self, tensors: Sequence[torch.Tensor]) -> _ParamSet:
        """That of the params among the tensors, prepared where it must be."""
        params = [tensors[place] for place in self._param_places]
        param_set = self._sets.get(tuple(map(id, params)))
        if param_set is None or not param_set.holds(params):
            param_set = self.prepare(params)
        self._last = param_set
        return param_set

    def _forget(self, key: tuple[int, ...]) -> None:
        """A param died."""
        self._sets.pop(key, None)
        self._last = None
        self._pool.clear()

    def prepare(self, params: Sequence[torch.Tensor], again: bool = False) -> _ParamSet:
        """Compiles what the sizes need, and computes prepared memory; waits for it. `again`: also
        where no write was counted."""
        with self._lock:
            before = self._sets.get(tuple(map(id, params)))
            if not again and before is not None and before.holds(params):
                return before
            check_tensors("param", self.program.params, params, self.device)
            if self._is_watched or _shapes(params) not in self._prepared_shapes:
                result = self._prepared(params, before)
            else:
                result = _ParamSet(params, is_watched=False, prepared=None, forget=self._forget)
            self._sets[result.key] = result
            self._pool.clear()
            return result

    def _prepared(self, params: Sequence[torch.Tensor], before: _ParamSet | None) -> _ParamSet:
        if torch.cuda.is_current_stream_capturing():
            raise NotPreparedError(
                "params must be prepared before a CUDA graph is captured, or were written to "
                "since; call once outside of the capture")
        use_device(self._index)
        keeps_place = before is not None and before.is_captured
        if keeps_place:
            torch.cuda.synchronize(self.device)
        needs = self._needs()
        prepared = before.prepared if keeps_place else self._bytes(needs.prepared)
        result = _ParamSet(params, self._is_watched, prepared, self._forget)
        result.is_captured = keeps_place
        stream = torch.cuda.current_stream(self.device)
        self._run_prepare(result, params, self._bytes(needs.workspace), stream)
        result.streams.add(stream.cuda_stream)
        self._prepared_shapes.add(result.shapes)
        self.num_prepared += 1
        return result

    def _bytes(self, size: int) -> torch.Tensor | None:
        return torch.empty(size, dtype=torch.uint8, device=self.device) if size else None

    def _run_prepare(self, param_set: _ParamSet, params, workspace, stream) -> None:
        slots = (lib.Tensor * max(len(params), 1))()
        for slot, param in zip(slots, params):
            extents = (c_int64 * max(param.dim(), 1))(*param.shape)
            slot.data, slot.shape, slot.rank = param.data_ptr(), extents, param.dim()
        arguments = lib.PrepareArguments(
            params=slots, num_params=len(params), prepared=param_set.pointer or None,
            workspace=workspace.data_ptr() if workspace is not None else None,
            stream=stream.cuda_stream, dims=dims_array(self._ranges), num_dims=len(self._ranges))
        lib.call("ingot_program_prepare", self.program._handle, byref(arguments))
        stream.synchronize()  # launches on other streams read what this one wrote


def _dims_of(program: Program, known: Mapping[str, int]):
    """Names of dimensions without a known size, and for each the input, the axis and the factor of
    a number that give it."""
    names = [name for name in program.dims if name not in known]
    result = []
    for name in names:
        found = None
        for i, spec in enumerate(program.inputs):
            for axis, extent in enumerate(spec.shape):
                if isinstance(extent, int):
                    continue
                factors, others = split_extent(extent)
                if others == [name] and (found is None or factors == 1):
                    found = (i, axis, factors)
        if found is None:
            raise InvalidArgumentError(
                f"no input's shape gives '{name}' alone; give its size, dims={{'{name}': ...}}")
        result.append(found)
    return names, result


def split_extent(extent: str) -> tuple[int, list[str]]:
    """The number and the names of a product such as "2 * m"."""
    parts = extent.replace(" ", "").split("*")
    return (math.prod(int(part) for part in parts if part.isdigit()),
            [part for part in parts if not part.isdigit()])
