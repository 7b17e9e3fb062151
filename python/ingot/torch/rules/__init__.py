# SPDX-License-Identifier: Apache-2.0
"""The rules that express ATen's operators in Ingot's language. Each operator has one, in the file
of its kind; registry.py defines rules."""
from ingot.torch.rule_context import Refusal
from ingot.torch.rules import (  # noqa: F401
    activations,
    attention,
    bounds,
    creation,
    elementwise,
    indexing,
    logic,
    losses,
    movement,
    norms,
    pooling,
    products,
    reductions,
)
from ingot.torch.rules.registry import MOVEMENT, RULES, VIEWS, aten, expect, rule

__all__ = ["MOVEMENT", "RULES", "VIEWS", "Refusal", "aten", "expect", "rule"]
