# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans along dims."""
from __future__ import annotations

from ingot.torch.rules.registry import RULES, aten, rule


def _axes(x, dim) -> list[int]:
    """The axes that are reduced: all where none are given."""
    if dim is None or dim == []:
        return list(range(x.fake.dim()))
    return list(dim) if isinstance(dim, (list, tuple)) else [dim]


def _reduction(op: str):
    def reduce(g, x, dim=None, keepdim=False, *, dtype=None):
        x = g.cast(x, g.out.dtype)
        return g.call(op, x, axis=_axes(x, dim), keepdim=keepdim)
    return reduce


RULES[aten.sum.dim_IntList] = RULES[aten.sum.default] = _reduction("sum")
RULES[aten.mean.dim] = RULES[aten.mean.default] = _reduction("mean")
RULES[aten.amax.default], RULES[aten.amin.default] = _reduction("amax"), _reduction("amin")
RULES[aten.max.default], RULES[aten.min.default] = _reduction("amax"), _reduction("amin")
RULES[aten.logsumexp.default] = _reduction("logsumexp")
RULES[aten.prod.default] = RULES[aten.prod.dim_int] = _reduction("prod")


@rule(aten.max.dim)
def _max_dim(g, x, dim, keepdim=False):
    return (g.call("amax", x, axis=dim, keepdim=keepdim),
            g.call("argmax", x, axis=dim, keepdim=keepdim))


@rule(aten.min.dim)
def _min_dim(g, x, dim, keepdim=False):
    return (g.call("amin", x, axis=dim, keepdim=keepdim),
            g.call("argmin", x, axis=dim, keepdim=keepdim))


@rule(aten.argmax.default)
def _argmax(g, x, dim=None, keepdim=False):
    return g.call("argmax", x, axis=dim, keepdim=keepdim)


@rule(aten.argmin.default)
def _argmin(g, x, dim=None, keepdim=False):
    return g.call("argmin", x, axis=dim, keepdim=keepdim)


def _spread(op: str):
    def reduce(g, x, dim=None, *, correction=None, keepdim=False):
        return g.call(op, x, axis=_axes(x, dim), keepdim=keepdim,
                      correction=1 if correction is None else correction)
    return reduce


RULES[aten.var.correction], RULES[aten.std.correction] = _spread("var"), _spread("std")


@rule(aten.var_mean.correction)
def _var_mean(g, x, dim=None, *, correction=None, keepdim=False):
    return (_spread("var")(g, x, dim, correction=correction, keepdim=keepdim),
            g.call("mean", x, axis=_axes(x, dim), keepdim=keepdim))


@rule(aten.linalg_vector_norm.default)
def _norm(g, x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return g.call("norm", g.cast(x, g.out.dtype), p=ord, axis=_axes(x, dim), keepdim=keepdim)


@rule(aten._softmax.default)
def _softmax(g, x, dim, half_to_float=False):
    return g.call("softmax", g.cast(x, g.out.dtype), axis=dim)


@rule(aten._log_softmax.default)
def _log_softmax(g, x, dim, half_to_float=False):
    return g.call("log_softmax", g.cast(x, g.out.dtype), axis=dim)


@rule(aten.cumsum.default)
def _cumsum(g, x, dim, *, dtype=None):
    return g.call("cumsum", g.cast(x, g.out.dtype), axis=dim)


@rule(aten.cumprod.default)
def _cumprod(g, x, dim, *, dtype=None):
    return g.call("cumprod", g.cast(x, g.out.dtype), axis=dim)
