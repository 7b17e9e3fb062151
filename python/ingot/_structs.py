# SPDX-License-Identifier: Apache-2.0
"""The structs of the C interface, ingot/ingot_c.h, for ctypes."""
from __future__ import annotations

import ctypes
import enum
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)
from typing import Any


class ArgumentKind(enum.IntEnum):
    """ingot_argument_kind."""
    NONE = 0
    VALUE = 1
    INTEGER = 2
    REAL = 3
    BOOL = 4
    TYPE = 5
    EXTENT = 6
    TEXT = 7
    LIST = 8


class Value(Structure):
    """ingot_value."""
    _fields_ = [("id", c_uint32)]


class Extent(Structure):
    """ingot_extent."""
    _fields_ = [("number", c_int64), ("name", c_char_p)]


class Argument(Structure):
    """ingot_argument."""


Argument._fields_ = [("name", c_char_p), ("kind", c_int32), ("value", Value), ("integer", c_int64),
                     ("real", c_double), ("text", c_char_p), ("list", POINTER(Argument)),
                     ("list_size", c_size_t)]


class Sized(Structure):
    """A struct that begins with its size."""
    _fields_ = [("struct_size", c_size_t)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.struct_size = ctypes.sizeof(self)


class Options(Sized):
    """ingot_options."""
    _fields_ = [("target", c_char_p), ("device", c_char_p), ("precision", c_int32),
                ("math", c_int32)]


class TensorInfo(Sized):
    """ingot_tensor_info."""
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32),
                ("shape", POINTER(Extent))]


def shape_of(info: TensorInfo) -> tuple[int | str, ...]:
    """The extents of a tensor: numbers, and names or products of names such as "2*m"."""
    return tuple(extent.name.decode() if extent.name else extent.number
                 for extent in info.shape[:info.rank])


class Dim(Structure):
    """ingot_dim."""
    _fields_ = [("name", c_char_p), ("least", c_int64), ("most", c_int64)]


class Memory(Sized):
    """ingot_memory."""
    _fields_ = [("prepared", c_int64), ("workspace", c_int64), ("state", c_int64)]


class Tensor(Structure):
    """ingot_tensor."""
    _fields_ = [("data", c_void_p), ("shape", POINTER(c_int64)), ("rank", c_int32)]


class PrepareArguments(Sized):
    """ingot_prepare_arguments."""
    _fields_ = [("params", POINTER(Tensor)), ("num_params", c_size_t), ("prepared", c_void_p),
                ("workspace", c_void_p), ("stream", c_void_p), ("dims", POINTER(Dim)),
                ("num_dims", c_size_t)]


class LaunchArguments(Sized):
    """ingot_launch_arguments."""
    _fields_ = [("inputs", POINTER(Tensor)), ("num_inputs", c_size_t), ("params", POINTER(Tensor)),
                ("num_params", c_size_t), ("outputs", POINTER(Tensor)), ("num_outputs", c_size_t),
                ("prepared", c_void_p), ("workspace", c_void_p), ("state", c_void_p),
                ("stream", c_void_p)]


class ReferenceArguments(Sized):
    """ingot_reference_arguments."""
    _fields_ = [("inputs", POINTER(Tensor)), ("num_inputs", c_size_t), ("params", POINTER(Tensor)),
                ("num_params", c_size_t), ("outputs", POINTER(c_void_p)),
                ("shapes", POINTER(POINTER(c_int64))), ("num_outputs", c_size_t)]


def word_of(struct: type[Structure], field: str) -> int:
    """The index of a field in a struct that consists of 8-byte words."""
    return int(getattr(struct, field).offset) // 8
