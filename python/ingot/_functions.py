# SPDX-License-Identifier: Apache-2.0
"""The functions of the text language as methods of builders, `g.f(x, a)`, and of values, `x.f(a)`,
made from the list that the library gives.

_functions.pyi says the same to editors and type checkers; tools/python_stub.py writes it.
"""
from __future__ import annotations

import inspect
import json
import keyword
from typing import Any, Mapping

from ingot import _library as lib

# What GraphBuilder has of its own, where the language may have a function of that name.
OWN = ("call", "constant", "describe", "finish", "input", "output", "param")

# What Python is given for each kind of parameter; these are names of ingot.value.
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
    """A required parameter behind one that may be left out is shown as one to give by name. A
    value's method has the value for its first parameter."""
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


def method_name(function: Mapping[str, Any]) -> str:
    """`and_` for a function whose name Python keeps for itself."""
    return function["name"] + "_" * keyword.iskeyword(function["name"])


def document_of(function: Mapping[str, Any]) -> str:
    """What docs/functions.md says of it."""
    return f"{function['summary'] or 'elementwise'}."


class BuilderMethods:
    """The functions as methods of GraphBuilder, which inherits them: `g.relu(x)`."""


class ValueMethods:
    """The functions as methods of Value, which inherits them: `x.relu()`."""

    __slots__ = ()


def _add_method(to: type, owner: str, function: Mapping[str, Any]) -> None:
    name = function["name"]

    def method(self, *arguments: Any, **named: Any) -> Any:
        return self._call(name, *arguments, **named)
    method.__name__ = method_name(function)
    method.__qualname__ = f"{owner}.{method.__name__}"
    method.__doc__ = document_of(function)
    method.__signature__ = signature_of(function, of_value=to is ValueMethods)
    setattr(to, method.__name__, method)


# For each function: its parameters in order, with their kinds.
_kinds: dict[str, dict[str, str]] = {}


def takes_extents(function: Any, parameter: int | str) -> bool:
    """Whether a text given to a parameter is an extent such as "2*m". The parameter is told by its
    name or by the place of the argument; places behind the last one are the last one's too, since a
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
    _add_method(BuilderMethods, "GraphBuilder", _function)
    _add_method(ValueMethods, "Value", _function)
