# SPDX-License-Identifier: Apache-2.0
"""The functions of the text language as methods of builders, `g.f(x, a)`, and of values, `x.f(a)`.

_methods.pyi shows them to editors and type checkers; tools/python_stub.py writes it.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingot._functions import (
    document_of,
    functions,
    is_value_method,
    method_name,
    signature_of,
)


class BuilderMethods:
    """The functions as methods of GraphBuilder, which inherits them: `g.relu(x)`."""


class ValueMethods:
    """The functions whose first parameter is a tensor as methods of Value, which inherits them:
    `x.relu()`."""

    __slots__ = ()


def _add_method(to: type, owner: str, function: Mapping[str, Any]) -> None:
    name = function["name"]

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        return self._call(name, *arguments, **named)
    method.__name__ = method_name(function)
    method.__qualname__ = f"{owner}.{method.__name__}"
    method.__doc__ = document_of(function)
    signature = signature_of(function, of_value=to is ValueMethods)
    method.__signature__ = signature  # type: ignore[attr-defined]
    setattr(to, method.__name__, method)


for _function in functions():
    _add_method(BuilderMethods, "GraphBuilder", _function)
    if is_value_method(_function):
        _add_method(ValueMethods, "Value", _function)
