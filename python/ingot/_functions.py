# SPDX-License-Identifier: Apache-2.0
"""The functions of the text language, which the library lists, and their signatures in Python."""
from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Mapping
from typing import Any

from ingot import _library as lib

# GraphBuilder's own methods: a function of the same name becomes no method.
OWN = ("call", "constant", "describe", "finish", "input", "output", "param")

# The annotation of each kind of parameter; these are names of ingot.value.
_ANNOTATIONS = {"tensor": "Operand", "tensors": "Sequence[Value]", "number": "float",
                "integer": "int", "boolean": "bool", "text": "str", "dtype": "Any", "axis": "int",
                "axes": "int | Sequence[int]", "ints": "int | Sequence[int]",
                "dim": "Extent", "dims": "Sequence[Extent]"}


def _parameter(declared: Mapping[str, Any], by_name: bool) -> inspect.Parameter:
    annotation = _ANNOTATIONS.get(declared["kind"], "Any")
    default = inspect.Parameter.empty
    if "default" in declared:
        default = declared["default"]
        annotation += " | None" if default is None else ""
    kind = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(declared["name"], kind, default=default, annotation=annotation)


def signature_of(function: Mapping[str, Any], of_value: bool = False) -> inspect.Signature:
    """The signature of the method. A required parameter behind an optional one is shown as
    keyword-only. `of_value`: without the first parameter, which is the value itself."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    has_optional = by_name = False
    for declared in function["parameters"][1 if of_value else 0:]:
        by_name = by_name or (has_optional and "default" not in declared)
        has_optional = has_optional or "default" in declared
        parameters.append(_parameter(declared, by_name))
    return inspect.Signature(parameters, return_annotation="Any")


def functions() -> list[dict[str, Any]]:
    """The functions that become methods, ordered by name."""
    listed = json.loads(lib.take_bytes(lib.make("ingot_functions")))
    return [function for function in listed if function["name"] not in OWN]


def is_value_method(function: Mapping[str, Any]) -> bool:
    """Whether the function is a method of values too: its first parameter is one tensor."""
    parameters = function["parameters"]
    return bool(parameters) and bool(parameters[0]["kind"] == "tensor")


def method_name(function: Mapping[str, Any]) -> str:
    """The function's name; `and_` where the name is a keyword of Python."""
    name: str = function["name"]
    return name + "_" * keyword.iskeyword(name)


def document_of(function: Mapping[str, Any]) -> str:
    """The function's docstring, which is its text in docs/functions.md."""
    return f"{function['summary'] or 'elementwise'}."


# Per function its parameters in order, with their kinds.
_kinds: dict[str, dict[str, str]] = {}


def is_function(name: str) -> bool:
    """Whether the text language has a function of that name."""
    return name in _kinds or name.removesuffix("_") in _kinds


def takes_extents(function: Any, parameter: int | str) -> bool:
    """Whether a text given to a parameter is an extent such as "2*m". The parameter is told by its
    name or by the index of the argument. Arguments behind the last parameter belong to it, since a
    list of extents may be given as several arguments."""
    kinds = _kinds.get(function, {}) if isinstance(function, str) else {}
    if isinstance(parameter, int):
        ordered = list(kinds.values())
        kind = ordered[min(parameter, len(ordered) - 1)] if ordered else None
    else:
        kind = kinds.get(parameter)
    return kind in ("dim", "dims")


for _function in functions():
    _kinds[_function["name"]] = {declared["name"]: declared["kind"]
                                 for declared in _function["parameters"]}
