# SPDX-License-Identifier: Apache-2.0
"""Clamps, and other bounds of elements."""
from __future__ import annotations

import math
from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.elementwise import of_bools
from ingot.torch.rules.registry import aten, rule
from ingot.torch.rules.values import filled, operand


@rule(aten.clamp.default)
def _clamp(g: RuleContext, x: Any, min: Any = None, max: Any = None) -> Any:
    """A bound that is NaN makes all elements NaN beside another bound. Alone it does not apply."""
    x, bounds = g.cast(x, g.out.dtype), [g.number(b) for b in (min, max) if b is not None]
    return x if len(bounds) == 1 and math.isnan(bounds[0]) else between(g, x, min, max)


@rule(aten.clamp_min.default)
def _clamp_min(g: RuleContext, x: Any, min: Any) -> Any:
    return between(g, g.cast(x, g.out.dtype), min, None)


@rule(aten.clamp_max.default)
def _clamp_max(g: RuleContext, x: Any, max: Any) -> Any:
    return between(g, g.cast(x, g.out.dtype), None, max)


def between(g: RuleContext, x: Any, low: Any, high: Any) -> Any:
    """x from low to high, numbers of which either may be None; NaN where one of them is NaN."""
    if any(math.isnan(g.number(bound)) for bound in (low, high) if bound is not None):
        return filled(g, math.nan, g.out)
    return limited(g, x, low, high)


def limited(g: RuleContext, x: Any, low: Any, high: Any) -> Any:
    """x from low to high, numbers or tensors of the result's type or of others; either may be
    None."""
    for op, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            op = of_bools(op) if g.out.dtype == torch.bool else op
            x = g.call(op, x, operand(g, bound, g.out.dtype))
    return x


@rule(aten.clamp.Tensor)
def _clamp_tensor(g: RuleContext, x: Any, min: Any = None, max: Any = None) -> Any:
    return limited(g, g.cast(x, g.out.dtype), min, max)


@rule(aten.clamp_min.Tensor)
def _clamp_min_tensor(g: RuleContext, x: Any, min: Any) -> Any:
    return limited(g, g.cast(x, g.out.dtype), min, None)


@rule(aten.clamp_max.Tensor)
def _clamp_max_tensor(g: RuleContext, x: Any, max: Any) -> Any:
    return limited(g, g.cast(x, g.out.dtype), None, max)


@rule(aten.nan_to_num.default)
def _nan_to_num(g: RuleContext, x: Any, nan: Any = None, posinf: Any = None,
                neginf: Any = None) -> Any:
    return g.call("nan_to_num", x, nan=nan or 0.0, posinf=posinf, neginf=neginf)
