# SPDX-License-Identifier: Apache-2.0
"""The table of the rules, and the decorator that fills it.

A rule is called with a RuleContext and the operator's arguments: tensors as Tensor, the others as
ATen has them. It gives a value, or a tuple where the operator has several results; None stands for
a result that Ingot does not give. Semantics are those of ir/README.md, which are PyTorch's. A rule
raises Refusal for arguments that it cannot express; the builder raises Error where operands do not
fit.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from ingot.errors import InvalidArgumentError
from ingot.torch.rule_context import Refusal

aten = torch.ops.aten

#: The rule of each operator overload.
RULES: dict[Any, Callable[..., Any]] = {}

#: Operators that move or rename elements, and compute nothing: no kernel is worth them alone.
MOVEMENT: set[Any] = set()

#: Those of them of which PyTorch gives a view, at no cost.
VIEWS: set[Any] = set()


Rule = TypeVar("Rule", bound=Callable[..., Any])


def rule(*overloads: Any, moves: bool = False,
         views: bool = False) -> Callable[[Rule], Rule]:
    """Makes a function the rule of operator overloads. Each has one rule."""
    def register(function: Rule) -> Rule:
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
    """Raises Refusal unless the condition holds."""
    if not condition:
        raise Refusal(reason)
