# SPDX-License-Identifier: Apache-2.0
"""Methods of PyTorch's tensors that the text language has no functions for: sizes, and changes of
the element type. ingot.Value inherits them."""
from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ingot._arguments import integer, short_repr
from ingot.dtypes import element_type, short_name
from ingot.errors import InvalidArgumentError
from ingot.specs import Extent, type_text


class TensorMethods:
    """Methods that Value inherits."""

    __slots__ = ()

    if TYPE_CHECKING:  # of Value
        @property
        def dtype(self) -> str: ...

        @property
        def shape(self) -> tuple[Extent, ...]: ...

        def cast(self, dtype: Any) -> Any: ...

    def size(self, dim: Any = None) -> Extent | tuple[Extent, ...]:
        """The extents, or that of one dim: a number, a name or a formula such as "2*m"."""
        shape = self.shape
        if dim is None:
            return shape
        index = integer("size: dim", dim)
        if not -len(shape) <= index < len(shape):
            raise InvalidArgumentError(
                f"size: expected a dim of {type_text(self.dtype, shape)}, got {index}")
        return shape[index]

    def dim(self) -> builtins.int:
        """The number of dims, as `ndim`."""
        return len(self.shape)

    def to(self, dtype: Any) -> Any:
        """The elements in another type: "f16", torch.float16, numpy.float16, or that of a value."""
        if isinstance(dtype, type(self)):
            dtype = dtype.dtype
        if short_name(dtype) is None and type(dtype).__name__ in ("str", "device"):
            raise InvalidArgumentError(f"to: expected an element type, got {short_repr(dtype)}; a "
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
