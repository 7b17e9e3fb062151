# SPDX-License-Identifier: Apache-2.0
"""Opens libingot.so and declares its C interface, ingot/ingot_c.h, for ctypes."""
from __future__ import annotations

import ctypes
import operator
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64,
                    c_size_t, c_uint32, c_void_p)

from ingot.errors import InvalidArgumentError, UnavailableError, error_of_code

ABI_VERSION = 6
LIBRARY = "libingot.so"


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

    def __init__(self, **fields):
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


class DlpackArguments(Sized):
    """ingot_dlpack_arguments."""
    _fields_ = [("inputs", POINTER(c_void_p)), ("num_inputs", c_size_t),
                ("params", POINTER(c_void_p)), ("num_params", c_size_t),
                ("outputs", POINTER(c_void_p)), ("num_outputs", c_size_t), ("prepared", c_void_p),
                ("workspace", c_void_p), ("state", c_void_p), ("stream", c_void_p)]


class ReferenceArguments(Sized):
    """ingot_reference_arguments."""
    _fields_ = [("inputs", POINTER(Tensor)), ("num_inputs", c_size_t), ("params", POINTER(Tensor)),
                ("num_params", c_size_t), ("outputs", POINTER(c_void_p)),
                ("shapes", POINTER(POINTER(c_int64))), ("num_outputs", c_size_t)]


WarningHandler = CFUNCTYPE(None, c_char_p, c_void_p)

_OUT = POINTER(c_void_p)
_ERROR = _OUT
_SHAPE = [c_char_p, c_int32, POINTER(Extent), c_size_t, POINTER(Value), _ERROR]
_DIMS = [POINTER(Dim), c_size_t]

# What a function takes, and what it gives where that is no ingot_code.
_FUNCTIONS = {
    "ingot_version": ([], c_char_p),
    "ingot_abi_version": ([], c_int32),
    "ingot_error_message": ([c_void_p], c_char_p),
    "ingot_error_free": ([c_void_p], None),
    "ingot_bytes_data": ([c_void_p], c_void_p),
    "ingot_bytes_size": ([c_void_p], c_size_t),
    "ingot_bytes_free": ([c_void_p], None),
    "ingot_graph_parse": ([c_char_p, c_size_t, c_char_p, _OUT, _ERROR],),
    "ingot_graph_parse_file": ([c_char_p, _OUT, _ERROR],),
    "ingot_graph_text": ([c_void_p, _OUT, _ERROR],),
    "ingot_graph_free": ([c_void_p], None),
    "ingot_graph_count": ([c_void_p, c_int32, POINTER(c_size_t), _ERROR],),
    "ingot_graph_tensor": ([c_void_p, c_int32, c_size_t, POINTER(TensorInfo), _ERROR],),
    "ingot_graph_warning_count": ([c_void_p, POINTER(c_size_t), _ERROR],),
    "ingot_graph_warning": ([c_void_p, c_size_t, POINTER(c_char_p), _ERROR],),
    "ingot_functions": ([_OUT, _ERROR],),
    "ingot_explain": ([c_void_p, POINTER(Options), c_int32, *_DIMS, _OUT, _ERROR],),
    "ingot_reference": ([c_void_p, POINTER(ReferenceArguments), _ERROR],),
    "ingot_builder_create": ([c_char_p, _OUT, _ERROR],),
    "ingot_builder_input": ([c_void_p, *_SHAPE],),
    "ingot_builder_param": ([c_void_p, *_SHAPE],),
    "ingot_builder_constant": ([c_void_p, c_int32, c_double, POINTER(Value), _ERROR],),
    "ingot_builder_call": ([c_void_p, c_char_p, POINTER(Argument), c_size_t, POINTER(Value),
                            c_size_t, POINTER(c_size_t), _ERROR],),
    "ingot_builder_index": ([c_void_p, Value, POINTER(Argument), c_size_t, POINTER(Value),
                             _ERROR],),
    "ingot_builder_describe": ([c_void_p, Value, POINTER(TensorInfo), _ERROR],),
    "ingot_builder_output": ([c_void_p, c_char_p, Value, _ERROR],),
    "ingot_builder_forget_error": ([c_void_p, _ERROR],),
    "ingot_builder_finish": ([c_void_p, _OUT, _ERROR],),
    "ingot_builder_free": ([c_void_p], None),
    "ingot_compile": ([c_void_p, POINTER(Options), _OUT, _ERROR],),
    "ingot_program_free": ([c_void_p], None),
    "ingot_program_count": ([c_void_p, c_int32, POINTER(c_size_t), _ERROR],),
    "ingot_program_tensor": ([c_void_p, c_int32, c_size_t, POINTER(TensorInfo), _ERROR],),
    "ingot_program_shape": ([c_void_p, c_int32, c_size_t, *_DIMS, POINTER(c_int64), c_size_t,
                             _ERROR],),
    "ingot_program_kernels": ([c_void_p, POINTER(c_int32), _ERROR],),
    "ingot_program_memory": ([c_void_p, *_DIMS, POINTER(Memory), _ERROR],),
    "ingot_program_code": ([c_void_p, c_int32, _OUT, _OUT, _ERROR],),
    "ingot_program_prepare": ([c_void_p, POINTER(PrepareArguments), _ERROR],),
    "ingot_program_launch": ([c_void_p, c_void_p, _ERROR],),
    "ingot_program_prepare_dlpack": ([c_void_p, POINTER(DlpackArguments), *_DIMS, _ERROR],),
    "ingot_program_launch_dlpack": ([c_void_p, POINTER(DlpackArguments), _ERROR],),
    "ingot_bundle": ([c_void_p, POINTER(Options), _OUT, _ERROR],),
    "ingot_program_load": ([c_char_p, c_size_t, c_char_p, _OUT, _ERROR],),
    "ingot_program_load_file": ([c_char_p, _OUT, _ERROR],),
    "ingot_gpu_open": ([c_int32, _OUT, _ERROR],),
    "ingot_gpu_allocate": ([c_void_p, c_int64, _OUT, _ERROR],),
    "ingot_gpu_synchronize": ([c_void_p, _ERROR],),
    "ingot_gpu_free": ([c_void_p], None),
    "ingot_set_warning_handler": ([WarningHandler, c_void_p], None),
}


def _remedy():
    """What to do where the library is not found: in a checkout, which of its builds to name."""
    packages = pathlib.Path(__file__).resolve().parents[1]
    if not (packages / "setup.py").exists():
        return f"install Ingot, or set INGOT_LIBRARY to the path of {LIBRARY}"
    built = packages.parent / "build" / LIBRARY
    if built.exists():
        return f"set INGOT_LIBRARY={built}, which this checkout built"
    return (f"this checkout has not built {built}: run ./dev build, then set INGOT_LIBRARY to that "
            "path")


def _open():
    """INGOT_LIBRARY, else the library that lies in this package, else what the loader finds."""
    named = os.environ.get("INGOT_LIBRARY")
    packaged = pathlib.Path(__file__).parent / LIBRARY
    path = named or (str(packaged) if packaged.exists() else LIBRARY)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        of = " that INGOT_LIBRARY names" if named else ""
        raise UnavailableError(f"cannot open Ingot's library{of}: {error}; {_remedy()}") from None
    if not hasattr(library, "ingot_abi_version"):
        raise UnavailableError(f"{path}: expected Ingot's library, found no ingot_abi_version")
    version = library.ingot_abi_version()
    if version < ABI_VERSION:
        raise UnavailableError(f"{path}: expected a library with interface {ABI_VERSION} or later, "
                               f"got {version}; update it")
    for name, (arguments, *result) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = result[0] if result else c_int32
    return library


library = _open()


def raise_error(code, error):
    """The exception for what a call gave; frees its message object."""
    message = library.ingot_error_message(error) if error.value else None
    library.ingot_error_free(error)
    text_of_error = (message or b"an error without a message").decode(errors="backslashreplace")
    raise error_of_code(code)(text_of_error)


def call(name, *arguments):
    """Calls a function that gives an ingot_code; raises what it reports."""
    error = c_void_p()
    code = getattr(library, name)(*arguments, byref(error))
    if code:
        raise_error(code, error)


def make(name, *arguments):
    """Calls a function that stores one pointer; gives the pointer."""
    result = c_void_p()
    call(name, *arguments, byref(result))
    return result


def take_bytes(pointer):
    """The contents of an ingot_bytes, which is freed."""
    try:
        return ctypes.string_at(library.ingot_bytes_data(pointer),
                                library.ingot_bytes_size(pointer))
    finally:
        library.ingot_bytes_free(pointer)


def utf8(what, value):
    """A str as bytes, NUL characters among them."""
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{what}: expected a str, got {told(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"{what}: expected text that UTF-8 can hold, got {shown(value)}: {error.reason}"
        ) from None


def text(what, value):
    """A str as the C interface takes it."""
    data = utf8(what, value)
    if b"\0" in data:
        raise InvalidArgumentError(
            f"{what}: expected a text without NUL characters, got {shown(value)}")
    return data


def path(value, expected="path: expected a str, bytes or os.PathLike"):
    """A file's name, of any bytes, as the C interface takes it."""
    try:
        data = os.fsencode(value)
    except TypeError:
        raise InvalidArgumentError(f"{expected}, got {told(value)}") from None
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"path: expected the name of a file, got {shown(value)}: "
                                   f"{error.reason}") from None
    if b"\0" in data:
        raise InvalidArgumentError(
            f"path: expected a name without NUL characters, got {shown(value)}")
    return data


def shown(value):
    """The beginning of what an argument is, for a message. Huge numbers have no decimal text."""
    if isinstance(value, int) and not -2**63 <= value < 2**64:
        return f"an int of {value.bit_length()} bits"
    try:
        result = repr(value)
    except (RecursionError, ValueError):  # too deep; a number in it that is too long
        return f"a {type(value).__name__}"
    return result if len(result) <= 100 else result[:100] + "..."


def told(value):
    """The type and the value of an argument, for a message that refuses it: `int 3`, `None`."""
    return "None" if value is None else f"{type(value).__name__} {shown(value)}"


def count_text(count, noun):
    """`1 kernel`, `2 kernels`"""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def integer(what, value):
    """An int, or what stands for one, that fits 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{what}: expected an int, got {told(value)}") from None
    if not -2**63 <= number < 2**63:
        raise InvalidArgumentError(f"{what}: expected an int of 64 bits, got {shown(number)}")
    return number


def real(what, value):
    """A number that a double holds."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or (isinstance(value, int) and number != value):
        raise InvalidArgumentError(f"{what}: expected a number that a double holds, got "
                                   f"{told(value)}")
    return number


def stream(value):
    """A cudaStream_t, or None."""
    if value is None:
        return None
    if hasattr(value, "cuda_stream"):
        raise InvalidArgumentError("stream: expected a cudaStream_t as an int, or None, got "
                                   f"{type(value).__name__}; write stream.cuda_stream")
    number = integer("stream", value)
    if number < 0:
        raise InvalidArgumentError(f"stream: expected a cudaStream_t or None, got {number}")
    return number


class Handle:
    """Owns a handle of the library; frees it with the object. What it stands for does not change,
    so that a copy is the same object."""

    _free = None  # the function's name

    def __init__(self, handle):
        if not isinstance(handle, c_void_p):
            raise InvalidArgumentError(
                f"a {type(self).__name__} is made by this package's functions alone; expected its "
                f"handle, got {type(handle).__name__}")
        self._handle = handle

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled; keep its spec, or a bundle")

    def __del__(self):
        handle = getattr(self, "_handle", None)
        if handle is not None and library is not None:
            getattr(library, self._free)(handle)
