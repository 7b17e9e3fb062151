# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that the library allocates, for tensor libraries whose allocators are unknown."""
from __future__ import annotations

from ingot import _library as lib
from ingot.errors import UnavailableError


class GpuMemory(lib.Handle):
    """`size` zero bytes on a GPU; freed with the object. A GPU that cannot be used is an
    UnavailableError."""

    _free = "ingot_gpu_free"

    def __init__(self, ordinal: int, size: int = 0) -> None:
        super().__init__(lib.make("ingot_gpu_open", ordinal))
        self._size = size
        self._pointer = (lib.make("ingot_gpu_allocate", self._handle, size).value or 0
                         if size else 0)

    def data_ptr(self) -> int:
        """The address on the device; 0 of no bytes."""
        return self._pointer

    def numel(self) -> int:
        """The number of bytes."""
        return self._size

    def synchronize(self) -> None:
        """Waits for the default stream, and for all streams that it waits for."""
        lib.call("ingot_gpu_synchronize", self._handle)


def has_gpu() -> bool:
    """Whether the machine has a GPU that can be used."""
    try:
        GpuMemory(0)
    except UnavailableError:
        return False
    return True


def way_to_the_gpu(is_there: bool) -> str:
    """The words of a message about a tensor that is not in a GPU's memory."""
    if is_there:
        return "move it to the GPU"
    return "this machine has no GPU that can be used: ingot.reference computes a graph on the CPU"
