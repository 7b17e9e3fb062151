# SPDX-License-Identifier: Apache-2.0
"""Operators that make tensors of numbers."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, rule


@rule(aten.full.default, moves=True)
def _full(g, size, value, **others):
    return g.call("expand", g.tensor(value), g.extents(g.out.shape))


@rule(aten.full_like.default, moves=True)
def _full_like(g, x, value, **others):
    return _full(g, None, value)


@rule(aten.zeros.default, aten.zeros_like.default, moves=True)
def _zeros(g, *_, **others):
    return _full(g, None, 0)


@rule(aten.ones.default, aten.ones_like.default, moves=True)
def _ones(g, *_, **others):
    return _full(g, None, 1)


@rule(aten.scalar_tensor.default, moves=True)
def _scalar_tensor(g, value, **others):
    return g.tensor(value)


@rule(aten.arange.default, moves=True)
def _arange_from_zero(g, end, **others):
    return _arange(g, 0, end)


@rule(aten.arange.start, aten.arange.start_step, moves=True)
def _arange(g, start, end, step=1, **others):
    numbers = g.call("iota", g.dtype(g.out.dtype), g.extents(g.out.shape), axis=0)
    return g.call("add", g.call("mul", numbers, g.number(step)), g.number(start))
