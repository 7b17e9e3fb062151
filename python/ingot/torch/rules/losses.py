# SPDX-License-Identifier: Apache-2.0
"""Losses."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, expect, rule


_REDUCTIONS = ("none", "mean", "sum")


@rule(aten.mse_loss.default)
def _mse_loss(g, x, target, reduction=1):
    return g.call("mse_loss", x, target, reduction=_REDUCTIONS[reduction])


@rule(aten.smooth_l1_loss.default)
def _smooth_l1_loss(g, x, target, reduction=1, beta=1.0):
    return g.call("smooth_l1_loss", x, target, beta=beta, reduction=_REDUCTIONS[reduction])


@rule(aten.huber_loss.default)
def _huber_loss(g, x, target, reduction=1, delta=1.0):
    return g.call("huber_loss", x, target, delta=delta, reduction=_REDUCTIONS[reduction])


@rule(aten.nll_loss_forward.default)
def _nll_loss(g, x, target, weight, reduction, ignore_index):
    expect(weight is None, "weights of classes")
    counts = g.call("not_equal", target, ignore_index)
    index = g.call("where", counts, target, g.call("constant", 0, "i64"))
    axis = x.fake.dim() - 1
    picked = g.call("gather", x, g.call("unsqueeze", index, axis=axis), axis=axis)
    zero = g.call("constant", 0, g.dtype(x.fake.dtype))
    losses = g.call("where", counts, g.call("neg", g.call("squeeze", picked, axis=axis)), zero)
    if reduction == 0:
        return losses, None
    total = g.call("sum", losses)
    if reduction == 2:
        return total, None
    return g.call("div", total, g.call("sum", g.call("cast", counts, g.dtype(x.fake.dtype)))), None
