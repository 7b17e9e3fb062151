# SPDX-License-Identifier: Apache-2.0
"""Checks of callers' arguments, and their text in messages."""
from __future__ import annotations

import contextlib
import operator
import os
from typing import Any

from ingot.errors import InvalidArgumentError


def utf8(what: str, value: Any) -> bytes:
    """A str as bytes, NUL characters among them."""
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{what}: expected a str, got {type_and_repr(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"{what}: expected text that UTF-8 can hold, got {short_repr(value)}: {error.reason}"
        ) from None


def text(what: str, value: Any) -> bytes:
    """A str as the C interface takes it."""
    data = utf8(what, value)
    if b"\0" in data:
        raise InvalidArgumentError(
            f"{what}: expected a text without NUL characters, got {short_repr(value)}")
    return data


def path(value: Any, expected: str = "path: expected a str, bytes or os.PathLike") -> bytes:
    """A file's name, of any bytes, as the C interface takes it."""
    try:
        data = os.fsencode(value)
    except TypeError:
        raise InvalidArgumentError(f"{expected}, got {type_and_repr(value)}") from None
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"path: expected the name of a file, got {short_repr(value)}: "
                                   f"{error.reason}") from None
    if b"\0" in data:
        raise InvalidArgumentError(
            f"path: expected a name without NUL characters, got {short_repr(value)}")
    return data


def short_repr(value: Any) -> str:
    """The first 100 characters of an argument's repr, for a message. Huge numbers have none."""
    if isinstance(value, int) and not -2**63 <= value < 2**64:
        return f"an int of {value.bit_length()} bits"
    try:
        result = repr(value)
    except (RecursionError, ValueError):  # too deep; a number in it that is too long
        return f"a {type(value).__name__}"
    return result if len(result) <= 100 else result[:100] + "..."


def type_and_repr(value: Any) -> str:
    """The type and the repr of an argument, for a message: `int 3`, `None`."""
    return "None" if value is None else f"{type(value).__name__} {short_repr(value)}"


def count_text(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`"""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def integer(what: str, value: Any) -> int:
    """An integer of 64 bits. Anything with `__index__` counts as one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{what}: expected an int, got {type_and_repr(value)}") from None
    if not -2**63 <= number < 2**63:
        raise InvalidArgumentError(f"{what}: expected an int of 64 bits, got {short_repr(number)}")
    return number


def real(what: str, value: Any) -> float:
    """A number that a double holds."""
    number = None
    if not isinstance(value, (str, bytes, bytearray)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if number is None or (isinstance(value, int) and number != value):
        raise InvalidArgumentError(f"{what}: expected a number that a double holds, got "
                                   f"{type_and_repr(value)}")
    return number


def stream(value: Any) -> int | None:
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
