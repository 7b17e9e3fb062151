# SPDX-License-Identifier: Apache-2.0
"""Pooling of the last one to three dims. Runs that fill a dim are reduced; windows that overlap
are slices, one for each offset in a window, which are combined."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.movement import padded
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import constant, narrow, positions, strided

#: The most slices that one graph combines.
MOST_OFFSETS = 128


class Windows(NamedTuple):
    """The positions of windows, dim by dim, with the extents before and after."""
    sizes: list[int]
    results: list[int]
    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]

    def apart(self) -> bool:
        """Whether the windows are adjacent runs from the first element on."""
        return (self.kernel == self.stride and not any(self.padding)
                and all(d == 1 for d in self.dilation)
                and all(n * k <= size for n, k, size in zip(self.results, self.kernel, self.sizes)))


def _windows(g: RuleContext, dims: Any, x: Any, out: Any, kernel: Any, stride: Any, padding: Any,
             dilation: Any = (1,)) -> Windows:
    def each(values: Any) -> Any:
        values = [g.number(value) for value in values]
        return values * dims if len(values) == 1 else values
    kernel = each(kernel)
    return Windows([g.number(extent) for extent in x.fake.shape[-dims:]],
                   [g.number(extent) for extent in out.shape[-dims:]],
                   kernel, each(stride) if stride else kernel, each(padding), each(dilation))


def _runs(g: RuleContext, op: str, x: Any, w: Windows) -> Any:
    """A reduction over runs."""
    dims, value = len(w.kernel), x
    outer = g.extents(x.fake.shape)[:-dims]
    for i, (n, k) in enumerate(zip(w.results, w.kernel)):
        if n * k < w.sizes[i]:
            value = narrow(g, value, i - dims, 0, n * k)
    apart = outer + [extent for pair in zip(w.results, w.kernel) for extent in pair]
    axes = [len(outer) + 2 * i + 1 for i in range(dims)]
    return g.call(op, g.call("reshape", value, apart), axis=axes)


def _combined(g: RuleContext, op: str, x: Any, w: Windows, outside: Any) -> Any:
    """The elements at each offset in the windows, one offset after the other."""
    count = math.prod(w.kernel)
    expect(count <= MOST_OFFSETS,
           f"windows of {count} elements that overlap, expected at most {MOST_OFFSETS}")
    dims, shape = len(w.kernel), g.extents(x.fake.shape)
    sides = {}
    for i in range(dims):
        last = (w.results[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i]
        beyond = max(last - w.padding[i] - w.sizes[i] + 1, 0)
        sides[len(shape) - dims + i] = (w.padding[i], beyond)
    x, shape = padded(g, x, shape, sides, outside)
    result = None
    for offsets in itertools.product(*map(range, w.kernel)):
        ranges = {}
        for i, offset in enumerate(offsets):
            start = offset * w.dilation[i]
            ranges[len(shape) - dims + i] = (
                start, start + (w.results[i] - 1) * w.stride[i] + 1, w.stride[i])
        part = strided(g, x, shape, ranges)
        result = part if result is None else g.call(op, result, part)
    return result


def _max_pool(dims: int) -> Callable[..., Any]:
    def pool(g: RuleContext, x: Any, kernel: Any, stride: Any = (), padding: Any = (0,),
             dilation: Any = (1,), ceil_mode: bool = False) -> Any:
        """(maxima, their positions); NaN is the greatest."""
        dtype = x.fake.dtype
        w = _windows(g, dims, x, g.out[0], kernel, stride, padding, dilation)
        if w.apart():
            return _runs(g, "amax", x, w), None
        least = -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min
        return _combined(g, "maximum", x, w, constant(g, least, dtype)), None
    return pool


rule(aten.max_pool2d_with_indices.default)(_max_pool(2))
rule(aten.max_pool3d_with_indices.default)(_max_pool(3))


def _counts(g: RuleContext, w: Windows, i: int, count_include_pad: bool) -> Any:
    """The number of elements that each window counts in one dim: a vector, or a number where all
    are equal. Padding counts or not; elements beyond it, as with ceil_mode, never do."""
    size, padding, kernel = w.sizes[i], w.padding[i], w.kernel[i]
    low, high = (-padding, size + padding) if count_include_pad else (0, size)
    starts = [n * w.stride[i] - padding for n in range(w.results[i])]
    counts = {min(start + kernel, high) - max(start, low) for start in starts}
    if len(counts) == 1:
        return counts.pop()
    dims = len(w.kernel)
    start = g.call("sub", g.call("mul", positions(g, w.results[i], i, dims), w.stride[i]), padding)
    stop = g.call("minimum", g.call("add", start, kernel), high)
    return g.call("sub", stop, g.call("maximum", start, low))


def _avg_pool(dims: int) -> Callable[..., Any]:
    def pool(g: RuleContext, x: Any, kernel: Any, stride: Any = (), padding: Any = (0,),
             ceil_mode: bool = False, count_include_pad: bool = True,
             divisor_override: Any = None) -> Any:
        dtype = g.out.dtype
        expect(dtype.is_floating_point, f"an average of {dtype}")
        w = _windows(g, dims, x, g.out, kernel, stride, padding)
        if w.apart() and divisor_override is None:
            return _runs(g, "mean", x, w)
        total = (_runs(g, "sum", x, w) if w.apart() else
                 _combined(g, "add", x, w, constant(g, 0, dtype)))
        if divisor_override is not None:
            return g.call("div", total, g.number(divisor_override))
        number, vectors = 1, []
        for i in range(dims):
            count = _counts(g, w, i, count_include_pad)
            if isinstance(count, int):
                number *= count
            else:
                vectors.append(count)
        if number != 1:
            total = g.call("div", total, number)
        for vector in vectors:
            total = g.call("div", total, g.call("cast", vector, g.dtype(dtype)))
        return total
    return pool


rule(aten.avg_pool2d.default)(_avg_pool(2))
rule(aten.avg_pool3d.default)(_avg_pool(3))


@rule(aten._adaptive_avg_pool2d.default)
def _adaptive_avg_pool2d(g: RuleContext, x: Any, output_size: Any) -> Any:
    w = _even_windows(g, 2, x, g.out)
    return _runs(g, "mean", x, w)


@rule(aten.adaptive_max_pool2d.default)
def _adaptive_max_pool2d(g: RuleContext, x: Any, output_size: Any) -> Any:
    w = _even_windows(g, 2, x, g.out[0])
    return _runs(g, "amax", x, w), None


def _even_windows(g: RuleContext, dims: int, x: Any, out: Any) -> Windows:
    """Windows that share a dim evenly."""
    sizes = [g.number(extent) for extent in x.fake.shape[-dims:]]
    results = [g.number(extent) for extent in out.shape[-dims:]]
    expect(all(size % n == 0 for size, n in zip(sizes, results)),
           f"adaptive pooling from {sizes} to {results}: windows of several sizes")
    kernel = [size // n for size, n in zip(sizes, results)]
    return Windows(sizes, results, kernel, kernel, [0] * dims, [1] * dims)
