# SPDX-License-Identifier: Apache-2.0
"""Operators that move or rename elements."""
from __future__ import annotations

from typing import Any

from ingot.specs import Extent
from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import broadcast_to, constant, narrow, positions, strided


@rule(aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.unsqueeze.default,
      aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, views=True)
def _reshape(g: RuleContext, x: Any, *_: Any) -> Any:
    return g.call("reshape", x, g.extents(g.out.shape))


@rule(aten.expand.default, views=True)
def _expand(g: RuleContext, x: Any, *_: Any, implicit: bool = False) -> Any:
    return g.call("expand", x, g.extents(g.out.shape))


@rule(aten.permute.default, views=True)
def _permute(g: RuleContext, x: Any, dims: Any) -> Any:
    return g.call("permute", x, [d % x.fake.dim() for d in dims])


@rule(aten.t.default, views=True)
def _t(g: RuleContext, x: Any) -> Any:
    return g.call("permute", x, [1, 0]) if x.fake.dim() == 2 else x


@rule(aten.transpose.int, views=True)
def _transpose(g: RuleContext, x: Any, a: Any, b: Any) -> Any:
    order = list(range(x.fake.dim()))
    if order:
        order[a], order[b] = order[b], order[a]
    return g.call("permute", x, order) if order else x


@rule(aten.alias.default, aten.detach.default, views=True)
def _same(g: RuleContext, x: Any) -> Any:
    return x


@rule(aten.clone.default, aten.contiguous.default, aten.lift_fresh_copy.default, moves=True)
def _copy(g: RuleContext, x: Any, *, memory_format: Any = None) -> Any:
    return x


@rule(aten._to_copy.default, moves=True)
def _to_copy(g: RuleContext, x: Any, *, dtype: Any = None, **others: Any) -> Any:
    return x if x.fake.dtype == g.out.dtype else g.cast(g.rounded(x), g.out.dtype)


@rule(aten.slice.Tensor, views=True)
def _slice(g: RuleContext, x: Any, dim: Any = 0, start: Any = None, end: Any = None,
           step: Any = 1) -> Any:
    extent = x.fake.shape[dim]
    first = g.number(0 if start is None else start)
    if first < 0:
        first = max(first + g.number(extent), 0)
    if step == 1:
        if first == 0 and g.extent(g.out.shape[dim]) == g.extent(extent):
            return x
        return g.call("narrow", x, axis=dim, start=first, length=g.number(g.out.shape[dim]))
    stop = min(first + step * g.number(g.out.shape[dim]), g.number(extent))
    return strided(g, x, x.fake.shape, {dim % x.fake.dim(): (first, stop, step)})


@rule(aten.select.int, views=True)
def _select(g: RuleContext, x: Any, dim: Any, index: Any) -> Any:
    index = g.number(index)
    if index < 0:
        index += g.number(x.fake.shape[dim])
    one = g.call("narrow", x, axis=dim, start=index, length=1)
    return g.call("reshape", one, g.extents(g.out.shape))


def _pieces(g: RuleContext, x: Any, lengths: Any, dim: Any) -> Any:
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple(g.call("narrow", x, axis=dim, start=start, length=length)
                 for start, length in zip(starts, lengths))


@rule(aten.unsafe_split.Tensor, aten.unsafe_split_with_sizes.default, views=True)
@rule(aten.split.Tensor, aten.split_with_sizes.default, views=True)
def _split(g: RuleContext, x: Any, sizes: Any, dim: Any = 0) -> Any:
    return _pieces(g, x, [g.number(piece.shape[dim]) for piece in g.out], dim)


@rule(aten.unbind.int, views=True)
def _unbind(g: RuleContext, x: Any, dim: Any = 0) -> Any:
    pieces = _pieces(g, x, [1] * g.number(x.fake.shape[dim]), dim)
    return tuple(g.call("reshape", piece, g.extents(g.out[0].shape)) for piece in pieces)


# --- joined and put into -------------------------------------------------------------------------


@rule(aten.cat.default, moves=True)
def _cat(g: RuleContext, tensors: Any, dim: Any = 0) -> Any:
    expect(all(isinstance(g.extent(x.fake.shape[dim]), int) for x in tensors) or len(tensors) == 1,
           "tensors joined along a size that may change")
    return g.call("concat", [g.cast(x, g.out.dtype) for x in tensors], axis=dim)


@rule(aten.stack.default, moves=True)
def _stack(g: RuleContext, tensors: Any, dim: Any = 0) -> Any:
    axis = dim % g.out.dim()
    return g.call("concat", [g.call("unsqueeze", g.cast(x, g.out.dtype), axis=axis)
                             for x in tensors], axis=axis)


def _put(g: RuleContext, x: Any, part: Any, dim: int, start: int, length: int) -> Any:
    """x with a part in place of its elements from `start` on, along one dim."""
    behind = start + length
    rest = g.number(x.fake.shape[dim]) - behind
    before = [narrow(g, x, dim, 0, start)] if start else []
    after = [narrow(g, x, dim, behind, rest)] if rest else []
    return g.call("concat", before + [part] + after, axis=dim)


@rule(aten.slice_scatter.default, moves=True)
def _slice_scatter(g: RuleContext, x: Any, source: Any, dim: Any = 0, start: Any = None,
                   end: Any = None, step: Any = 1) -> Any:
    dim, length = dim % x.fake.dim(), g.number(source.fake.shape[dim])
    extent, step = g.number(x.fake.shape[dim]), g.number(step)
    first = g.number(0 if start is None else start)
    first = min(max(first + extent if first < 0 else first, 0), extent)
    source = g.cast(source, g.out.dtype)
    if length == extent:
        return source
    expect(length > 0, "no elements")
    if step == 1:
        return _put(g, x, source, dim, first, length)
    # Each element is repeated up to the position of the next one.
    shape, rank = g.extents(x.fake.shape), x.fake.dim()
    apart = shape[:dim] + [length, 1] + shape[dim + 1:]
    repeated = shape[:dim] + [length, step] + shape[dim + 1:]
    source = g.call("expand", g.call("reshape", source, apart), repeated)
    source = g.call("reshape", source, shape[:dim] + [length * step] + shape[dim + 1:])
    source = g.call("window", source, axis=dim, start=-first, extent=extent)
    offset = g.call("sub", positions(g, extent, dim, rank), first)
    whole_steps = g.call("div", offset, step, rounding_mode="trunc")
    on_step = g.call("equal", offset, g.call("mul", whole_steps, step))
    is_before_end = g.call("less", offset, length * step)
    inside = g.call("and", g.call("greater_equal", offset, 0), is_before_end)
    return g.call("where", g.call("and", on_step, inside), source, x)


@rule(aten.select_scatter.default, moves=True)
def _select_scatter(g: RuleContext, x: Any, source: Any, dim: Any, index: Any) -> Any:
    rank = x.fake.dim()
    dim, extent = dim % rank, g.number(x.fake.shape[dim])
    source = g.call("unsqueeze", g.cast(source, g.out.dtype), axis=dim)
    return source if extent == 1 else _put(g, x, source, dim, g.number(index) % extent, 1)


@rule(aten.copy.default, moves=True)
def _copy_into(g: RuleContext, x: Any, source: Any, non_blocking: bool = False) -> Any:
    return broadcast_to(g, g.cast(source, g.out.dtype), g.out)


def padded(g: RuleContext, x: Any, shape: list[Extent], sides: dict[int, tuple[int, int]],
           outside: Any) -> tuple[Any, list[Extent]]:
    """x with scalars `outside` before and behind some dims, as many as `sides` has, and its
    extents."""
    shape = list(shape)
    for dim, (left, right) in sides.items():
        if not left and not right:
            continue
        extent, rank = g.number(shape[dim]), len(shape)
        shape[dim] = left + extent + right
        x = g.call("window", x, axis=dim, start=-left, extent=shape[dim])
        position = positions(g, shape[dim], dim, rank)
        inside = [g.call("greater_equal", position, left)] if left else []
        inside += [g.call("less", position, left + extent)] if right else []
        x = g.call("where", inside[0] if len(inside) == 1 else g.call("and", *inside), x, outside)
    return x, shape


@rule(aten.constant_pad_nd.default, moves=True)
def _constant_pad(g: RuleContext, x: Any, padding: Any, value: Any = 0) -> Any:
    """Padding; a negative one cuts off."""
    shape, sides = g.extents(x.fake.shape), {}
    for i in range(len(padding) // 2):
        dim, (left, right) = len(shape) - 1 - i, map(g.number, padding[2 * i:2 * i + 2])
        start, end = max(-left, 0), max(-right, 0)
        if start or end:
            length = g.number(shape[dim]) - start - end
            shape[dim] = length
            x = narrow(g, x, dim, start, length)
        sides[dim] = (max(left, 0), max(right, 0))
    x, _ = padded(g, x, shape, sides, constant(g, value, g.out.dtype))
    return x


@rule(aten.roll.default, moves=True)
def _roll(g: RuleContext, x: Any, shifts: Any, dims: Any = ()) -> Any:
    """Without dims, all elements in order are rolled."""
    shape = g.extents(x.fake.shape)
    if not x.fake.dim():
        return x
    if not dims:
        count = g.number(x.fake.numel())
        flat = _rolled(g, g.call("reshape", x, [count]), 0, g.number(shifts[0]), count)
        return g.call("reshape", flat, shape)
    for shift, dim in zip(shifts, dims):
        x = _rolled(g, x, dim % len(shape), g.number(shift), shape[dim])
    return x


def _rolled(g: RuleContext, x: Any, dim: int, shift: int, extent: Any) -> Any:
    if isinstance(extent, int) and shift % extent == 0:
        return x
    expect(isinstance(extent, int), "rolled along a dim whose extent is known at launch only")
    split = extent - shift % extent
    return g.call("concat", [narrow(g, x, dim, split, extent - split),
                             narrow(g, x, dim, 0, split)], axis=dim)


# --- in another order ----------------------------------------------------------------------------


@rule(aten.flip.default, moves=True)
def _flip(g: RuleContext, x: Any, dims: Any) -> Any:
    for dim in dims:
        x = g.call("flip", x, axis=dim)
    return x


@rule(aten.repeat.default, moves=True)
def _repeat(g: RuleContext, x: Any, repeats: Any) -> Any:
    extents = [1] * (len(repeats) - x.fake.dim()) + g.extents(x.fake.shape)
    counts = g.extents(repeats)
    apart = [e for extent in extents for e in (1, extent)]
    repeated = [e for pair in zip(counts, extents) for e in pair]
    x = g.call("expand", g.call("reshape", x, apart), repeated)
    return g.call("reshape", x, g.extents(g.out.shape))


@rule(aten.pixel_shuffle.default, moves=True)
def _pixel_shuffle(g: RuleContext, x: Any, factor: Any) -> Any:
    """Channels become pixels."""
    *outer, channels, height, width = g.extents(x.fake.shape)
    apart = outer + [g.number(channels) // factor**2, factor, factor, height, width]
    n = len(outer)
    x = g.call("permute", g.call("reshape", x, apart),
               [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return g.call("reshape", x, g.extents(g.out.shape))


@rule(aten.pixel_unshuffle.default, moves=True)
def _pixel_unshuffle(g: RuleContext, x: Any, factor: Any) -> Any:
    *outer, channels, height, width = g.extents(g.out.shape)
    apart = outer + [g.number(channels) // factor**2, height, factor, width, factor]
    n = len(outer)
    x = g.call("permute", g.call("reshape", x, apart),
               [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return g.call("reshape", x, g.extents(g.out.shape))


@rule(aten.as_strided.default, views=True)
def _as_strided(g: RuleContext, x: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Of a tensor that is all of its memory and lies in order: its elements in another order."""
    fake, strides = x.fake, [g.number(step) for step in stride]
    sizes, expected = [g.number(extent) for extent in size], 1
    expect(fake.is_contiguous() and not fake.storage_offset() and not storage_offset,
           "strides over memory that does not lie in order")
    order = sorted((dim for dim, extent in enumerate(sizes) if extent != 1),
                   key=lambda dim: -strides[dim])
    for dim in reversed(order):
        expect(strides[dim] == expected, "strides that leave gaps or overlap")
        expected *= sizes[dim]
    expect(expected == g.number(fake.numel()), "strides over a part of the memory")
    order += [dim for dim, extent in enumerate(sizes) if extent == 1]
    x = g.call("reshape", x, [sizes[dim] for dim in order])
    return g.call("permute", x, [order.index(dim) for dim in range(len(sizes))])
