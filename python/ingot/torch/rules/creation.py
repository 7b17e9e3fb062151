# SPDX-License-Identifier: Apache-2.0
"""Operators that make tensors of numbers. Memory that PyTorch leaves as it is holds zeros."""
from __future__ import annotations

from typing import Any

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, rule
from ingot.torch.rules.values import broadcast_to, constant, element, filled, positions, rounded


@rule(aten.full.default, aten.full_like.default, aten.fill.Scalar, moves=True)
def _full(g: RuleContext, _: Any, value: Any, **others: Any) -> Any:
    return filled(g, value, g.out)


@rule(aten.new_full.default, moves=True)
def _new_full(g: RuleContext, x: Any, size: Any, value: Any, **others: Any) -> Any:
    return filled(g, value, g.out)


@rule(aten.fill.Tensor, moves=True)
def _fill(g: RuleContext, x: Any, value: Any) -> Any:
    return broadcast_to(g, element(g, value, g.out.dtype), g.out)


@rule(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default,
      aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default, moves=True)
def _zeros(g: RuleContext, *_: Any, **others: Any) -> Any:
    return filled(g, 0, g.out)


@rule(aten.ones.default, aten.ones_like.default, aten.new_ones.default, moves=True)
def _ones(g: RuleContext, *_: Any, **others: Any) -> Any:
    return filled(g, 1, g.out)


@rule(aten.scalar_tensor.default, moves=True)
def _scalar_tensor(g: RuleContext, value: Any, **others: Any) -> Any:
    return constant(g, value, g.out.dtype)


@rule(aten.arange.default, aten.arange.start, aten.arange.start_step, moves=True)
def _arange(g: RuleContext, start: Any, end: Any = None, step: Any = 1, **others: Any) -> Any:
    """From 0 where one number is given, which is the end."""
    dtype, start, step = g.out.dtype, 0 if end is None else g.number(start), g.number(step)
    if not dtype.is_floating_point:
        start, step = rounded(g, start, dtype), rounded(g, step, dtype)
    numbers = g.call("iota", g.dtype(dtype), g.extents(g.out.shape), axis=0)
    return g.call("add", g.call("mul", numbers, step), start)


@rule(aten.eye.default, aten.eye.m, moves=True)
def _eye(g: RuleContext, *_: Any, **others: Any) -> Any:
    rows, columns = g.extents(g.out.shape)
    on_diagonal = g.call("equal", positions(g, rows, 0, 2), positions(g, columns, 1, 2))
    return g.call("cast", on_diagonal, g.dtype(g.out.dtype))
