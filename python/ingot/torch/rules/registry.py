# SPDX-License-Identifier: Apache-2.0
"""The table of the rules, and what rules are written with.

A rule is called with a Lowering and the operator's arguments - tensors as Tensor, the rest as ATen
has it - and gives a value, or a tuple where the operator has several results; None stands for a
result that Ingot does not give. Semantics are those of ir/README.md, which are PyTorch's. What a
rule cannot express it refuses by raising Refusal; so does the builder where operands do not fit.
"""
from __future__ import annotations

from typing import Any, Callable

import torch

from ingot.errors import InvalidArgumentError

aten = torch.ops.aten

#: The rule of each operator overload.
RULES: dict[Any, Callable] = {}

#: Operators that move or rename elements, and compute nothing: no kernel is worth them alone.
MOVEMENT: set[Any] = set()

#: Those of them of which PyTorch gives a view, at no cost.
VIEWS: set[Any] = set()


class Refusal(Exception):
    """Why an operator stays with eager PyTorch."""


def rule(*overloads: Any, moves: bool = False, views: bool = False):
    """Makes a function the rule of operator overloads. Each has one rule."""
    def register(function):
        for overload in overloads:
            if overload in RULES:
                raise InvalidArgumentError(f"rule: expected one rule for {overload}, got two; "
                                           "remove one")
            RULES[overload] = function
            if moves or views:
                MOVEMENT.add(overload)
            if views:
                VIEWS.add(overload)
        return function
    return register


def expect(condition: bool, reason: str) -> None:
    if not condition:
        raise Refusal(reason)
