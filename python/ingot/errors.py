# SPDX-License-Identifier: Apache-2.0
"""The exceptions that Ingot raises; their text is that of the C++ library.

A public function raises no other: an argument of the wrong type is an InvalidArgumentError too.
Exceptions of code that is not Ingot's pass through: those of a tensor library, or of an object's
own `__index__` or `__fspath__`.
"""
from __future__ import annotations


class Error(Exception):
    """Any error of Ingot. `code` is its name in the C interface, such as "invalid_argument"."""
    code = "unknown"


class InvalidArgumentError(Error, ValueError):
    """An argument is wrong."""
    code = "invalid_argument"


class UnknownFunctionError(InvalidArgumentError, AttributeError):
    """A GraphBuilder has no function of that name."""


class ParseError(Error, ValueError):
    """A graph spec does not read; the text holds file:line:column."""
    code = "parse_error"


class GraphTypeError(Error, TypeError):
    """Operands do not fit together."""
    code = "type_error"


class UnsupportedError(Error, NotImplementedError):
    """Legal, but this version has no kernel for it."""
    code = "unsupported"


class UnavailableError(Error, OSError):
    """The machine lacks something: a GPU, the driver, NVRTC, Ingot's library."""
    code = "unavailable"


class FileError(Error, OSError):
    """A file cannot be read or written."""
    code = "io_error"


class CompileError(Error, RuntimeError):
    """NVRTC refused generated code."""
    code = "compile_error"


class LaunchError(Error, RuntimeError):
    """The driver refused a load or a launch."""
    code = "launch_error"


class InternalError(Error, RuntimeError):
    """A bug in Ingot."""
    code = "internal"


class NotPreparedError(Error, RuntimeError):
    """A launch of sizes, params or a device that prepare has not seen."""
    code = "not_prepared"


class OutOfMemoryError(Error, MemoryError):
    """The process got no more memory."""
    code = "out_of_memory"


class SpecWarning(SyntaxWarning):
    """A graph spec has a likely mistake; the text holds file:line:column."""


# In the order of ingot_code, from 1.
_BY_CODE: list[type[Error]] = [
    InvalidArgumentError, ParseError, GraphTypeError, UnsupportedError, UnavailableError, FileError,
    CompileError, LaunchError, InternalError, NotPreparedError, OutOfMemoryError]


def error_of_code(code: int) -> type[Error]:
    """The exception class of an ingot_code; Error of a code that is not known."""
    return _BY_CODE[code - 1] if 1 <= code <= len(_BY_CODE) else Error


def code_of_error(error: type[Error]) -> int:
    """The ingot_code of an exception class."""
    return _BY_CODE.index(error) + 1
