# SPDX-License-Identifier: Apache-2.0
"""Losses. Operands of several element types are brought to the result's."""
from __future__ import annotations

from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.indexing import rows_at
from ingot.torch.rules.registry import aten, rule
from ingot.torch.rules.values import average, constant


def _both(g: RuleContext, x: Any, target: Any) -> Any:
    dtype = g.out.dtype
    return g.cast(x, dtype), g.cast(target, dtype)


def _like(x: Any, target: Any) -> torch.Tensor:
    return x.fake if x.fake.dim() >= target.fake.dim() else target.fake


@rule(aten.mse_loss.default)
def _mse_loss(g: RuleContext, x: Any, target: Any, reduction: Any = 1) -> Any:
    a, b = _both(g, x, target)
    return average(g, g.call("mse_loss", a, b, reduction="none"), _like(x, target), reduction)


@rule(aten.smooth_l1_loss.default)
def _smooth_l1_loss(g: RuleContext, x: Any, target: Any, reduction: Any = 1,
                    beta: Any = 1.0) -> Any:
    a, b = _both(g, x, target)
    losses = (g.call("l1_loss", a, b, reduction="none") if beta == 0 else
              g.call("smooth_l1_loss", a, b, beta=beta, reduction="none"))
    return average(g, losses, _like(x, target), reduction)


@rule(aten.huber_loss.default)
def _huber_loss(g: RuleContext, x: Any, target: Any, reduction: Any = 1, delta: Any = 1.0) -> Any:
    a, b = _both(g, x, target)
    losses = g.call("huber_loss", a, b, delta=delta, reduction="none")
    return average(g, losses, _like(x, target), reduction)


@rule(aten.soft_margin_loss.default)
def _soft_margin_loss(g: RuleContext, x: Any, target: Any, reduction: Any = 1) -> Any:
    a, b = _both(g, x, target)
    losses = g.call("log1p", g.call("exp", g.call("neg", g.call("mul", b, a))))
    return average(g, losses, _like(x, target), reduction)


@rule(aten.binary_cross_entropy.default)
def _binary_cross_entropy(g: RuleContext, x: Any, target: Any, weight: Any = None,
                          reduction: Any = 1) -> Any:
    """Logarithms are at least -100."""
    x_of_true = g.call("maximum", g.call("log", x), -100.0)
    x_of_false = g.call("maximum", g.call("log1p", g.call("neg", x)), -100.0)
    losses = g.call("sub", g.call("mul", g.call("sub", target, 1), x_of_false),
                    g.call("mul", target, x_of_true))
    if weight is not None:
        losses = g.call("mul", losses, weight)
    return average(g, losses, x.fake, reduction)


@rule(aten.binary_cross_entropy_with_logits.default)
def _binary_cross_entropy_with_logits(g: RuleContext, x: Any, target: Any, weight: Any = None,
                                      pos_weight: Any = None, reduction: Any = 1) -> Any:
    a, b = _both(g, x, target)
    log_sigmoid = g.call("log_sigmoid", a)
    if pos_weight is not None:
        more = g.call("mul", g.call("sub", g.cast(pos_weight, g.out.dtype), 1), b)
        log_sigmoid = g.call("mul", g.call("add", more, 1), log_sigmoid)
    losses = g.call("sub", g.call("mul", g.call("sub", 1, b), a), log_sigmoid)
    if weight is not None:
        losses = g.call("mul", losses, g.cast(weight, g.out.dtype))
    return average(g, losses, _like(x, target), reduction)


@rule(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def _nll_loss(g: RuleContext, x: Any, target: Any, weight: Any, reduction: Any,
              ignore_index: Any) -> Any:
    """(loss, sum of the weights that count). Classes are dim 1, of a vector dim 0."""
    dtype, fake = x.fake.dtype, target.fake
    axis = min(x.fake.dim() - 1, 1)
    counts = g.call("not_equal", target, constant(g, ignore_index, fake.dtype))
    index = g.call("where", counts, target, constant(g, 0, fake.dtype))
    picked = g.call("gather", x, g.call("unsqueeze", index, axis=axis), axis=axis)
    zero = constant(g, 0, dtype)
    losses = g.call("neg", g.call("squeeze", picked, axis=axis))
    weights = g.call("cast", counts, g.dtype(dtype))
    if weight is not None:
        weights = g.call("where", counts, rows_at(g, weight, index, fake), zero)
        losses = g.call("mul", losses, weights)
    losses = g.call("where", counts, losses, zero)
    if reduction == 0:
        return losses, None
    total, total_weight = average(g, losses, fake, 2), average(g, weights, fake, 2)
    return total if reduction == 2 else g.call("div", total, total_weight), total_weight
