# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""
from __future__ import annotations

from ingot.torch.rules.registry import aten, rule


@rule(aten.mm.default, aten.bmm.default)
def _mm(g, a, b):
    return g.matmul(a, b)


@rule(aten.mv.default)
def _mv(g, a, v):
    column = g.call("matmul", a, g.call("unsqueeze", v, axis=1))
    return g.call("squeeze", column, axis=1)


@rule(aten.dot.default)
def _dot(g, a, b):
    return g.call("sum", g.call("mul", a, b))


@rule(aten.linear.default)
def _linear(g, x, w, b=None):
    return g.call("linear", x, w, b)


@rule(aten.addmm.default, aten.baddbmm.default)
def _addmm(g, bias, a, b, *, beta=1, alpha=1):
    product = g.scaled(g.matmul(a, b), alpha)
    return product if beta == 0 else g.call("add", product, g.scaled(bias, beta))
