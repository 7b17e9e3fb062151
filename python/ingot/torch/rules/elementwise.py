# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and functions of each element by itself."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.element_types import INTEGERS
from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, expect, rule
from ingot.torch.rules.values import constant, element, filled, operand, rounded

_UNARY = {
    "abs": "abs", "neg": "neg", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "sin": "sin", "cos": "cos",
    "tanh": "tanh", "erf": "erf", "sigmoid": "sigmoid", "exp2": "exp2", "log2": "log2",
    "log10": "log10", "tan": "tan", "atan": "atan",
}
for _aten, _op in _UNARY.items():
    rule(getattr(aten, _aten).default)(
        lambda g, x, op=_op: g.call(op, g.cast(x, g.out.dtype)))

for _aten in ("floor", "ceil", "round", "trunc"):
    rule(getattr(aten, _aten).default)(lambda g, x, op=_aten: integral(g, x, op))


def integral(g: RuleContext, x: Any, op: str) -> Any:
    """floor, ceil, round or trunc; integers stay as they are."""
    if not g.out.dtype.is_floating_point:
        return x
    x = g.rounded(x)
    if op != "trunc":
        return g.call(op, x)
    return g.call("where", g.call("less", x, 0.0), g.call("ceil", x), g.call("floor", x))


@rule(aten.frac.default)
def _frac(g: RuleContext, x: Any) -> Any:
    x = g.rounded(x)
    return g.call("sub", x, integral(g, x, "trunc"))


@rule(aten.sign.default, aten.sgn.default)
def _sign(g: RuleContext, x: Any) -> Any:
    return x if g.out.dtype == torch.bool else g.call("sign", g.rounded(x))


# --- two operands --------------------------------------------------------------------------------


def arithmetic(g: RuleContext, op: str, a: Any, b: Any) -> Any:
    """An operation in the type of the result; numbers stay exact where that is a float type."""
    op = of_bools(op) if g.out.dtype == torch.bool else op
    return g.call(op, operand(g, a, g.out.dtype), operand(g, b, g.out.dtype))


def of_bools(op: str) -> str:
    """The operation that does the same with bools."""
    logic = {"mul": "and", "minimum": "and", "add": "or", "maximum": "or"}
    expect(op in logic, f"{op} of bools")
    return logic[op]


def _arithmetic(op: str) -> Callable[..., Any]:
    return lambda g, a, b: arithmetic(g, op, a, b)


for _op in ("mul", "div"):
    for _overload in ("Tensor", "Scalar"):
        rule(getattr(getattr(aten, _op), _overload))(_arithmetic(_op))
rule(aten.maximum.default)(_arithmetic("maximum"))
rule(aten.minimum.default)(_arithmetic("minimum"))
rule(aten.deg2rad.default)(lambda g, x: arithmetic(g, "mul", x, math.pi / 180))
rule(aten.rad2deg.default)(lambda g, x: arithmetic(g, "mul", x, 180 / math.pi))


def _of_numbers(op: str) -> Callable[..., Any]:
    """maximum or minimum. NaN counts only where both are NaN."""
    def choose(g: RuleContext, a: Any, b: Any) -> Any:
        if not g.out.dtype.is_floating_point:
            return arithmetic(g, op, a, b)
        a, b = (g.cast(g.rounded(x), g.out.dtype) for x in (a, b))
        number_or_b = g.call("where", g.call("is_nan", b), a, g.call(op, a, b))
        return g.call("where", g.call("is_nan", a), b, number_or_b)
    return choose


rule(aten.fmax.default)(_of_numbers("maximum"))
rule(aten.fmin.default)(_of_numbers("minimum"))


@rule(aten.add.Tensor, aten.add.Scalar)
def _add(g: RuleContext, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _combine(g, "add", a, b, alpha)


@rule(aten.sub.Tensor, aten.sub.Scalar)
def _sub(g: RuleContext, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _combine(g, "sub", a, b, alpha)


@rule(aten.rsub.Scalar, aten.rsub.Tensor)
def _rsub(g: RuleContext, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _combine(g, "sub", b, a, alpha)


def _combine(g: RuleContext, op: Any, a: Any, b: Any, alpha: Any) -> Any:
    if g.number(alpha) == 1:
        return arithmetic(g, op, a, b)
    expect(g.out.dtype != torch.bool, f"{op} of bools with alpha={alpha}")
    a, b = operand(g, a, g.out.dtype), operand(g, b, g.out.dtype)
    return g.call(op, a, b * alpha if g.is_number(b) else g.call("mul", b, alpha))


@rule(aten.div.Tensor_mode, aten.div.Scalar_mode)
def _div_mode(g: RuleContext, a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is None:
        return arithmetic(g, "div", a, b)
    return g.call("div", *_divided_integers(g, a, b), rounding_mode=rounding_mode)


@rule(aten.floor_divide.default, aten.floor_divide.Scalar)
def _floor_divide(g: RuleContext, a: Any, b: Any) -> Any:
    return _div_mode(g, a, b, "floor")


@rule(aten.fmod.Scalar, aten.fmod.Tensor)
def _fmod(g: RuleContext, a: Any, b: Any) -> Any:
    return g.call("fmod", *_divided(g, a, b))


@rule(aten.remainder.Scalar, aten.remainder.Tensor, aten.remainder.Scalar_Tensor)
def _remainder(g: RuleContext, a: Any, b: Any) -> Any:
    return g.call("remainder", *_divided(g, a, b))


def _divided(g: RuleContext, a: Any, b: Any) -> Any:
    """The operands of a remainder, rounded, since a remainder of floats jumps."""
    if not g.out.dtype.is_floating_point:
        return _divided_integers(g, a, b)
    return [element(g, g.rounded(x), g.out.dtype) for x in (a, b)]


def _divided_integers(g: RuleContext, a: Any, b: Any) -> Any:
    """The operands of a division to whole numbers. The quotient of floats would have to be exact,
    and division by zero raises an error."""
    expect(g.out.dtype in INTEGERS, f"division of {g.out.dtype} to whole numbers")
    expect(not g.is_tensor(b) and rounded(g, b, g.out.dtype) != 0,
           "division of integers by a divisor that may be zero")
    return operand(g, a, g.out.dtype), rounded(g, b, g.out.dtype)


@rule(aten.pow.Tensor_Scalar)
def _pow(g: RuleContext, x: Any, exponent: Any) -> Any:
    x, exponent = g.cast(x, g.out.dtype), g.number(exponent)
    if g.out.dtype in INTEGERS:
        return _integer_power(g, x, rounded(g, exponent, g.out.dtype))
    exponent = rounded(g, exponent, g.out.dtype)
    roots = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}  # another result at -0.0 and -Inf
    return g.call(roots[exponent], x) if exponent in roots else g.call("power", x, exponent)


def _integer_power(g: RuleContext, x: Any, exponent: int) -> Any:
    expect(0 <= exponent <= 64, f"integers to the power {exponent}")
    if exponent == 0:
        return filled(g, 1, g.out)
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else g.call("mul", result, x)
        exponent >>= 1
        x = g.call("mul", x, x) if exponent else x
    return result


@rule(aten.pow.Tensor_Tensor, aten.pow.Scalar)
def _pow_tensor(g: RuleContext, base: Any, exponent: Any) -> Any:
    return g.call("pow", element(g, base, g.out.dtype), g.cast(exponent, g.out.dtype))


@rule(aten.addcmul.default)
def _addcmul(g: RuleContext, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    product = g.call("mul", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))
    return g.call("add", g.cast(x, g.out.dtype), g.scaled(product, value))


@rule(aten.addcdiv.default)
def _addcdiv(g: RuleContext, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    quotient = g.call("div", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))
    return g.call("add", g.cast(x, g.out.dtype), g.scaled(quotient, value))


@rule(aten.lerp.Scalar, aten.lerp.Tensor)
def _lerp(g: RuleContext, a: Any, b: Any, weight: Any) -> Any:
    difference = g.call("sub", b, a)
    if not g.is_tensor(weight):
        weight = g.number(weight)
        if abs(weight) < 0.5:
            return g.call("add", a, g.call("mul", difference, weight))
        return g.call("sub", b, g.call("mul", difference, 1 - weight))
    weight = g.cast(weight, g.out.dtype)
    from_a = g.call("add", a, g.call("mul", difference, weight))
    from_b = g.call("sub", b, g.call("mul", difference, g.call("sub", 1, weight)))
    return g.call("where", g.call("less", g.call("abs", weight), 0.5), from_a, from_b)


@rule(aten.xlogy.Tensor, aten.xlogy.Scalar_Other, aten.xlogy.Scalar_Self)
def _xlogy(g: RuleContext, x: Any, y: Any) -> Any:
    return g.call("xlogy", *(element(g, g.rounded(z), g.out.dtype) for z in (x, y)))


@rule(aten.logaddexp.default)
def _logaddexp(g: RuleContext, a: Any, b: Any) -> Any:
    return g.call("logaddexp", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))


@rule(aten.logaddexp2.default)
def _logaddexp2(g: RuleContext, a: Any, b: Any) -> Any:
    """The greater of two, and the term that their distance adds. Infinities have none."""
    a, b = g.cast(a, g.out.dtype), g.cast(b, g.out.dtype)
    most = g.call("maximum", a, b)
    below = g.call("neg", g.call("abs", g.call("sub", a, b)))
    added = g.call("mul", g.call("log1p", g.call("pow", 2.0, below)), 1 / math.log(2))
    return g.call("where", g.call("is_inf", most), most, g.call("add", most, added))


@rule(aten.hypot.default)
def _hypot(g: RuleContext, a: Any, b: Any) -> Any:
    return g.call("hypot", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))


@rule(aten.special_entr.default)
def _entr(g: RuleContext, x: Any) -> Any:
    """-x log(x): 0 at 0, -Inf below."""
    x = g.cast(g.rounded(x), g.out.dtype)
    inside = g.call("neg", g.call("mul", x, g.call("log", x)))
    at_most_zero = g.call("where", g.call("less", x, 0.0), constant(g, -math.inf, g.out.dtype),
                          constant(g, 0, g.out.dtype))
    return g.call("where", g.call("less_equal", x, 0.0), at_most_zero, inside)


@rule(aten.sinc.default)
def _sinc(g: RuleContext, x: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    x = g.cast(g.rounded(x), g.out.dtype)
    angle = g.call("mul", x, math.pi)
    return g.call("where", g.call("equal", x, 0.0), constant(g, 1, g.out.dtype),
                  g.call("div", g.call("sin", angle), angle))


@rule(aten.heaviside.default)
def _heaviside(g: RuleContext, x: Any, values: Any) -> Any:
    return g.call("heaviside", g.rounded(x), values)
