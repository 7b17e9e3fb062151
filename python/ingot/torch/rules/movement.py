# SPDX-License-Identifier: Apache-2.0
"""Operators that move or rename elements."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, rule


@rule(aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.unsqueeze.default,
      aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, views=True)
def _reshape(g, x, *_):
    return g.call("reshape", x, g.extents(g.out.shape))


@rule(aten.expand.default, views=True)
def _expand(g, x, *_, implicit=False):
    return g.call("expand", x, g.extents(g.out.shape))


@rule(aten.permute.default, views=True)
def _permute(g, x, dims):
    return g.call("permute", x, [d % x.fake.dim() for d in dims])


@rule(aten.t.default, views=True)
def _t(g, x):
    return g.call("permute", x, [1, 0]) if x.fake.dim() == 2 else x


@rule(aten.transpose.int, views=True)
def _transpose(g, x, a, b):
    order = list(range(x.fake.dim()))
    if order:
        order[a], order[b] = order[b], order[a]
    return g.call("permute", x, order) if order else x


@rule(aten.alias.default, aten.detach.default, views=True)
def _same(g, x):
    return x


@rule(aten.clone.default, aten.contiguous.default, aten.lift_fresh_copy.default, moves=True)
def _copy(g, x, *, memory_format=None):
    return x


@rule(aten._to_copy.default, moves=True)
def _to_copy(g, x, *, dtype=None, **others):
    return g.cast(x, g.out.dtype)


@rule(aten.slice.Tensor, views=True)
def _slice(g, x, dim=0, start=None, end=None, step=1):
    extent = x.fake.shape[dim]
    first = g.number(0 if start is None else start)
    if first < 0:
        first = max(first + g.number(extent), 0)
    if step == 1:
        if first == 0 and g.extent(g.out.shape[dim]) == g.extent(extent):
            return x
        return g.call("narrow", x, axis=dim, start=first, length=g.number(g.out.shape[dim]))
    rank = x.fake.dim()
    starts, stops, steps = [0] * rank, [-1] * rank, [1] * rank
    starts[dim], steps[dim] = first, step
    for axis in range(rank):
        if isinstance(x.fake.shape[axis], int):
            stops[axis] = x.fake.shape[axis]
    stops[dim] = min(first + step * g.number(g.out.shape[dim]), g.number(extent))
    return g.call("slice", x, starts, stops, steps)


@rule(aten.select.int, views=True)
def _select(g, x, dim, index):
    index = g.number(index)
    if index < 0:
        index += g.number(x.fake.shape[dim])
    one = g.call("narrow", x, axis=dim, start=index, length=1)
    return g.call("reshape", one, g.extents(g.out.shape))


def _pieces(g, x, lengths, dim):
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple(g.call("narrow", x, axis=dim, start=start, length=length)
                 for start, length in zip(starts, lengths))


@rule(aten.split.Tensor, aten.split_with_sizes.default, views=True)
def _split(g, x, sizes, dim=0):
    return _pieces(g, x, [g.number(piece.shape[dim]) for piece in g.out], dim)


@rule(aten.unbind.int, views=True)
def _unbind(g, x, dim=0):
    pieces = _pieces(g, x, [1] * g.number(x.fake.shape[dim]), dim)
    return tuple(g.call("reshape", piece, g.extents(g.out[0].shape)) for piece in pieces)


@rule(aten.cat.default, moves=True)
def _cat(g, tensors, dim=0):
    kept = [x for x in tensors if x.fake.shape != (0,)]  # cat skips them, whatever the others are
    return g.call("concat", [g.cast(x, g.out.dtype) for x in kept], axis=dim)


@rule(aten.stack.default, moves=True)
def _stack(g, tensors, dim=0):
    axis = dim % g.out.dim()
    return g.call("concat", [g.call("unsqueeze", g.cast(x, g.out.dtype), axis=axis)
                             for x in tensors], axis=axis)


@rule(aten.flip.default, moves=True)
def _flip(g, x, dims):
    for dim in dims:
        x = g.call("flip", x, axis=dim)
    return x


@rule(aten.repeat.default, moves=True)
def _repeat(g, x, repeats):
    extents = [1] * (len(repeats) - x.fake.dim()) + g.extents(x.fake.shape)
    counts = g.extents(repeats)
    apart = [e for extent in extents for e in (1, extent)]
    spread = [e for pair in zip(counts, extents) for e in pair]
    x = g.call("expand", g.call("reshape", x, apart), spread)
    return g.call("reshape", x, g.extents(g.out.shape))
