# SPDX-License-Identifier: Apache-2.0
"""Operators that pick elements by an index."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, rule


@rule(aten.gather.default)
def _gather(g, x, dim, index, *, sparse_grad=False):
    return g.call("gather", x, index, axis=dim)


@rule(aten.embedding.default)
def _embedding(g, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    shape = g.extents(g.out.shape)
    flat = [g.product(shape[:-1]), shape[-1]]
    index = g.call("expand", g.call("reshape", indices, [flat[0], 1]), flat)
    return g.call("reshape", g.call("gather", weight, index, axis=0), shape)
