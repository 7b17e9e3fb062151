# SPDX-License-Identifier: Apache-2.0
"""Pooling."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, expect, rule


def _pool2d(g, op, x, kernel, stride, padding, dilation, ceil_mode):
    kernel = list(kernel) * (2 // len(kernel))
    stride = (list(stride) * (2 // len(stride))) if stride else kernel
    expect(stride == kernel, "windows that overlap or leave gaps")
    expect(not any(padding) and all(d == 1 for d in dilation) and not ceil_mode,
           "pooling with padding, dilation or ceil_mode")
    *outer, height, width = g.extents(x.fake.shape)
    sizes = [g.number(extent) for extent in x.fake.shape[-2:]]
    for axis, (size, window) in enumerate(zip(sizes, kernel)):
        if size % window:
            x = g.wrap(g.call("narrow", x, axis=axis - 2, start=0, length=size // window * window))
    apart = [*outer, sizes[0] // kernel[0], kernel[0], sizes[1] // kernel[1], kernel[1]]
    rank = len(apart)
    return g.call(op, g.call("reshape", x, apart), axis=[rank - 3, rank - 1])


@rule(aten.avg_pool2d.default)
def _avg_pool2d(g, x, kernel, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True,
                divisor_override=None):
    expect(divisor_override is None, "pooling with divisor_override")
    return _pool2d(g, "mean", x, kernel, stride, padding, (1,), ceil_mode)


@rule(aten.max_pool2d_with_indices.default)
def _max_pool2d(g, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    return _pool2d(g, "amax", x, kernel, stride, padding, dilation, ceil_mode), None
