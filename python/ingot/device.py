# SPDX-License-Identifier: Apache-2.0
"""A GPU as a tensor library sees it. The launcher asks a Device for memory, streams and checks;
torch_device.py and dlpack.py have one for each kind of tensors."""
from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ingot.errors import InvalidArgumentError
from ingot.specs import TensorSpec


class Buffer(Protocol):
    """Device memory, which lives as long as this object."""

    def data_ptr(self) -> int: ...

    def numel(self) -> int: ...


class Device(abc.ABC):
    """One GPU. `index` is its number, `dtypes` the library's element types by their names here,
    `byte` its type of a byte.

    `tracks_streams`: the library knows each thread's current GPU and stream, captures into CUDA
    graphs, and which stream still reads memory that is freed. Without it callers name the stream,
    and the launcher frees or moves no memory that a launch may still read."""

    tracks_streams: ClassVar[bool]
    dtypes: ClassVar[Mapping[str, Any]]
    byte: ClassVar[Any]
    index: int

    @abc.abstractmethod
    def scope(self) -> dict[str, Any]:
        """The functions that a generated call uses: see call_source.py."""

    @abc.abstractmethod
    def use(self) -> None:
        """Makes the GPU the current one of this thread."""

    @abc.abstractmethod
    def call_on(self, call: Any, tensors: Sequence[Any], out: Any) -> Any:
        """call(tensors, out) with this GPU as the current one, and the previous one after it."""

    @abc.abstractmethod
    def current_stream(self) -> int:
        """The cudaStream_t that prepare runs on."""

    @abc.abstractmethod
    def is_capturing(self) -> bool:
        """Whether the current stream is captured into a CUDA graph."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Waits for all launches on the GPU."""

    @abc.abstractmethod
    def synchronize_stream(self) -> None:
        """Waits for the work on `current_stream`."""

    @abc.abstractmethod
    def allocate(self, size: int) -> Buffer:
        """Memory of `size` bytes, at least 1, with any contents."""

    @abc.abstractmethod
    def zeros(self, size: int) -> Buffer:
        """Memory of `size` zero bytes, at least 1."""

    @abc.abstractmethod
    def record_stream(self, buffer: Buffer) -> None:
        """Keeps memory that is freed from being reused before the current stream has read it."""

    @abc.abstractmethod
    def version(self, param: Any) -> int:
        """The number of writes to a param so far. InvalidArgumentError where nobody counts them."""

    # --- checks ---

    @abc.abstractmethod
    def is_tensor(self, tensor: Any) -> bool:
        """Whether it is a tensor of this library."""

    @abc.abstractmethod
    def holds(self, tensor: Any) -> bool:
        """Whether a tensor lies on this GPU."""

    @abc.abstractmethod
    def conversion(self, dtype: Any) -> str:
        """The words of a message that say how to convert a tensor to an element type."""

    def check(self, role: str, specs: Sequence[TensorSpec], tensors: Sequence[Any]) -> None:
        """Refuses all but dense tensors of the declared types and ranks on this GPU."""
        if len(tensors) != len(specs):
            raise InvalidArgumentError(f"expected {len(specs)} {role}s "
                                       f"({', '.join(spec.name for spec in specs) or 'none'}), got "
                                       f"{len(tensors)}")
        for spec, tensor in zip(specs, tensors):
            if not (self.is_tensor(tensor) and tensor.dtype == self.dtypes[spec.dtype]
                    and self.holds(tensor) and tensor.dim() == len(spec.shape)
                    and tensor.is_contiguous()):
                raise InvalidArgumentError(f"{role} '{spec.name}': {self._refusal(spec, tensor)}")

    def _refusal(self, spec: TensorSpec, tensor: Any) -> str:
        """Why a tensor does not fit a declaration."""
        if not self.is_tensor(tensor):
            return f"expected a torch.Tensor beside others of them, got {type(tensor).__name__}"
        dtype = self.dtypes[spec.dtype]
        if tensor.dtype != dtype:
            also = f" ({dtype})" if dtype != spec.dtype else ""
            return (f"expected elements of {spec.dtype}{also}, got {tensor.dtype}; "
                    f"{self.conversion(dtype)}")
        if not self.holds(tensor):
            return f"expected a tensor on {self}, got one on {tensor.device}; move it there"
        if tensor.dim() != len(spec.shape):
            return f"expected shape {list(spec.shape)}, got {list(tensor.shape)}"
        return (f"expected dense row-major elements, got shape {list(tensor.shape)} with strides "
                f"{list(tensor.stride())}; make it contiguous()")
