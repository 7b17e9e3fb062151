# SPDX-License-Identifier: Apache-2.0
"""Launches of one program on PyTorch's tensors, on one GPU: the path that every call takes, so it
looks nothing up that it can know before.

Prepared memory belongs to the tensors that were prepared. A tensor that was replaced, moved or
written to since (its version counts the writes) is prepared again, into memory of its own, since
launches on other streams may still read the old one. Once a launch was captured in a CUDA graph the
memory stays where it is: replays read it.
"""
from __future__ import annotations

import math
import threading
from ctypes import addressof, byref, c_int64, c_void_p
from typing import Mapping, Sequence

import torch

from ingot import _library as lib
from ingot.errors import InvalidArgumentError, NotPreparedError
from ingot.program import Program, Role, Size, dims_array

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32,
          "i64": torch.int64, "bool": torch.bool}

_context = threading.local()


def use_device(index: int) -> None:
    """Makes the GPU's primary context current in this thread, which a thread that has not called
    CUDA yet lacks."""
    if getattr(_context, "gpus", None) is None:
        _context.gpus = {}
    torch.cuda.set_device(index)
    if index not in _context.gpus:
        gpu = c_void_p()
        lib.call("ingot_gpu_open", index, byref(gpu))
        _context.gpus[index] = gpu


class _Arguments:
    """An ingot_launch_arguments with the tensors that it points to."""

    def __init__(self, program: Program, fixed: bool):
        roles = (program.inputs, program.params, program.outputs)
        tensors = [(lib.Tensor * max(len(specs), 1))() for specs in roles]
        self.inputs, self.params, self.outputs = ([*array][:len(specs)]
                                                  for array, specs in zip(tensors, roles))
        self.extents = []  # per input and output: None where its shape is as declared
        for slots, specs in ((self.inputs, program.inputs), (self.params, program.params),
                             (self.outputs, program.outputs)):
            for slot, spec in zip(slots, specs):
                extents = None
                if not fixed or any(isinstance(extent, str) for extent in spec.shape):
                    extents = (c_int64 * max(len(spec.shape), 1))()
                    slot.shape, slot.rank = extents, len(spec.shape)
                self.extents.append(extents)
        self.struct = lib.LaunchArguments(
            inputs=tensors[0], num_inputs=len(roles[0]), params=tensors[1],
            num_params=len(roles[1]), outputs=tensors[2], num_outputs=len(roles[2]))
        self.address = addressof(self.struct)
        self.param_set = None


class _ParamSet:
    """Params with the memory that was prepared from them."""

    def __init__(self, params: Sequence[torch.Tensor], prepared: torch.Tensor | None):
        self.params = tuple(params)
        self.pointers = tuple(param.data_ptr() for param in params)
        self.versions = tuple(_version(param) for param in params)
        self.prepared = prepared
        self.pointer = prepared.data_ptr() if prepared is not None else None
        self.streams: set[int] = set()
        self.is_captured = False

    def holds(self, params: Sequence[torch.Tensor]) -> bool:
        """Whether these are the tensors that were prepared, as they were then."""
        for param, known, pointer, version in zip(params, self.params, self.pointers,
                                                  self.versions):
            if (param is not known or param._version != version
                    or param.data_ptr() != pointer):
                return False
        return True


def _version(param: torch.Tensor) -> int:
    if param.is_inference():
        raise InvalidArgumentError(
            "a param must count the writes to it, which a tensor made under "
            "torch.inference_mode does not; make it outside, or clone it there")
    return param._version


class _Sizes:
    """What a launch of given sizes needs."""

    def __init__(self, program: Program, sizes: dict[str, int]):
        self.memory = program.memory(**sizes)
        self.shapes = [program.shape(Role.OUTPUT, i, **sizes) for i in range(len(program.outputs))]


class Launcher:
    """Calls a program with torch tensors. Threads may call one launcher at once.

    `fixed`: tensors without named extents are known to have the declared shapes. `dims`: the sizes
    that will be launched; what is not listed may have any."""

    def __init__(self, program: Program, device: torch.device, fixed: bool = False,
                 dims: Mapping[str, Size] | None = None):
        self.program, self.device, self._ranges = program, device, dict(dims or {})
        self.num_prepared = 0  # how often params were prepared
        self._fixed = fixed
        self._index = device.index if device.index is not None else torch.cuda.current_device()
        self._handle = program._handle
        self._launch = lib.library.ingot_program_launch
        self._pool: list[_Arguments] = []
        self._states: dict[int, torch.Tensor] = {}
        self._known = {name: size for name, size in self._ranges.items() if isinstance(size, int)}
        self._names, self._dims = _dims_of(program, self._known)
        self._sizes: dict[tuple[int, ...], _Sizes] = {}
        self._dtypes = [DTYPES[spec.dtype] for spec in program.outputs]
        self._params: _ParamSet | None = None
        self._lock = threading.Lock()  # of prepare alone

    def __call__(self, inputs: Sequence[torch.Tensor], params: Sequence[torch.Tensor] = (),
                 out: Sequence[torch.Tensor] | None = None,
                 stream: int | None = None) -> list[torch.Tensor]:
        """Enqueues the kernels on the current stream, or `stream`; prepares first where a param
        changed. Tensors must be dense and of the declared types."""
        index = self._index
        if torch._C._cuda_getDevice() != index or index not in _context.__dict__.get("gpus", ()):
            return self._on_device(inputs, params, out, stream)
        if stream is None:
            stream = torch._C._cuda_getCurrentRawStream(index)
        key = tuple([inputs[i].shape[axis] // factor for i, axis, factor in self._dims])
        sizes = self._sizes.get(key) or self._new_sizes(key, inputs)
        param_set = self._params
        if param_set is None or not param_set.holds(params):
            param_set = self.prepare(params)
        device = self.device
        if out is None:
            out = [torch.empty(shape, dtype=dtype, device=device)
                   for shape, dtype in zip(sizes.shapes, self._dtypes)]
        memory = sizes.memory
        try:
            arguments = self._pool.pop()
        except IndexError:
            arguments = _Arguments(self.program, self._fixed)
        if arguments.param_set is not param_set:
            self._set_params(arguments, param_set)
        for slot, tensor in zip(arguments.inputs, inputs):
            slot.data = tensor.data_ptr()
        for slot, tensor in zip(arguments.outputs, out):
            slot.data = tensor.data_ptr()
        if key or not self._fixed:
            self._set_extents(arguments, inputs, out)
        struct = arguments.struct
        struct.stream = stream
        if stream not in param_set.streams:
            self._new_stream(param_set, stream)
        if memory.workspace:
            workspace = torch.empty(memory.workspace, dtype=torch.uint8, device=device)
            struct.workspace = workspace.data_ptr()
        if memory.state:
            state = self._states.get(stream)
            if state is None or state.numel() < memory.state:
                state = self._new_state(stream, memory.state)
            struct.state = state.data_ptr()
        error = c_void_p()
        code = self._launch(self._handle, arguments.address, byref(error))
        self._pool.append(arguments)
        if code:
            lib.raise_error(code, error)
        return out

    def _on_device(self, *arguments):
        """The call with the GPU as the current one of this thread."""
        before = torch.cuda.current_device()
        use_device(self._index)
        try:
            return self(*arguments)
        finally:
            if before != self._index:
                torch.cuda.set_device(before)

    def _new_sizes(self, key: tuple[int, ...], inputs) -> _Sizes:
        for tensor, spec in zip(inputs, self.program.inputs):
            if tensor.dim() != len(spec.shape):
                raise InvalidArgumentError(f"input '{spec.name}': expected shape "
                                           f"{list(spec.shape)}, got {list(tensor.shape)}")
        sizes = _Sizes(self.program, {**self._known, **dict(zip(self._names, key))})
        self._sizes[key] = sizes
        return sizes

    def _new_stream(self, param_set: _ParamSet, stream: int) -> None:
        """Keeps the prepared memory from being reused while another stream reads it."""
        if torch.cuda.is_current_stream_capturing():
            param_set.is_captured = True
            return
        if param_set.prepared is not None:
            param_set.prepared.record_stream(torch.cuda.ExternalStream(stream, self.device)
                                             if stream else torch.cuda.default_stream(self.device))
        param_set.streams.add(stream)

    def _new_state(self, stream: int, size: int) -> torch.Tensor:
        """Zeros: of the stream, whose launches run in turn, or of one captured launch."""
        state = torch.zeros(size, dtype=torch.uint8, device=self.device)
        if not torch.cuda.is_current_stream_capturing():
            if stream != torch._C._cuda_getCurrentRawStream(self._index):
                torch.cuda.current_stream(self.device).synchronize()
            self._states[stream] = state
        return state

    def _set_params(self, arguments: _Arguments, param_set: _ParamSet) -> None:
        first = len(arguments.inputs)
        for i, (slot, pointer, param) in enumerate(zip(arguments.params, param_set.pointers,
                                                       param_set.params)):
            slot.data = pointer
            if arguments.extents[first + i] is not None:
                arguments.extents[first + i][:param.dim()] = param.shape
        arguments.struct.prepared = param_set.pointer
        arguments.param_set = param_set

    def _set_extents(self, arguments: _Arguments, inputs, out) -> None:
        for slot, tensor, extents in zip(arguments.inputs, inputs, arguments.extents):
            if extents is not None:
                _set_extents(slot, extents, tensor)
        outputs = arguments.extents[len(arguments.extents) - len(out):]
        for slot, tensor, extents in zip(arguments.outputs, out, outputs):
            if extents is not None:
                _set_extents(slot, extents, tensor)

    def prepare(self, params: Sequence[torch.Tensor]) -> _ParamSet:
        """Compiles what the sizes need, and computes prepared memory; waits for it."""
        if torch.cuda.is_current_stream_capturing():
            raise NotPreparedError(
                "params must be prepared before a CUDA graph is captured, or were written to "
                "since; call once outside of the capture")
        with self._lock:
            before = self._params
            if before is not None and before.holds(params):
                return before
            # What depends on params alone needs the same memory at every size.
            needs = self.program.memory(**{name: self._ranges.get(name, (0, 1))
                                           for name in self.program.dims})
            keeps_place = before is not None and before.is_captured
            if keeps_place:
                torch.cuda.synchronize(self.device)
                prepared = before.prepared
            else:
                prepared = self._bytes(needs.prepared)
            result = _ParamSet(params, prepared)
            result.is_captured = keeps_place
            stream = torch.cuda.current_stream(self.device)
            self._run_prepare(result, self._bytes(needs.workspace), stream)
            result.streams.add(stream.cuda_stream)
            self._params = result
            self.num_prepared += 1
            return result

    def _bytes(self, size: int) -> torch.Tensor | None:
        return torch.empty(size, dtype=torch.uint8, device=self.device) if size else None

    def _run_prepare(self, param_set: _ParamSet, workspace, stream) -> None:
        params = param_set.params
        slots = (lib.Tensor * max(len(params), 1))()
        for slot, param in zip(slots, params):
            extents = (c_int64 * max(param.dim(), 1))(*param.shape)
            slot.data, slot.shape, slot.rank = param.data_ptr(), extents, param.dim()
        arguments = lib.PrepareArguments(
            params=slots, num_params=len(params), prepared=param_set.pointer,
            workspace=workspace.data_ptr() if workspace is not None else None,
            stream=stream.cuda_stream, dims=dims_array(self._ranges), num_dims=len(self._ranges))
        lib.call("ingot_program_prepare", self._handle, byref(arguments))
        stream.synchronize()  # launches on other streams read what this one wrote


def _set_extents(slot, extents, tensor) -> None:
    if tensor.dim() == len(extents) or tensor.dim() == 0:
        extents[:tensor.dim()] = tensor.shape
        slot.shape = extents
    else:
        slot.shape = (c_int64 * max(tensor.dim(), 1))(*tensor.shape)
    slot.rank = tensor.dim()


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
