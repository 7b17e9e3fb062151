# SPDX-License-Identifier: Apache-2.0
"""What ATen's operators are in Ingot's language: one rule each, in the file of its kind;
registry.py says what a rule is."""
from ingot.torch.rules import (activations, attention, creation, elementwise,  # noqa: F401
                               indexing, logic, losses, movement, norms, pooling, products,
                               reductions)
from ingot.torch.rules.registry import MOVEMENT, RULES, VIEWS, Refusal, aten, expect, rule

__all__ = ["MOVEMENT", "RULES", "VIEWS", "Refusal", "aten", "expect", "rule"]
