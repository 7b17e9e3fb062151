# SPDX-License-Identifier: Apache-2.0
"""Launches of one program on PyTorch's tensors, on one GPU: the path that every call takes, so it
looks nothing up that it can know before.

Prepared memory belongs to the tensors that were prepared; several layers may share a launcher. What
was replaced, moved or written to since (a tensor's version counts the writes) is prepared again,
into memory of its own, as launches on other streams may still read the old one. Once a launch was
captured in a CUDA graph the memory of its params stays where it is: replays read it.
"""
from __future__ import annotations

import ctypes
import math
import threading
import weakref
from ctypes import byref, c_int64, c_void_p
from typing import Mapping, Sequence

import torch

from ingot import _library as lib
from ingot.context import has_context, use_context
from ingot.errors import InvalidArgumentError, NotPreparedError
from ingot.program import Program, Role, Size, dims_array

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32,
          "i64": torch.int64, "bool": torch.bool}

_MOST_SIZES = 4096    # whose needs are remembered
_LAUNCH_ERROR = 8     # INGOT_LAUNCH_ERROR: also that there is no context


def use_device(index: int) -> None:
    """Makes a GPU the current one of this thread, PyTorch's and the driver's."""
    torch.cuda.set_device(index)
    use_context(index)


class _Arguments:
    """An ingot_launch_arguments and all that it points to, in one buffer of 8-byte words, which a
    memoryview writes quicker than ctypes' structs. Of one call at a time."""

    PREPARED, WORKSPACE, STATE, STREAM = 7, 8, 9, 10  # words of ingot_launch_arguments

    def __init__(self, program: Program):
        roles = (program.inputs, program.params, program.outputs)
        num_tensors = sum(map(len, roles))
        first_tensor = ctypes.sizeof(lib.LaunchArguments) // 8
        words_of_tensor = ctypes.sizeof(lib.Tensor) // 8
        ranks = [len(spec.shape) for specs in roles for spec in specs]
        extents = first_tensor + words_of_tensor * num_tensors
        self._buffer = (ctypes.c_uint64 * (extents + sum(ranks) + 1))()
        self.address = ctypes.addressof(self._buffer)
        self.words = memoryview(self._buffer).cast("B").cast("Q")
        self.words[0] = ctypes.sizeof(lib.LaunchArguments)
        self.data = []     # the word of each tensor's pointer: inputs, params, outputs
        self.extents = []  # the first word of its extents
        for role, specs in enumerate(roles):
            self.words[1 + 2 * role] = self.address + 8 * (first_tensor + words_of_tensor *
                                                           len(self.data))
            self.words[2 + 2 * role] = len(specs)
            for spec in specs:
                tensor = first_tensor + words_of_tensor * len(self.data)
                self.data.append(tensor)
                self.extents.append(extents)
                self.words[tensor + 1] = self.address + 8 * extents
                self.words[tensor + 2] = len(spec.shape)
                extents += len(spec.shape)
        self.inputs = self.data[:len(roles[0])]
        self.params = self.data[len(roles[0]):num_tensors - len(roles[2])]
        self.outputs = self.data[num_tensors - len(roles[2]):]
        self.error = c_void_p()
        self.error_reference = byref(self.error)
        self.param_set: _ParamSet | None = None
        self.sizes: _Sizes | None = None

    def set_shape(self, index: int, shape: Sequence[int]) -> None:
        """Of the tensor with that index among inputs, params and outputs."""
        first = self.extents[index]
        for i, extent in enumerate(shape):
            self.words[first + i] = extent

    def set_params(self, param_set: _ParamSet) -> None:
        first = len(self.inputs)
        for i, (_, _, pointer) in enumerate(param_set.known):
            self.words[self.params[i]] = pointer
            self.set_shape(first + i, param_set.shapes[i])
        self.words[self.PREPARED] = param_set.pointer
        self.param_set = param_set

    def set_sizes(self, sizes: _Sizes) -> None:
        first = len(self.data) - len(self.outputs)
        for i, shape in enumerate(sizes.inputs):
            self.set_shape(i, shape)
        for i, shape in enumerate(sizes.outputs):
            self.set_shape(first + i, shape)
        self.sizes = sizes


class _ParamSet:
    """Memory that was prepared from params, and what the params were like. It does not keep them
    alive; `forget` is called when one of them dies, before another can have its id."""

    def __init__(self, params: Sequence[torch.Tensor], prepared: torch.Tensor | None, forget):
        self.key = tuple(map(id, params))
        self.known = [(id(param), _version(param), param.data_ptr()) for param in params]
        self.shapes = [tuple(param.shape) for param in params]
        self.prepared = prepared
        self.pointer = prepared.data_ptr() if prepared is not None else 0
        self.streams: set[int] = set()
        self.is_captured = False
        self._deaths = [weakref.ref(param, lambda _, key=self.key: forget(key))
                        for param in params]

    def holds(self, params: Sequence[torch.Tensor]) -> bool:
        """Whether these are the tensors that were prepared, as they were then."""
        return len(params) == len(self.known) and all(
            id(param) == known and param._version == version and param.data_ptr() == pointer
            for param, (known, version, pointer) in zip(params, self.known))


def _version(param: torch.Tensor) -> int:
    if param.is_inference():
        raise InvalidArgumentError(
            "a param must count the writes to it, which a tensor made under "
            "torch.inference_mode does not; make it outside, or clone it there")
    return param._version


class _Sizes:
    """What a launch of given sizes needs, and the shapes of its tensors."""

    def __init__(self, program: Program, sizes: dict[str, int]):
        memory = program.memory(**sizes)
        self.workspace, self.state = memory.workspace, memory.state
        self.inputs, self.outputs = (
            tuple(program.shape(role, i, **sizes) for i in range(len(specs)))
            for role, specs in ((Role.INPUT, program.inputs), (Role.OUTPUT, program.outputs)))
        self.made = [(shape, _strides(shape), DTYPES[spec.dtype])
                     for shape, spec in zip(self.outputs, program.outputs)]


def _empty_on(device: torch.device):
    """empty_strided(shape, strides, dtype) on the current GPU, the quickest way there is: what
    PyTorch's own generated code calls, where this PyTorch has it."""
    quick = getattr(getattr(torch._C._dynamo, "guards", None), "_empty_strided_cuda", None)
    if quick is not None:
        return quick
    return lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype,
                                                             device=device)


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(max(extent, 1) for extent in shape[axis + 1:])
                 for axis in range(len(shape)))


class Launcher:
    """What launches of a program on one GPU share. `make_call` gives what calls it; threads may
    call it at once.

    `fixed`: tensors without named extents are known to have the declared shapes. `dims`: the sizes
    that will be launched; what is not listed may have any. `places`: where among the arguments of
    a call each input, then each param stands; without it in that order."""

    def __init__(self, program: Program, device: torch.device, fixed: bool = False,
                 dims: Mapping[str, Size] | None = None, places: Sequence[int] | None = None):
        self.program, self.device, self._ranges = program, device, dict(dims or {})
        self.num_prepared = 0  # how often params were prepared
        self._fixed = fixed
        self._index = device.index if device.index is not None else torch.cuda.current_device()
        num_inputs, num_params = len(program.inputs), len(program.params)
        places = list(range(num_inputs + num_params)) if places is None else list(places)
        self._inputs, self._param_places = places[:num_inputs], places[num_inputs:]
        self._pool: list[_Arguments] = []
        self._states: dict[int, torch.Tensor] = {}
        self._known = {name: size for name, size in self._ranges.items() if isinstance(size, int)}
        self._names, dims_at = _dims_of(program, self._known)
        self._dims = [(self._inputs[i], axis, factor) for i, axis, factor in dims_at]
        self._sizes: dict[tuple[int, ...], _Sizes] = {}
        self._sets: dict[tuple[int, ...], _ParamSet] = {}
        self._last: _ParamSet | None = None
        self._captured: list[torch.Tensor] = []  # memory that CUDA graphs read
        self._lock = threading.RLock()  # of prepare; a param may die within it

    def make_call(self):
        """call(tensors, out=None), with all that it needs at hand: what it takes is added to each
        launch. It enqueues the kernels on the current stream, prepares first where a param changed,
        and gives the outputs. Tensors must be dense, of the declared types and ranks, and on the
        launcher's GPU."""
        index, device, pool, known_sizes = self._index, self.device, self._pool, self._sizes
        inputs, param_places, dims, is_fixed = (self._inputs, self._param_places, self._dims,
                                                self._fixed)
        handle, launch = self.program._handle, lib.library.ingot_program_launch
        current_device, current_stream = (torch._C._cuda_getDevice,
                                          torch._C._cuda_getCurrentRawStream)
        workspace_word, state_word, stream_word = (_Arguments.WORKSPACE, _Arguments.STATE,
                                                   _Arguments.STREAM)
        empty = _empty_on(device)

        def call(tensors: Sequence[torch.Tensor],
                 out: Sequence[torch.Tensor] | None = None) -> list[torch.Tensor]:
            if current_device() != index:
                return self._on_device(tensors, out)
            param_set = self._last
            if param_set is None:
                param_set = self._param_set(tensors)
            else:
                for place, (known, version, pointer) in zip(param_places, param_set.known):
                    param = tensors[place]
                    if (id(param) != known or param._version != version
                            or param.data_ptr() != pointer):
                        param_set = self._param_set(tensors)
                        break
            stream = current_stream(index)
            if param_set.prepared is not None and not param_set.is_captured:
                self._note_stream(param_set, stream)
            key = tuple([tensors[i].shape[axis] // factor for i, axis, factor in dims]
                        ) if dims else ()
            sizes = known_sizes.get(key) or self._new_sizes(key)
            given = out
            if out is None:
                out = [empty(shape, strides, dtype) for shape, strides, dtype in sizes.made]
            try:
                arguments = pool.pop()
            except IndexError:
                arguments = _Arguments(self.program)
            if arguments.param_set is not param_set:
                arguments.set_params(param_set)
            if arguments.sizes is not sizes:
                arguments.set_sizes(sizes)
            if not is_fixed:
                self._check_shapes(arguments, sizes, tensors, given)
            words = arguments.words
            for word, place in zip(arguments.inputs, inputs):
                words[word] = tensors[place].data_ptr()
            for word, tensor in zip(arguments.outputs, out):
                words[word] = tensor.data_ptr()
            words[stream_word] = stream
            if sizes.workspace:
                workspace = empty((sizes.workspace,), (1,), torch.uint8)
                words[workspace_word] = workspace.data_ptr()
            if sizes.state:
                state = self._state(stream, sizes.state)
                words[state_word] = state.data_ptr()
            code = launch(handle, arguments.address, arguments.error_reference)
            if code == _LAUNCH_ERROR and not has_context(index):
                # A thread that has not called CUDA yet; nothing was enqueued.
                lib.library.ingot_error_free(arguments.error)
                return self._on_device(tensors, out)
            if code:
                lib.raise_error(code, arguments.error)
            pool.append(arguments)
            return out
        return call

    def _check_shapes(self, arguments: _Arguments, sizes: _Sizes, tensors, out) -> None:
        """Gives the library the shapes as they are, where they are not those of the sizes."""
        first = len(arguments.data) - len(arguments.outputs)
        inputs = [tensors[place] for place in self._inputs]
        for role, start, shapes, given in (("input", 0, sizes.inputs, inputs),
                                           ("output", first, sizes.outputs, out or ())):
            for i, (shape, tensor) in enumerate(zip(shapes, given)):
                if tensor.shape == shape:
                    continue
                spec = (self.program.outputs if start else self.program.inputs)[i]
                if tensor.dim() != len(shape):
                    raise InvalidArgumentError(
                        f"{role} '{spec.name}': expected shape {list(spec.shape)}, got "
                        f"{list(tensor.shape)}")
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
        sizes = _Sizes(self.program, {**self._known, **dict(zip(self._names, key))})
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

    def prepare(self, params: Sequence[torch.Tensor]) -> _ParamSet:
        """Compiles what the sizes need, and computes prepared memory; waits for it."""
        if torch.cuda.is_current_stream_capturing():
            raise NotPreparedError(
                "params must be prepared before a CUDA graph is captured, or were written to "
                "since; call once outside of the capture")
        use_device(self._index)
        with self._lock:
            before = self._sets.get(tuple(map(id, params)))
            if before is not None and before.holds(params):
                return before
            # What depends on params alone needs the same memory at every size.
            needs = self.program.memory(**{name: self._ranges.get(name, (0, 1))
                                           for name in self.program.dims})
            keeps_place = before is not None and before.is_captured
            if keeps_place:
                torch.cuda.synchronize(self.device)
            prepared = before.prepared if keeps_place else self._bytes(needs.prepared)
            result = _ParamSet(params, prepared, self._forget)
            result.is_captured = keeps_place
            stream = torch.cuda.current_stream(self.device)
            self._run_prepare(result, params, self._bytes(needs.workspace), stream)
            result.streams.add(stream.cuda_stream)
            self._sets[result.key] = result
            self._pool.clear()
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
