# SPDX-License-Identifier: Apache-2.0
"""Launches of programs on whatever speaks DLPack.

PyTorch's tensors take the path of ingot.torch.launcher. Others are asked for DLPack capsules; their
memory comes from the library, and outputs from their own array namespace.
"""
from __future__ import annotations

import ctypes
import sys
import threading
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ingot import _library as lib
from ingot.context import use_context
from ingot.errors import InvalidArgumentError, UnavailableError
from ingot.specs import (LONG_NAMES, Role, Size, TensorSpec, check_dims, dims_array,
                         type_text)

if TYPE_CHECKING:
    from ingot.program import Program

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's device types
_OTHER_DEVICES = {1: "CPU memory", 3: "pinned CPU memory", 4: "OpenCL memory", 7: "Vulkan memory",
                  8: "Metal memory", 10: "ROCm memory"}
_READ_ONLY = 1                # a flag of DLManagedTensorVersioned

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Versioned(ctypes.Structure):
    """The head of DLManagedTensorVersioned; the DLTensor follows."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", c_void_p),
                ("deleter", c_void_p), ("flags", ctypes.c_uint64)]


class _DlTensor(ctypes.Structure):
    """DLPack's DLTensor."""
    _fields_ = [("data", c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _View:
    """A tensor seen through DLPack. The capsule is not consumed: it is freed with this object."""

    def __init__(self, role: str, spec: TensorSpec, tensor: Any, stream: int, write: bool):
        if isinstance(tensor, type) or not all(
                hasattr(tensor, name) for name in ("__dlpack__", "__dlpack_device__")):
            raise InvalidArgumentError(
                f"{role} '{spec.name}': expected a tensor that speaks DLPack (__dlpack__), got "
                f"{type(tensor).__name__}")
        device_type = tensor.__dlpack_device__()[0]
        if device_type not in (_CUDA, _CUDA_MANAGED):
            number = int(device_type)
            place = _OTHER_DEVICES.get(
                number, f"memory of a device that Ingot does not know (type {number} of DLPack)")
            raise InvalidArgumentError(f"{role} '{spec.name}': expected a tensor in CUDA memory, "
                                       f"got one in {place}; {way_to_the_gpu(_has_gpu())}")
        try:
            self.capsule = tensor.__dlpack__(stream=stream or 1, max_version=(1, 1))
        except TypeError:  # what is older than version 1 takes no max_version
            self.capsule = tensor.__dlpack__(stream=stream or 1)
        try:
            name = _capsule_name(self.capsule)
        except ValueError:
            raise InvalidArgumentError(f"{role} '{spec.name}': expected __dlpack__ to give a "
                                       f"capsule, got {type(self.capsule).__name__}") from None
        pointer = _capsule_pointer(self.capsule, name)
        if name == b"dltensor_versioned":
            head = _Versioned.from_address(pointer)
            if head.major != 1:
                raise InvalidArgumentError(f"{role} '{spec.name}': expected DLPack 1, got version "
                                           f"{head.major}.{head.minor}")
            if write and head.flags & _READ_ONLY:
                raise InvalidArgumentError(
                    f"{role} '{spec.name}': expected a tensor that may be written to, got one "
                    "that is read-only")
            pointer += ctypes.sizeof(_Versioned)
        self.pointer = pointer
        self.tensor = _DlTensor.from_address(pointer)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[:self.tensor.ndim])


def _views(role: str, specs: Sequence[TensorSpec], tensors: Sequence[Any], stream: int,
           write: bool = False) -> list[_View]:
    if len(tensors) != len(specs):
        raise InvalidArgumentError(f"expected {len(specs)} {role}s "
                                   f"({', '.join(spec.name for spec in specs) or 'none'}), got "
                                   f"{len(tensors)}")
    return [_View(role, spec, tensor, stream, write) for spec, tensor in zip(specs, tensors)]


def _pointers(views: Sequence[_View]):
    return (c_void_p * max(len(views), 1))(*(view.pointer for view in views))


class _GpuMemory(lib.Handle):
    """Memory of one GPU; freed with the object."""

    _free = "ingot_gpu_free"

    def __init__(self, ordinal: int):
        super().__init__(lib.make("ingot_gpu_open", ordinal))

    def allocate(self, size: int) -> int | None:
        """Zeros."""
        return lib.make("ingot_gpu_allocate", self._handle, size).value if size else None

    def synchronize(self) -> None:
        """Waits for the default stream, and all that wait for it."""
        lib.call("ingot_gpu_synchronize", self._handle)


def _has_gpu() -> bool:
    try:
        _GpuMemory(0)
    except UnavailableError:
        return False
    return True


def way_to_the_gpu(has_gpu: bool) -> str:
    """What to do with a tensor that is in no GPU's memory."""
    if has_gpu:
        return "move it to the GPU"
    return "this machine has no GPU that can be used: ingot.reference computes a graph on the CPU"


def _is_torch(tensors: Sequence[Any]) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and any(isinstance(tensor, torch.Tensor) for tensor in tensors)


class Bound:
    """A program with its params; made by Program.bind. Call it with the inputs, in the order of
    their declarations."""

    def __init__(self, program: Program, params: Sequence[Any],
                 dims: Mapping[str, Size] | None = None):
        dims = check_dims(dims)
        unknown = [name for name in dims if name not in program.dims]
        if unknown:
            raise InvalidArgumentError(f"the graph has no named dimension '{unknown[0]}'; expected "
                                       f"{', '.join(program.dims) or 'none'}")
        self.program, self.params, self.dims = program, list(params), dict(dims)
        self._ways: dict = {}
        if params:
            self.prepare()

    def prepare(self, stream: int | None = None) -> None:
        """Prepares on the params' GPU. Again after writing to a param, when no launch that reads
        it is under way; torch's tensors tell it themselves."""
        self._way(self.params).prepare(lib.stream(stream))

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None) -> Any:
        """Enqueues the kernels on `stream` (a cudaStream_t; None: torch's current stream, else the
        default stream) and gives the output, or a tuple of several. `out`: tensors to write to;
        needed where the inputs' library has no namespace to allocate in."""
        outputs = None
        if out is not None:
            outputs = list(out) if isinstance(out, (list, tuple)) else [out]
            if len(outputs) != len(self.program.outputs):
                raise InvalidArgumentError(f"out: expected {len(self.program.outputs)} tensors, "
                                           f"got {len(outputs)}")
        way = self._way([*inputs, *self.params, *(outputs or ())])
        results = way(inputs, outputs, lib.stream(stream))
        return results[0] if len(results) == 1 else tuple(results)

    def _way(self, tensors: Sequence[Any]):
        """How tensors of this library, on this GPU, are launched."""
        if _is_torch(tensors):
            from ingot.torch.bound import TorchWay
            return TorchWay.of(self, tensors, self._ways)
        if "dlpack" not in self._ways:
            self._ways["dlpack"] = _DlpackWay(self)
        return self._ways["dlpack"]


class _DlpackWay:
    """Launches through DLPack, on the GPU of the first tensor."""

    def __init__(self, bound: Bound):
        self.program, self.params, self.dims = bound.program, bound.params, bound.dims
        self._memory: _GpuMemory | None = None
        self._device = 0
        self._prepared: int | None = None
        self._workspace: int | None = None
        self._of_streams: dict = {}  # stream -> [workspace, its size, state, its size]
        self._lock = threading.Lock()  # of allocating

    def prepare(self, stream: int | None) -> None:
        """On the default stream, and waits: launches may run on any."""
        views = _views("param", self.program.params, self.params, 0)
        self._open(views)
        self._prepare(views)

    def _open(self, views: Sequence[_View]) -> None:
        with self._lock:
            if self._memory is None:
                self._device = views[0].tensor.device_id if views else 0
                self._memory = _GpuMemory(self._device)
        use_context(self._device)

    def _prepare(self, views: Sequence[_View]) -> None:
        program = self.program
        with self._lock:
            if self._prepared is None:
                needs = program.memory(**{name: self.dims.get(name, (0, 1))
                                          for name in program.dims})
                self._prepared = self._memory.allocate(needs.prepared)
                self._workspace = self._memory.allocate(needs.workspace)
            arguments = lib.DlpackArguments(
                params=_pointers(views), num_params=len(views), prepared=self._prepared,
                workspace=self._workspace)
            lib.call("ingot_program_prepare_dlpack", program._handle, byref(arguments),
                     dims_array(self.dims), len(self.dims))
            self._memory.synchronize()
            self._is_prepared = True

    _is_prepared = False

    def __call__(self, inputs, outputs, stream):
        program = self.program
        views = [_views("input", program.inputs, inputs, stream or 0),
                 _views("param", program.params, self.params, stream or 0)]
        self._open(views[0] or views[1])
        if not self._is_prepared:
            self._prepare(views[1])
        sizes = self._sizes(views[0])
        if outputs is None:
            outputs = [_allocate(inputs, spec, program.shape(Role.OUTPUT, i, **sizes))
                       for i, spec in enumerate(program.outputs)]
        views.append(_views("output", program.outputs, outputs, stream or 0, write=True))
        workspace, state = self._memory_of(stream, sizes)
        arguments = lib.DlpackArguments(
            inputs=_pointers(views[0]), num_inputs=len(views[0]), params=_pointers(views[1]),
            num_params=len(views[1]), outputs=_pointers(views[2]), num_outputs=len(views[2]),
            prepared=self._prepared, workspace=workspace, state=state, stream=stream)
        lib.call("ingot_program_launch_dlpack", program._handle, byref(arguments))
        return outputs

    def _sizes(self, inputs: Sequence[_View]) -> dict[str, int]:
        """What the inputs' shapes say of the named dimensions."""
        sizes = {name: size for name, size in self.dims.items() if isinstance(size, int)}
        for view, spec in zip(inputs, self.program.inputs):
            if view.tensor.ndim != len(spec.shape):
                raise InvalidArgumentError(f"input '{spec.name}': expected shape "
                                           f"{list(spec.shape)}, got {list(view.shape)}")
            for extent, declared in zip(view.shape, spec.shape):
                if isinstance(declared, str) and declared.isidentifier():
                    sizes.setdefault(declared, extent)
        return sizes

    def _memory_of(self, stream, sizes):
        """Workspace and state of one stream, whose launches run in turn. They grow by half at
        least; what was outgrown is freed at the end, as launches may still use it."""
        needs = self.program.memory(**sizes)
        with self._lock:
            held = self._of_streams.setdefault(stream, [None, 0, None, 0])
            for place, size in ((0, needs.workspace), (2, needs.state)):
                if held[place + 1] < size:
                    size = max(size, held[place + 1] * 3 // 2)
                    held[place:place + 2] = self._memory.allocate(size), size
            return held[0], held[2]


def _allocate(inputs: Sequence[Any], spec: TensorSpec, shape: tuple[int, ...]) -> Any:
    """An output beside the first input that has a namespace."""
    for tensor in inputs:
        namespace = getattr(tensor, "__array_namespace__", None)
        dtype = getattr(namespace(), LONG_NAMES[spec.dtype], None) if namespace else None
        if dtype is not None:
            return namespace().empty(shape, dtype=dtype, device=tensor.device)
    kinds = ", ".join(sorted({type(tensor).__name__ for tensor in inputs})) or "no inputs"
    raise InvalidArgumentError(
        f"output '{spec.name}': cannot allocate {type_text(spec.dtype, shape)} beside {kinds}, "
        "which has no array namespace with that type; give out=")
