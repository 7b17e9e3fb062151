# SPDX-License-Identifier: Apache-2.0
"""Declarations of graphs and programs: tensors, their roles, and sizes of named dimensions."""
from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from ctypes import Array, byref, c_size_t, c_void_p
from typing import Any, NamedTuple, Union

from ingot import _library as lib
from ingot._arguments import integer, short_repr, text, type_and_repr
from ingot._structs import Dim, TensorInfo, shape_of
from ingot.dtypes import DTYPES
from ingot.errors import InvalidArgumentError

#: A number, a name, or a formula such as "2*m + 1".
Extent = Union[int, str]

#: A size of a named dimension, or its least and most.
Size = Union[int, tuple[int, int]]


class Role(enum.IntEnum):
    """The role of a tensor in a graph or a program."""
    INPUT = 0
    PARAM = 1
    OUTPUT = 2


class TensorSpec(NamedTuple):
    """A tensor as the graph declares it; an extent is a number, a name or a product."""
    name: str
    dtype: str
    shape: tuple[Extent, ...]


def declared_tensors(kind: str, handle: c_void_p, role: Role) -> tuple[TensorSpec, ...]:
    """The tensors that a graph or a program declares; `kind` is "graph" or "program"."""
    count = c_size_t()
    lib.call(f"ingot_{kind}_count", handle, role, byref(count))
    result = []
    for index in range(count.value):
        info = TensorInfo()
        lib.call(f"ingot_{kind}_tensor", handle, role, index, byref(info))
        result.append(TensorSpec(info.name.decode(), DTYPES[info.type], shape_of(info)))
    return tuple(result)


def names_of_dims(tensors: Sequence[TensorSpec]) -> tuple[str, ...]:
    """The named dimensions that tensors have, in order of appearance."""
    names = (name for tensor in tensors for extent in tensor.shape if isinstance(extent, str)
             for name in re.findall(r"[A-Za-z_]\w*", extent))
    return tuple(dict.fromkeys(names))


def type_text(dtype: str, shape: Sequence[Extent]) -> str:
    """`f32[m, 64]`, as the text language has it."""
    return f"{dtype}[{', '.join(map(str, shape))}]"


def listed(tensors: Sequence[TensorSpec]) -> str:
    """`x: f32[m, 64], w: f32[32, 64]`, as a repr shows it."""
    return ", ".join(f"{name}: {type_text(dtype, shape)}" for name, dtype, shape in tensors)


def dims_array(dims: Mapping[str, Size]) -> Array[Dim]:
    """The C interface's list of sizes. It keeps the names alive."""
    result = (Dim * max(len(dims), 1))()
    for to, (name, size) in zip(result, dims.items()):
        ends = size if isinstance(size, (tuple, list)) else (size, size)
        if len(ends) != 2 or isinstance(size, list):
            raise InvalidArgumentError(
                f"size of {short_repr(name)}: expected an int, or a tuple of the least and the "
                f"most, got {type_and_repr(size)}")
        to.name = text("name of a dimension", name)
        to.least, to.most = (integer(f"size of '{name}'", end) for end in ends)
    return result


def check_dims(dims: Any) -> Mapping[str, Size]:
    """A dict of sizes; None stands for an empty one."""
    dims = {} if dims is None else dims
    if not isinstance(dims, Mapping):
        raise InvalidArgumentError("dims: expected a dict of sizes of named dimensions such as "
                                   f"{{\"m\": 4096}}, got {type_and_repr(dims)}")
    return dims


def by_name(role: str, declared: Sequence[TensorSpec], given: Sequence[Any],
            named: Mapping[str, Any]) -> list[Any]:
    """The tensors in the order of their declarations."""
    names = [tensor.name for tensor in declared]
    if len(given) > len(names):
        raise InvalidArgumentError(f"expected {len(names)} {role}s, got {len(given)}")
    tensors = dict(zip(names, given))
    for name, tensor in named.items():
        if name not in names:
            raise InvalidArgumentError(
                f"there is no {role} {short_repr(name)}; expected {', '.join(names) or 'none'}")
        if name in tensors:
            raise InvalidArgumentError(f"{role} '{name}' was given twice")
        tensors[name] = tensor
    missing = [name for name in names if name not in tensors]
    if missing:
        raise InvalidArgumentError(f"expected {role}s {', '.join(names)}, got no "
                                   f"{', '.join(missing)}")
    return [tensors[name] for name in names]
