# SPDX-License-Identifier: Apache-2.0
"""Parts that many rules share: numbers as element types hold them, constants, and reductions of
scalars. A tensor is a Tensor or a value of the graph."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ingot.torch.rule_context import RuleContext


def rounded(g: RuleContext, number: Any, dtype: torch.dtype) -> Any:
    """A number as an element type holds it: rounded, cut off, wrapped, or 0 and 1."""
    return torch.tensor(g.number(number)).to(dtype).item()


def constant(g: RuleContext, number: Any, dtype: torch.dtype) -> Any:
    """A scalar of an element type that holds the number as PyTorch's tensors do."""
    value = rounded(g, number, dtype)
    if dtype == torch.bool:
        return g.call("cast", g.call("constant", int(value), "i32"), "bool")
    return g.call("constant", value, g.dtype(dtype))


def element(g: RuleContext, x: Any, dtype: torch.dtype) -> Any:
    """A tensor or a number as elements of a type."""
    return g.cast(x, dtype) if g.is_tensor(x) else constant(g, x, dtype)


def operand(g: RuleContext, x: Any, dtype: torch.dtype) -> Any:
    """A tensor, or a number that arithmetic takes unrounded where the type is a float one."""
    return g.cast(x, dtype) if g.is_tensor(x) or dtype.is_floating_point else constant(g, x, dtype)


def broadcast_to(g: RuleContext, value: Any, like: torch.Tensor) -> Any:
    """A value broadcast to the shape of a fake tensor."""
    return g.call("expand", value, g.extents(like.shape))


def filled(g: RuleContext, number: Any, like: torch.Tensor) -> Any:
    """A number throughout, in the shape and the element type of a fake tensor."""
    return broadcast_to(g, constant(g, number, like.dtype), like)


def along(g: RuleContext, values: Any, dim: int, rank: int, length: Any) -> Any:
    """A vector of some length as the only dim of a rank that is not 1."""
    return g.call("reshape", values, [length if i == dim else 1 for i in range(rank)])


def positions(g: RuleContext, extent: Any, dim: int, rank: int) -> Any:
    """0, 1, 2, ... along one dim: i64, of extent 1 in every other dim."""
    shape = [extent if i == dim else 1 for i in range(rank)]
    return g.call("iota", "i64", shape, axis=dim)


def axes_of(rank: int, dim: Any) -> list[int]:
    """The dims that PyTorch reduces: all where none are given."""
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        return list(range(rank))
    return [d % max(rank, 1) for d in (dim if isinstance(dim, (list, tuple)) else [dim])]


def reduced(g: RuleContext, op: str, x: Any, rank: int, dim: Any = None, keepdim: bool = False,
            **named: Any) -> Any:
    """A reduction over dims; a scalar is reduced as its one element, and has no dims to keep."""
    if rank == 0:
        return g.call(op, g.call("reshape", x, [1]), axis=[0], **named)
    return g.call(op, x, axis=axes_of(rank, dim), keepdim=keepdim, **named)


def as_vector(g: RuleContext, x: Any, rank: int) -> Any:
    """A scalar as its one element, for operators along a dim."""
    return x if rank else g.call("reshape", x, [1])


def narrow(g: RuleContext, x: Any, dim: int, start: int, length: int) -> Any:
    return g.call("narrow", x, axis=dim, start=start, length=length)


def strided(g: RuleContext, x: Any, shape: Sequence[Any],
            ranges: dict[int, tuple[int, int, int]]) -> Any:
    """start:stop:step of some dims of x, whose extents `shape` has; of others all."""
    starts, stops, steps = [], [], []
    for dim, extent in enumerate(shape):
        whole = (0, extent if isinstance(extent, int) else -1, 1)
        start, stop, step = ranges.get(dim, whole)
        starts.append(start)
        stops.append(stop)
        steps.append(step)
    return g.call("slice", x, starts, stops, steps)


def average(g: RuleContext, x: Any, like: torch.Tensor, reduction: int) -> Any:
    """ATen's `reduction` of losses: 0 none, 1 the mean, 2 the sum."""
    if reduction == 0:
        return x
    return reduced(g, "mean" if reduction == 1 else "sum", x, like.dim())
