# SPDX-License-Identifier: Apache-2.0
"""Methods of PyTorch's tensors that are no functions of the text language, for ingot.Value: sizes
and changes of the element type."""
from __future__ import annotations

from typing import Any

from ingot import _library as lib
from ingot.errors import InvalidArgumentError
from ingot.specs import Extent, element_type, short_name


class TensorMethods:
    """What Value inherits. It has `shape`, `dtype` and `cast`."""

    __slots__ = ()

    def size(self, dim: Any = None) -> Extent | tuple[Extent, ...]:
        """The extents, or that of one dim: a number, a name or a formula such as "2*m"."""
        shape = self.shape
        if dim is None:
            return shape
        index = lib.integer("size: dim", dim)
        if not -len(shape) <= index < len(shape):
            raise InvalidArgumentError(f"size: expected a dim of {self._type_text()}, got {index}")
        return shape[index]

    def dim(self) -> Any:
        """How many dims it has, as `ndim`."""
        return len(self.shape)

    def to(self, dtype: Any) -> Any:
        """The elements in another type: "f16", torch.float16, numpy.float16, or that of a value."""
        if isinstance(dtype, type(self)):
            dtype = dtype.dtype
        if short_name(dtype) is None and type(dtype).__name__ in ("str", "device"):
            raise InvalidArgumentError(f"to: expected an element type, got {lib.shown(dtype)}; a "
                                       "graph has no devices: it runs where it is launched")
        return self.cast(element_type("to: dtype", dtype))

    def type(self, dtype: Any) -> Any:
        """As `to`."""
        return self.to(dtype)

    def float(self) -> Any:
        """The elements as f32."""
        return self.cast("f32")

    def half(self) -> Any:
        """The elements as f16."""
        return self.cast("f16")

    def bfloat16(self) -> Any:
        """The elements as bf16."""
        return self.cast("bf16")

    def int(self) -> Any:
        """The elements as i32."""
        return self.cast("i32")

    def long(self) -> Any:
        """The elements as i64."""
        return self.cast("i64")

    def bool(self) -> Any:
        """Whether the elements are nonzero."""
        return self.cast("bool")
