# SPDX-License-Identifier: Apache-2.0
"""Operators that pick elements by indices."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ingot.specs import Extent
from ingot.torch.element_types import INTEGERS
from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import along, element, narrow, positions


def take(g: RuleContext, x: Any, shape: list[Extent], dim: int, index: Any, length: Any) -> Any:
    """x, which has the shape, at a vector of indices along one dim."""
    rank = len(shape)
    extents = [length if i == dim else extent for i, extent in enumerate(shape)]
    index = g.call("expand", along(g, index, dim, rank, length), extents)
    return g.call("gather", x, index, axis=dim)


def rows_at(g: RuleContext, x: Any, index: Any, like: torch.Tensor) -> Any:
    """x at indices of its first dim, which have the shape of a fake tensor."""
    shape, count = g.extents(x.fake.shape), g.product(g.extents(like.shape))
    rows = take(g, x, shape, 0, g.call("reshape", index, [count]), count)
    return g.call("reshape", rows, g.extents(like.shape) + shape[1:])


@rule(aten.gather.default)
def _gather(g: RuleContext, x: Any, dim: Any, index: Any, *, sparse_grad: bool = False) -> Any:
    rank, value = x.fake.dim(), x
    expect(rank > 0 and index.fake.dim() == rank, "an index of a scalar, or a scalar index")
    dim %= rank
    for axis, (extent, picked) in enumerate(zip(x.fake.shape, index.fake.shape)):
        if axis != dim and g.extent(extent) != g.extent(picked):
            value = narrow(g, value, axis, 0, g.number(picked))
    return g.call("gather", value, index, axis=dim)


@rule(aten.scatter.value, aten.scatter.src)
def _scatter(g: RuleContext, x: Any, dim: Any, index: Any, source: Any) -> Any:
    """A number, or an element of a tensor, in place of one element along a dim. An index out of
    range is an error in PyTorch; here it replaces nothing."""
    rank = x.fake.dim()
    expect(rank > 0 and index.fake.dim() == rank, "an index of a scalar, or a scalar index")
    dim %= rank
    fakes = [tensor.fake for tensor in (index, source) if g.is_tensor(tensor)]
    for axis, extent in enumerate(x.fake.shape):
        wanted = 1 if axis == dim else g.extent(extent)
        expect(all(g.extent(fake.shape[axis]) == wanted for fake in fakes),
               "several elements along a dim, or a part of another one")
    places = positions(g, g.extent(x.fake.shape[dim]), dim, rank)
    return g.call("where", g.call("equal", g.cast(index, torch.int64), places),
                  element(g, source, x.fake.dtype), x)


@rule(aten.embedding.default)
def _embedding(g: RuleContext, weight: Any, indices: Any, padding_idx: Any = -1,
               scale_grad_by_freq: bool = False, sparse: bool = False) -> Any:
    return rows_at(g, weight, indices, indices.fake)


@rule(aten.index_select.default)
def _index_select(g: RuleContext, x: Any, dim: Any, index: Any) -> Any:
    expect(x.fake.dim() > 0, "an index of a scalar")
    length = g.product(g.extents(index.fake.shape))
    return take(g, x, g.extents(x.fake.shape), dim % x.fake.dim(), index, length)


@rule(aten.index.Tensor, aten._unsafe_index.Tensor)
def _index(g: RuleContext, x: Any, indices: Any) -> Any:
    """One tensor of indices, or several for adjacent dims, which are taken as one dim."""
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    expect(bool(dims), "no index")
    expect(dims == list(range(dims[0], dims[-1] + 1)), "indices of dims that are not adjacent")
    for dim in dims:
        expect(indices[dim].fake.dtype in INTEGERS, f"indices of {indices[dim].fake.dtype}")
    picked = torch.broadcast_shapes(*(indices[dim].fake.shape for dim in dims))
    shape, flat_index = g.extents(x.fake.shape), None
    for dim in dims:
        own = _from_start(g, g.cast(indices[dim], torch.int64), x.fake.shape[dim])
        flat_index = own if flat_index is None else g.call(
            "add", g.call("mul", flat_index, g.number(x.fake.shape[dim])), own)
    length = g.product(g.extents(picked))
    flat_index = g.call("reshape", g.call("expand", flat_index, g.extents(picked)), [length])
    flat = shape[:dims[0]] + [g.product(shape[dims[0]:dims[-1] + 1])] + shape[dims[-1] + 1:]
    x = x if len(dims) == 1 else g.call("reshape", x, flat)
    return g.call("reshape", take(g, x, flat, dims[0], flat_index, length), g.extents(g.out.shape))


def _from_start(g: RuleContext, index: Any, extent: Any) -> Any:
    """Indices below 0 count from the end. Those out of range are an error in PyTorch; here they
    reach some element."""
    extent = extent_of(g, extent)
    return g.call("where", g.call("less", index, 0), g.call("add", index, extent), index)


def extent_of(g: RuleContext, extent: Any) -> Any:
    """An extent as a number, or as a scalar that is known at launch."""
    name = g.extent(extent)
    return name if isinstance(name, int) else g.call("extent", "i64", [name])


# --- by computed indices -------------------------------------------------------------------------


@rule(aten.unfold.default, views=True)
def _unfold(g: RuleContext, x: Any, dim: Any, size: Any, step: Any) -> Any:
    """Windows along a dim, as a new last dim."""
    rank = x.fake.dim()
    expect(rank > 0, "windows of a scalar")
    dim, count = dim % rank, g.number(g.out.shape[dim % rank])
    shape = g.extents(x.fake.shape)
    start = g.call("mul", positions(g, count, 0, 2), g.number(step))
    index = g.call("add", start, positions(g, size, 1, 2))
    flat = take(g, x, shape, dim, g.call("reshape", index, [count * size]), count * size)
    apart = g.call("reshape", flat, shape[:dim] + [count, size] + shape[dim + 1:])
    order = [i for i in range(rank + 1) if i != dim + 1] + [dim + 1]
    return g.call("permute", apart, order)


def _padding(index_at: Any) -> Callable[..., Any]:
    """Padding of the last dims by elements of x: `index_at` says which, for positions before 0 and
    beyond the last."""
    def pad(g: RuleContext, x: Any, padding: Any) -> Any:
        shape, value, rank = g.extents(x.fake.shape), x, x.fake.dim()
        for i in range(len(padding) // 2):
            dim, left = rank - 1 - i, g.number(padding[2 * i])
            extent, length = g.number(x.fake.shape[dim]), g.number(g.out.shape[dim])
            if extent == length and not left:
                continue
            index = g.call("sub", positions(g, length, 0, 1), left)
            value = take(g, value, shape, dim, index_at(g, index, extent - 1), length)
            shape[dim] = length
        return value
    return pad


def _nearest(g: RuleContext, index: Any, last: int) -> Any:
    return g.call("minimum", g.call("maximum", index, 0), last)


def _mirrored(g: RuleContext, index: Any, last: int) -> Any:
    from_end = g.call("sub", last, g.call("abs", index))
    return g.call("sub", last, g.call("abs", from_end))


for _dims in (1, 2, 3):
    rule(getattr(aten, f"replication_pad{_dims}d").default, moves=True)(_padding(_nearest))
    rule(getattr(aten, f"reflection_pad{_dims}d").default, moves=True)(_padding(_mirrored))
