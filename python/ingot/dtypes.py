# SPDX-License-Identifier: Apache-2.0
"""The element types: their names here, and those that numpy and PyTorch have for them."""
from __future__ import annotations

from typing import Any

from ingot._arguments import short_repr
from ingot.errors import InvalidArgumentError

#: numpy's and PyTorch's name of each element type. The order is that of ingot_type.
LONG_NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32",
              "i64": "int64", "bool": "bool"}

#: The element types, in the order of ingot_type.
DTYPES = tuple(LONG_NAMES)

#: numpy's type of each element type. numpy has no bf16: its arrays hold the bits.
NUMPY_NAMES = {**LONG_NAMES, "bf16": "uint16"}

_SHORT_NAMES = {long: short for short, long in LONG_NAMES.items()} | {
    short: short for short in DTYPES}
_LONGEST_TEXT = 20


def short_name(dtype: Any) -> str | None:
    """The name of an element type, such as "f32", of that name, of "float32", of numpy.float32 or
    of torch.float32. None of anything else."""
    if isinstance(dtype, type):
        name = dtype.__name__
    elif isinstance(dtype, str) and len(dtype) <= _LONGEST_TEXT:
        name = dtype
    elif not isinstance(dtype, str) and type(dtype).__name__.lower().endswith("dtype"):
        name = str(dtype)
    else:
        return None
    return _SHORT_NAMES.get(name.split(".")[-1].rstrip("_"))  # numpy.bool_


def element_type(what: str, dtype: Any) -> str:
    """The name of an element type, as `short_name` reads it. Anything else is an
    InvalidArgumentError that begins with `what`."""
    short = short_name(dtype)
    if short is None:
        raise InvalidArgumentError(f"{what}: expected an element type of {', '.join(DTYPES)}, or "
                                   f"numpy's or PyTorch's of the same, got {short_repr(dtype)}")
    return short


def type_code(what: str, dtype: Any) -> int:
    """The ingot_type of an element type; refuses as `element_type` does."""
    return DTYPES.index(element_type(what, dtype))
