# SPDX-License-Identifier: Apache-2.0
"""Launches with tensors of any library that speaks DLPack. Memory for launches comes from Ingot's
library, and outputs from the tensors' own array namespace."""
from __future__ import annotations

import ctypes
import enum
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from typing import Any, ClassVar

from ingot.bound_launcher import BoundLauncher
from ingot.compiled_graph import CompiledGraph
from ingot.context import use_context
from ingot.device import Buffer, Device
from ingot.dtypes import DTYPES, LONG_NAMES
from ingot.errors import InvalidArgumentError
from ingot.gpu_memory import GpuMemory, has_gpu, way_to_the_gpu
from ingot.launch_sizes import dense_strides
from ingot.specs import Size, TensorSpec, type_text

_MAJOR_VERSION = 1
_MAX_VERSION = (1, 1)
_DEFAULT_STREAM = 1  # DLPack's number of CUDA's default stream
_READ_ONLY = 1       # a flag of DLManagedTensorVersioned

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _DeviceType(enum.IntEnum):
    """DLDeviceType, as far as it is CUDA's."""
    CUDA = 2
    CUDA_MANAGED = 13


_OTHER_DEVICES = {1: "CPU memory", 3: "pinned CPU memory", 4: "OpenCL memory", 7: "Vulkan memory",
                  8: "Metal memory", 10: "ROCm memory"}

# DLDataTypeCode, and the element types of (code, bits).
_CODES = ("int", "uint", "float", "opaque", "bfloat", "complex", "bool")
_DTYPES = dict(zip(((2, 32), (2, 16), (4, 16), (0, 32), (0, 64), (6, 8)), DTYPES))


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


class DlpackTensor:
    """A tensor seen through DLPack, with those members of PyTorch's tensors that the launcher uses.
    The capsule is not consumed: it is freed with this object. A tensor that is not in CUDA memory
    is an InvalidArgumentError."""

    _version = 0  # nobody counts writes

    def __init__(self, what: str, tensor: Any, stream: int, write: bool = False) -> None:
        self._what, self._tensor, self._write = what, tensor, write
        if isinstance(tensor, type) or not all(
                hasattr(tensor, name) for name in ("__dlpack__", "__dlpack_device__")):
            raise InvalidArgumentError(
                f"{what}: expected a tensor that speaks DLPack (__dlpack__), got "
                f"{type(tensor).__name__}")
        device_type = int(tensor.__dlpack_device__()[0])
        if device_type not in tuple(_DeviceType):
            place = _OTHER_DEVICES.get(device_type, "memory of a device that Ingot does not know "
                                       f"(type {device_type} of DLPack)")
            raise InvalidArgumentError(f"{what}: expected a tensor in CUDA memory, got one in "
                                       f"{place}; {way_to_the_gpu(has_gpu())}")
        self.refresh(stream)

    def refresh(self, stream: int) -> None:
        """Reads the tensor again. Its library makes the stream wait for the work that it has
        enqueued on the tensor."""
        what, tensor = self._what, self._tensor
        try:
            capsule = tensor.__dlpack__(stream=stream or _DEFAULT_STREAM, max_version=_MAX_VERSION)
        except TypeError:  # before version 1 there is no max_version
            capsule = tensor.__dlpack__(stream=stream or _DEFAULT_STREAM)
        try:
            name = _capsule_name(capsule)
        except ValueError:
            raise InvalidArgumentError(f"{what}: expected __dlpack__ to give a capsule, got "
                                       f"{type(capsule).__name__}") from None
        pointer = _capsule_pointer(capsule, name)
        if name == b"dltensor_versioned":
            head = _Versioned.from_address(pointer)
            if head.major != _MAJOR_VERSION:
                raise InvalidArgumentError(f"{what}: expected DLPack {_MAJOR_VERSION}, got version "
                                           f"{head.major}.{head.minor}")
            if self._write and head.flags & _READ_ONLY:
                raise InvalidArgumentError(f"{what}: expected a tensor that may be written to, got "
                                           "one that is read-only")
            pointer += ctypes.sizeof(_Versioned)
        self._capsule = capsule
        self._read(_DlTensor.from_address(pointer))

    def _read(self, tensor: _DlTensor) -> None:
        self._pointer: int = (tensor.data or 0) + tensor.byte_offset
        self.device_type, self.index = tensor.device_type, tensor.device_id
        self.shape: tuple[int, ...] = tuple(tensor.shape[:tensor.ndim]) if tensor.ndim > 0 else ()
        self._strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
        self.dtype = _dtype_name(tensor)

    @property
    def device(self) -> str:
        """`cuda:0`"""
        return f"cuda:{self.index}"

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._pointer

    def dim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    def stride(self) -> tuple[int, ...]:
        """The strides, in elements."""
        return self._strides or dense_strides(self.shape)

    def is_contiguous(self) -> bool:
        """Whether the elements lie one behind the other, those of the last dim first. The stride of
        a dim of extent 1 means nothing."""
        if self._strides is None or 0 in self.shape:
            return True
        return all(extent == 1 or stride == dense for extent, stride, dense in
                   zip(self.shape, self._strides, dense_strides(self.shape)))


def _dtype_name(tensor: _DlTensor) -> str:
    """The name of an element type. One that Ingot does not have is such as `float64`."""
    name = _DTYPES.get((tensor.code, tensor.bits))
    if name is None:
        name = (f"{_CODES[tensor.code]}{tensor.bits}" if tensor.code < len(_CODES) else
                f"a type that Ingot does not know (code {tensor.code} of DLPack, {tensor.bits} "
                "bits)")
    return name if tensor.lanes == 1 else f"{name} with {tensor.lanes} lanes"


class DlpackDevice(Device):
    """One GPU, whose streams the callers name."""

    tracks_streams = False
    dtypes: ClassVar[dict[str, str]] = {name: name for name in DTYPES}
    byte = None

    def __init__(self, index: int) -> None:
        self.index = index
        self._gpu = GpuMemory(index)

    def __str__(self) -> str:
        return f"cuda:{self.index}"

    def scope(self) -> dict[str, Any]:
        return {}

    def use(self) -> None:
        use_context(self.index)

    def call_on(self, call: Any, tensors: Sequence[Any], out: Any) -> Any:
        raise AssertionError("the caller makes the GPU current before")

    def current_stream(self) -> int:
        return 0  # the default stream

    def is_capturing(self) -> bool:
        return False  # as far as this can be known

    def synchronize(self) -> None:
        self._gpu.synchronize()

    def synchronize_stream(self) -> None:
        self._gpu.synchronize()

    def allocate(self, size: int) -> Buffer:
        return GpuMemory(self.index, size)

    def zeros(self, size: int) -> Buffer:
        return GpuMemory(self.index, size)

    def record_stream(self, buffer: Buffer) -> None:
        """Freeing the library's memory waits for the GPU."""

    def version(self, param: Any) -> int:
        return DlpackTensor._version

    def is_tensor(self, tensor: Any) -> bool:
        return isinstance(tensor, DlpackTensor)

    def holds(self, tensor: DlpackTensor) -> bool:
        return tensor.device_type == _DeviceType.CUDA_MANAGED or tensor.index == self.index

    def conversion(self, dtype: Any) -> str:
        return "convert it"


def views(role: str, specs: Sequence[TensorSpec], tensors: Sequence[Any], stream: int,
          write: bool = False) -> list[DlpackTensor]:
    """The tensors of a role, seen through DLPack. `write`: read-only ones are refused."""
    if len(tensors) != len(specs):
        raise InvalidArgumentError(f"expected {len(specs)} {role}s "
                                   f"({', '.join(spec.name for spec in specs) or 'none'}), got "
                                   f"{len(tensors)}")
    return [DlpackTensor(f"{role} '{spec.name}'", tensor, stream, write)
            for spec, tensor in zip(specs, tensors)]


class DlpackBoundLauncher(BoundLauncher):
    """A bound program that is launched with tensors that speak DLPack."""

    def __init__(self, program: CompiledGraph, params: Sequence[DlpackTensor],
                 dims: Mapping[str, Size], index: int) -> None:
        super().__init__(program, params, dims, DlpackDevice(index))

    def prepare(self, stream: int | None) -> None:
        """On the default stream, whatever stream is given: launches may run on any."""
        self._refresh(0)
        self.device.use()
        self._launcher.params.prepare(self.params, again=True)

    def _refresh(self, stream: int) -> None:
        for param in self.params:
            param.refresh(stream)

    def launch(self, inputs: Sequence[Any], outputs: Sequence[Any] | None,
               stream: int | None) -> Sequence[Any]:
        """Without a stream: on the default stream."""
        stream, program, device = stream or 0, self.program, self.device
        given = views("input", program.inputs, inputs, stream)
        device.check("input", program.inputs, given)
        self._refresh(stream)
        device.use()
        if outputs is None:
            sizes = self._launcher.sizes_of(given)
            outputs = [_allocate(inputs, spec, shape)
                       for spec, shape in zip(program.outputs, sizes.outputs)]
        written = views("output", program.outputs, outputs, stream, write=True)
        device.check("output", program.outputs, written)
        self._call((*given, *self.params), written, stream)
        return outputs


def _allocate(inputs: Sequence[Any], spec: TensorSpec, shape: tuple[int, ...]) -> Any:
    """An output, from the namespace of the first input that has one."""
    for tensor in inputs:
        namespace = getattr(tensor, "__array_namespace__", None)
        dtype = getattr(namespace(), LONG_NAMES[spec.dtype], None) if namespace else None
        if namespace is not None and dtype is not None:
            return namespace().empty(shape, dtype=dtype, device=tensor.device)
    kinds = ", ".join(sorted({type(tensor).__name__ for tensor in inputs})) or "no inputs"
    raise InvalidArgumentError(
        f"output '{spec.name}': cannot allocate {type_text(spec.dtype, shape)} beside {kinds}, "
        "which has no array namespace with that type; give out=")


def bound_launcher(program: CompiledGraph, inputs: Sequence[Any] | None, params: Sequence[Any],
                   dims: Mapping[str, Size]) -> DlpackBoundLauncher:
    """The launcher on the GPU of the first param; without params, on that of the first input.
    `inputs`: None where there is no call yet."""
    seen = views("param", program.params, params, 0)
    first = seen if inputs is None or seen else views("input", program.inputs, inputs, 0)
    return DlpackBoundLauncher(program, seen, dims, first[0].index if first else 0)
