# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans along dims. A scalar has no dims: it is reduced as its one element."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import as_vector, constant, reduced


def _reduction(op: str) -> Callable[..., Any]:
    """A reduction in the element type of the result."""
    def reduce(g: RuleContext, x: Any, dim: Any = None, keepdim: bool = False, *,
               dtype: Any = None) -> Any:
        return reduced(g, op, g.cast(x, g.out.dtype), x.fake.dim(), dim, keepdim)
    return reduce


rule(aten.sum.dim_IntList, aten.sum.default)(_reduction("sum"))
rule(aten.mean.dim, aten.mean.default)(_reduction("mean"))
rule(aten.logsumexp.default)(_reduction("logsumexp"))
rule(aten.prod.default, aten.prod.dim_int)(_reduction("prod"))


def extreme(g: RuleContext, op: str, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """amax or amin. Bools are compared as numbers."""
    if x.fake.dtype != torch.bool:
        return reduced(g, op, x, x.fake.dim(), dim, keepdim)
    numbers = reduced(g, op, g.cast(x, torch.int32), x.fake.dim(), dim, keepdim)
    return g.call("cast", numbers, "bool")


def _extreme(op: str) -> Callable[..., Any]:
    return lambda g, x, dim=None, keepdim=False: extreme(g, op, x, dim, keepdim)


rule(aten.amax.default, aten.max.default)(_extreme("amax"))
rule(aten.amin.default, aten.min.default)(_extreme("amin"))


@rule(aten.aminmax.default)
def _aminmax(g: RuleContext, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    return extreme(g, "amin", x, dim, keepdim), extreme(g, "amax", x, dim, keepdim)


def index_of(g: RuleContext, op: str, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """argmax or argmin: the first index along dim, or of all elements in order."""
    if x.fake.dtype == torch.bool:
        x = g.cast(x, torch.int32)
    x = g.rounded(x)
    if x.fake.dim() == 0:
        return g.call(op, as_vector(g, x, 0), axis=0)
    return g.call(op, x, axis=dim, keepdim=keepdim)


def _index_of(op: str) -> Callable[..., Any]:
    return lambda g, x, dim=None, keepdim=False: index_of(g, op, x, dim, keepdim)


rule(aten.argmax.default)(_index_of("argmax"))
rule(aten.argmin.default)(_index_of("argmin"))


@rule(aten.max.dim)
def _max_dim(g: RuleContext, x: Any, dim: Any, keepdim: bool = False) -> Any:
    return extreme(g, "amax", x, dim, keepdim), index_of(g, "argmax", x, dim, keepdim)


@rule(aten.min.dim)
def _min_dim(g: RuleContext, x: Any, dim: Any, keepdim: bool = False) -> Any:
    return extreme(g, "amin", x, dim, keepdim), index_of(g, "argmin", x, dim, keepdim)


def _truth(op: str) -> Callable[..., Any]:
    """any or all. An empty list of dims means none of them; NaN is true."""
    def reduce(g: RuleContext, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        expect(g.out.dtype == torch.bool, f"a truth of {g.out.dtype}")
        truth = g.cast(x, torch.bool)
        return truth if dim == [] else g.call(op, truth, axis=dim, keepdim=keepdim)
    return reduce


for _op in ("any", "all"):
    for _overload in ("default", "dim", "dims"):
        rule(getattr(getattr(aten, _op), _overload))(_truth(_op))


@rule(aten.count_nonzero.default, aten.count_nonzero.dim_IntList)
def _count_nonzero(g: RuleContext, x: Any, dim: Any = None) -> Any:
    counted = g.call("cast", g.cast(x, torch.bool), "i64")
    return reduced(g, "sum", counted, x.fake.dim(), dim)


@rule(aten.nansum.default)
def _nansum(g: RuleContext, x: Any, dim: Any = None, keepdim: bool = False, *,
            dtype: Any = None) -> Any:
    rank, is_float = x.fake.dim(), x.fake.dtype.is_floating_point
    x = g.cast(x, g.out.dtype)
    if is_float:
        x = g.call("where", g.call("is_nan", x), constant(g, 0, g.out.dtype), x)
    return reduced(g, "sum", x, rank, dim, keepdim)


# --- statistics and norms ------------------------------------------------------------------------


def _variance(g: RuleContext, op: str, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    return reduced(g, op, x, x.fake.dim(), dim, keepdim,
                   correction=1 if correction is None else g.number(correction))


@rule(aten.var.correction)
def _var(g: RuleContext, x: Any, dim: Any = None, *, correction: Any = None,
         keepdim: bool = False) -> Any:
    return _variance(g, "var", x, dim, correction, keepdim)


@rule(aten.std.correction)
def _std(g: RuleContext, x: Any, dim: Any = None, *, correction: Any = None,
         keepdim: bool = False) -> Any:
    return _variance(g, "std", x, dim, correction, keepdim)


def _with_mean(op: str) -> Callable[..., Any]:
    def reduce(g: RuleContext, x: Any, dim: Any = None, *, correction: Any = None,
               keepdim: bool = False) -> Any:
        return (_variance(g, op, x, dim, correction, keepdim),
                reduced(g, "mean", x, x.fake.dim(), dim, keepdim))
    return reduce


rule(aten.var_mean.correction)(_with_mean("var"))
rule(aten.std_mean.correction)(_with_mean("std"))


def norm_operand(g: RuleContext, x: Any, order: Any) -> Any:
    """x in the element type of the result, as `norm` takes it."""
    return g.cast(g.rounded(x) if g.number(order) == 0 else x, g.out.dtype)


def norm(g: RuleContext, x: Any, rank: int, order: Any, dim: Any = None,
         keepdim: bool = False) -> Any:
    """The vector norm of any order, of x in the element type of the result. Order 0 counts the
    elements that are not 0, so x must hold numbers of its own type there."""
    order = g.number(order)
    if order == 0:
        counted = g.call("cast", g.call("not_equal", x, 0.0), g.dtype(g.out.dtype))
        return reduced(g, "sum", counted, rank, dim, keepdim)
    if order == -math.inf:
        return reduced(g, "amin", g.call("abs", x), rank, dim, keepdim)
    if order < 0:
        powers = g.call("pow", g.call("abs", x), float(order))
        return g.call("pow", reduced(g, "sum", powers, rank, dim, keepdim), 1 / order)
    return reduced(g, "norm", x, rank, dim, keepdim, p=order)


@rule(aten.linalg_vector_norm.default)
def _vector_norm(g: RuleContext, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *,
                 dtype: Any = None) -> Any:
    return norm(g, norm_operand(g, x, ord), x.fake.dim(), ord, dim, keepdim)


@rule(aten.norm.Scalar, aten.norm.ScalarOpt_dim, aten.norm.ScalarOpt_dim_dtype,
      aten.norm.ScalarOpt_dtype)
def _norm(g: RuleContext, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, *,
          dtype: Any = None) -> Any:
    order = 2 if p is None else p
    return norm(g, norm_operand(g, x, order), x.fake.dim(), order, dim, keepdim)


@rule(aten.dist.default)
def _dist(g: RuleContext, a: Any, b: Any, p: Any = 2) -> Any:
    difference = g.call("sub", norm_operand(g, a, p), norm_operand(g, b, p))
    return norm(g, difference, max(a.fake.dim(), b.fake.dim()), p)


# --- along one dim -------------------------------------------------------------------------------


def along_dim(g: RuleContext, op: str, x: Any, dim: int) -> Any:
    """An operator whose result has the shape of x, in the element type of the result."""
    rank = x.fake.dim()
    result = g.call(op, as_vector(g, g.cast(x, g.out.dtype), rank), axis=dim)
    return result if rank else g.call("reshape", result, [])


@rule(aten._softmax.default)
def _softmax(g: RuleContext, x: Any, dim: Any, half_to_float: bool = False) -> Any:
    return along_dim(g, "softmax", x, dim)


@rule(aten._safe_softmax.default)
def _safe_softmax(g: RuleContext, x: Any, dim: Any, dtype: Any = None) -> Any:
    """softmax, and 0 in rows that are -Inf throughout."""
    rank = x.fake.dim()
    x = as_vector(g, g.cast(g.rounded(x), g.out.dtype), rank)
    most, _ = g.call("max_sumexp", x, axis=dim, keepdim=True)
    result = g.call("where", g.call("equal", most, -math.inf), constant(g, 0, g.out.dtype),
                    g.call("softmax", x, axis=dim))
    return result if rank else g.call("reshape", result, [])


@rule(aten._log_softmax.default)
def _log_softmax(g: RuleContext, x: Any, dim: Any, half_to_float: bool = False) -> Any:
    return along_dim(g, "log_softmax", x, dim)


@rule(aten.cumsum.default)
def _cumsum(g: RuleContext, x: Any, dim: Any, *, dtype: Any = None) -> Any:
    return along_dim(g, "cumsum", x, dim)


@rule(aten.cumprod.default)
def _cumprod(g: RuleContext, x: Any, dim: Any, *, dtype: Any = None) -> Any:
    return along_dim(g, "cumprod", x, dim)
