#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints python/ingot/_methods.pyi, from the functions that the library lists:
INGOT_LIBRARY=build/libingot.so tools/python_stub.py > python/ingot/_methods.pyi"""
import inspect
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from ingot import _functions  # noqa: E402

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py.
from collections.abc import Sequence
from typing import Any

from ingot.specs import Extent
from ingot.value import Operand, Value

'''
WIDTH = 100


def text_of(parameter: inspect.Parameter) -> str:
    """`axis: int = -1`"""
    if parameter.annotation is parameter.empty:
        return parameter.name
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def method(function, of_value: bool) -> str:
    """One method with its docstring."""
    items, is_by_name = [], False
    for parameter in _functions.signature_of(function, of_value).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_by_name:
            items.append("*")
            is_by_name = True
        items.append(text_of(parameter))
    start = f"    def {_functions.method_name(function)}("
    # Blanks within a parameter are no place to break a line.
    joined = ", ".join(item.replace(" ", "\0") for item in items) + ")\0->\0Any:"
    lines = textwrap.wrap(joined, WIDTH - len(start), break_long_words=False,
                          break_on_hyphens=False)
    signature = start + ("\n" + " " * len(start)).join(lines).replace("\0", " ")
    document = textwrap.fill(f'"""{_functions.document_of(function)}"""', WIDTH - 1,
                             initial_indent=" " * 8, subsequent_indent=" " * 8,
                             break_long_words=False, break_on_hyphens=False)
    return f"{signature}\n{document}\n"


def stub(name: str, of_value: bool) -> str:
    """A class with all its methods."""
    methods = (method(function, of_value) for function in _functions.functions()
               if not of_value or _functions.is_value_method(function))
    return f"class {name}:\n" + "\n".join(methods)


print(HEAD + stub("BuilderMethods", False) + "\n" + stub("ValueMethods", True), end="")
