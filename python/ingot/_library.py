# SPDX-License-Identifier: Apache-2.0
"""Opens libingot.so and declares its C interface, ingot/ingot_c.h, for ctypes."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_void_p,
)
from typing import Any, NoReturn

from ingot._structs import (
    Argument,
    Dim,
    Extent,
    Memory,
    Options,
    PrepareArguments,
    ReferenceArguments,
    TensorInfo,
    Value,
)
from ingot.errors import InvalidArgumentError, UnavailableError, error_of_code

ABI_VERSION = 6
LIBRARY = "libingot.so"


WarningHandler = CFUNCTYPE(None, c_char_p, c_void_p)

_OUT = POINTER(c_void_p)
_ERROR = _OUT
_SHAPE = [c_char_p, c_int32, POINTER(Extent), c_size_t, POINTER(Value), _ERROR]
_DIMS = [POINTER(Dim), c_size_t]

# Per function its parameters, and its result where that is not an ingot_code.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
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
    "ingot_bundle": ([c_void_p, POINTER(Options), _OUT, _ERROR],),
    "ingot_program_load": ([c_char_p, c_size_t, c_char_p, _OUT, _ERROR],),
    "ingot_program_load_file": ([c_char_p, _OUT, _ERROR],),
    "ingot_gpu_open": ([c_int32, _OUT, _ERROR],),
    "ingot_gpu_allocate": ([c_void_p, c_int64, _OUT, _ERROR],),
    "ingot_gpu_synchronize": ([c_void_p, _ERROR],),
    "ingot_gpu_free": ([c_void_p], None),
    "ingot_set_warning_handler": ([WarningHandler, c_void_p], None),
}


def _remedy() -> str:
    """The words of a message about a library that is not found."""
    packages = pathlib.Path(__file__).resolve().parents[1]
    if not (packages / "setup.py").exists():
        return f"install Ingot, or set INGOT_LIBRARY to the path of {LIBRARY}"
    built = packages.parent / "build" / LIBRARY
    if built.exists():
        return f"set INGOT_LIBRARY={built}, which this checkout built"
    return (f"this checkout has not built {built}: run ./dev build, then set INGOT_LIBRARY to that "
            "path")


def _open() -> ctypes.CDLL:
    """Opens the library that INGOT_LIBRARY names, else that in this package, else that which the
    loader finds."""
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


def raise_error(code: int, error: c_void_p) -> NoReturn:
    """Raises the exception of a code with its message object, which is freed."""
    message = library.ingot_error_message(error) if error.value else None
    library.ingot_error_free(error)
    text_of_error = (message or b"an error without a message").decode(errors="backslashreplace")
    raise error_of_code(code)(text_of_error)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that gives an ingot_code, and raises its error."""
    error = c_void_p()
    code = getattr(library, name)(*arguments, byref(error))
    if code:
        raise_error(code, error)


def make(name: str, *arguments: Any) -> c_void_p:
    """Calls a function that stores one pointer, and gives the pointer."""
    result = c_void_p()
    call(name, *arguments, byref(result))
    return result


def take_bytes(pointer: c_void_p) -> bytes:
    """The contents of an ingot_bytes, which is freed."""
    try:
        return ctypes.string_at(library.ingot_bytes_data(pointer),
                                library.ingot_bytes_size(pointer))
    finally:
        library.ingot_bytes_free(pointer)


class Handle:
    """Owns a handle of the library, and frees it with the object. A copy is the same object, since
    the library's objects are immutable."""

    _free: str  # the function's name

    def __init__(self, handle: c_void_p) -> None:
        if not isinstance(handle, c_void_p):
            raise InvalidArgumentError(
                f"a {type(self).__name__} is made by this package's functions alone; expected its "
                f"handle, got {type(handle).__name__}")
        self._handle = handle

    def __copy__(self) -> Handle:
        return self

    def __deepcopy__(self, memo: Any) -> Handle:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; keep its spec, or a bundle")

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and library is not None:
            getattr(library, self._free)(handle)
