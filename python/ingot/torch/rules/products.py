# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors."""
from __future__ import annotations

from typing import Any

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, rule
from ingot.torch.rules.values import broadcast_to, filled, reduced


@rule(aten.mm.default, aten.bmm.default)
def _mm(g: RuleContext, a: Any, b: Any) -> Any:
    return g.matmul(a, b)


@rule(aten.mv.default)
def _mv(g: RuleContext, a: Any, v: Any) -> Any:
    return _matrix_by_vector(g, a, v)


def _matrix_by_vector(g: RuleContext, a: Any, v: Any) -> Any:
    column = g.call("matmul", a, g.call("unsqueeze", v, axis=1))
    return g.call("squeeze", column, axis=1)


@rule(aten.dot.default)
def _dot(g: RuleContext, a: Any, b: Any) -> Any:
    return g.call("sum", g.call("mul", a, b))


@rule(aten.linear.default)
def _linear(g: RuleContext, x: Any, w: Any, bias: Any = None) -> Any:
    return g.call("linear", x, w, bias)


@rule(aten.addmm.default, aten.baddbmm.default)
def _addmm(g: RuleContext, bias: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum(g, bias, lambda: g.matmul(a, b), beta, alpha)


@rule(aten.addbmm.default)
def _addbmm(g: RuleContext, bias: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum(g, bias, lambda: reduced(g, "sum", g.matmul(a, b), 3, 0), beta, alpha)


@rule(aten.addmv.default)
def _addmv(g: RuleContext, bias: Any, a: Any, v: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum(g, bias, lambda: _matrix_by_vector(g, a, v), beta, alpha)


@rule(aten.addr.default)
def _addr(g: RuleContext, bias: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    a, b = g.cast(a, g.out.dtype), g.cast(b, g.out.dtype)
    product = g.scaled(g.call("mul", g.call("unsqueeze", a, axis=1), b), alpha)
    return product if g.number(beta) == 0 else g.call("add", product, _part(g, bias, beta))


def _part(g: RuleContext, bias: Any, beta: Any) -> Any:
    return g.scaled(g.cast(bias, g.out.dtype), beta)


def _sum(g: RuleContext, bias: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta bias + alpha product(). A term with factor 0 is not computed: it may be NaN."""
    if g.number(alpha) == 0:
        return filled(g, 0, g.out) if g.number(beta) == 0 else broadcast_to(
            g, _part(g, bias, beta), g.out)
    result = g.scaled(product(), alpha)
    return result if g.number(beta) == 0 else g.call("add", result, _part(g, bias, beta))
