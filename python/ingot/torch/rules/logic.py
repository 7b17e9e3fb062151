# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic of bools, and choices."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import element, filled


def _comparison(op: str) -> Callable[..., Any]:
    """Compares in the type in which PyTorch does, to which numbers are rounded."""
    orders = op not in ("equal", "not_equal")

    def compare(g: RuleContext, a: Any, b: Any) -> Any:
        dtype = torch.result_type(*(x.fake if g.is_tensor(x) else g.number(x) for x in (a, b)))
        a, b = (element(g, g.rounded(x), dtype) for x in (a, b))
        if dtype == torch.bool and orders:
            a, b = g.call("cast", a, "i32"), g.call("cast", b, "i32")
        return g.call(op, a, b)
    return compare


for _aten, _op in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
                   "gt": "greater", "ge": "greater_equal"}.items():
    for _overload in ("Tensor", "Scalar"):
        rule(getattr(getattr(aten, _aten), _overload))(_comparison(_op))


def _logical(op: str) -> Callable[..., Any]:
    return lambda g, *operands: g.call(op, *(g.cast(x, torch.bool) for x in operands))


for _aten, _op in {"logical_and": "and", "logical_or": "or", "logical_not": "not",
                   "logical_xor": "not_equal"}.items():
    rule(getattr(aten, _aten).default)(_logical(_op))


def _bitwise(op: str) -> Callable[..., Any]:
    def combine(g: RuleContext, *operands: Any) -> Any:
        expect(g.out.dtype == torch.bool, "bits of integers")
        return g.call(op, *(element(g, x, torch.bool) for x in operands))
    return combine


for _aten, _op in {"and": "and", "or": "or", "xor": "not_equal"}.items():
    for _overload in ("Tensor", "Scalar"):
        rule(getattr(getattr(aten, f"bitwise_{_aten}"), _overload))(_bitwise(_op))
rule(aten.bitwise_not.default)(_bitwise("not"))


def _is_float(x: Any) -> bool:
    return x.fake.dtype.is_floating_point


@rule(aten.isnan.default)
def _isnan(g: RuleContext, x: Any) -> bool:
    """x need not be rounded: no number is rounded to NaN."""
    return g.call("is_nan", x) if _is_float(x) else filled(g, False, g.out)


@rule(aten.isinf.default)
def _isinf(g: RuleContext, x: Any) -> bool:
    return g.call("is_inf", g.rounded(x)) if _is_float(x) else filled(g, False, g.out)


@rule(aten.isposinf.default)
def _isposinf(g: RuleContext, x: Any) -> bool:
    return g.call("equal", g.rounded(x), math.inf) if _is_float(x) else filled(g, False, g.out)


@rule(aten.isneginf.default)
def _isneginf(g: RuleContext, x: Any) -> bool:
    return g.call("equal", g.rounded(x), -math.inf) if _is_float(x) else filled(g, False, g.out)


@rule(aten.where.self)
def _where(g: RuleContext, condition: Any, a: Any, b: Any) -> Any:
    a, b = (element(g, x, g.out.dtype) for x in (a, b))
    return g.call("where", g.cast(condition, torch.bool), a, b)


@rule(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def _masked_fill(g: RuleContext, x: Any, mask: Any, value: Any) -> Any:
    return g.call("where", mask, element(g, value, g.out.dtype), x)


def _triangle(op: str) -> Callable[..., Any]:
    return lambda g, x, diagonal=0: g.call(op, x, diagonal=g.number(diagonal))


rule(aten.tril.default)(_triangle("tril"))
rule(aten.triu.default)(_triangle("triu"))
