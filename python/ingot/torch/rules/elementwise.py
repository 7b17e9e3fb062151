# SPDX-License-Identifier: Apache-2.0
"""Operators that compute each element by itself."""
from __future__ import annotations

import math

import torch

from ingot.torch.rules.registry import RULES, aten, expect, rule


_UNARY = {
    "abs": "abs", "neg": "neg", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "sin": "sin", "cos": "cos",
    "tanh": "tanh", "erf": "erf", "floor": "floor", "ceil": "ceil", "round": "round",
    "sign": "sign", "sgn": "sign", "sigmoid": "sigmoid", "relu": "relu", "silu": "silu",
    "mish": "mish", "hardswish": "hardswish", "hardsigmoid": "hardsigmoid",
}
for _aten, _op in _UNARY.items():
    RULES[getattr(aten, _aten).default] = (
        lambda g, x, op=_op: g.call(op, g.cast(x, g.out.dtype)))

for _aten, _op in {"isnan": "is_nan", "isinf": "is_inf"}.items():
    RULES[getattr(aten, _aten).default] = lambda g, x, op=_op: g.call(op, x)


def _arithmetic(op: str):
    return lambda g, a, b: g.call(op, g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))


RULES[aten.mul.Tensor], RULES[aten.div.Tensor] = _arithmetic("mul"), _arithmetic("div")
RULES[aten.maximum.default] = _arithmetic("maximum")
RULES[aten.minimum.default] = _arithmetic("minimum")
RULES[aten.pow.Tensor_Scalar] = _arithmetic("power")
RULES[aten.pow.Tensor_Tensor] = _arithmetic("pow")
RULES[aten.pow.Scalar] = _arithmetic("pow")


@rule(aten.add.Tensor, aten.add.Scalar)
def _add(g, a, b, alpha=1):
    return _combine(g, "add", a, b, alpha)


@rule(aten.sub.Tensor)
def _sub(g, a, b, alpha=1):
    return _combine(g, "sub", a, b, alpha)


@rule(aten.rsub.Scalar, aten.rsub.Tensor)
def _rsub(g, a, b, alpha=1):
    return _combine(g, "sub", b, a, alpha)


def _combine(g, op, a, b, alpha):
    a, b = g.cast(a, g.out.dtype), g.cast(b, g.out.dtype)
    if alpha != 1:
        b = b * alpha if g.is_number(b) else g.call("mul", b, alpha)
    return g.call(op, a, b)


@rule(aten.div.Tensor_mode)
def _div_mode(g, a, b, rounding_mode=None):
    expect(rounding_mode is None, f"division with rounding_mode={rounding_mode!r}")
    return _arithmetic("div")(g, a, b)


@rule(aten.addcmul.default)
def _addcmul(g, x, a, b, value=1):
    product = g.call("mul", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))
    return g.call("add", g.cast(x, g.out.dtype), g.scaled(product, value))


@rule(aten.addcdiv.default)
def _addcdiv(g, x, a, b, value=1):
    quotient = g.call("div", g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))
    return g.call("add", g.cast(x, g.out.dtype), g.scaled(quotient, value))


def _comparison(op: str):
    def compare(g, a, b):
        dtype = torch.result_type(*(x.fake if g.is_tensor(x) else x for x in (a, b)))
        return g.call(op, g.cast(a, dtype), g.cast(b, dtype))
    return compare


for _aten, _op in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
                   "gt": "greater", "ge": "greater_equal"}.items():
    for _overload in ("Tensor", "Scalar"):
        RULES[getattr(getattr(aten, _aten), _overload)] = _comparison(_op)


def _logical(op: str):
    return lambda g, *operands: g.call(op, *(g.cast(x, torch.bool) for x in operands))


for _aten, _op in {"logical_and": "and", "logical_or": "or", "logical_not": "not"}.items():
    RULES[getattr(aten, _aten).default] = _logical(_op)


def _bitwise(op: str):
    def combine(g, *operands):
        expect(g.out.dtype == torch.bool, "bits of integers")
        return g.call(op, *operands)
    return combine


RULES[aten.bitwise_and.Tensor] = _bitwise("and")
RULES[aten.bitwise_or.Tensor] = _bitwise("or")
RULES[aten.bitwise_not.default] = _bitwise("not")


@rule(aten.where.self)
def _where(g, condition, a, b):
    return g.call("where", g.cast(condition, torch.bool), g.tensor(a), g.tensor(b))


@rule(aten.masked_fill.Scalar)
def _masked_fill(g, x, mask, value):
    return g.call("where", mask, g.tensor(value), x)


@rule(aten.clamp.default)
def _clamp(g, x, min=None, max=None):
    return g.call("clamp", g.cast(x, g.out.dtype), min=min, max=max)


@rule(aten.clamp_min.default)
def _clamp_min(g, x, min):
    return g.call("clamp", g.cast(x, g.out.dtype), min=min)


@rule(aten.clamp_max.default)
def _clamp_max(g, x, max):
    return g.call("clamp", g.cast(x, g.out.dtype), max=max)


@rule(aten.clamp.Tensor)
def _clamp_tensor(g, x, min=None, max=None):
    x = g.cast(x, g.out.dtype)
    if min is not None:
        x = g.call("maximum", x, g.cast(min, g.out.dtype))
    return x if max is None else g.call("minimum", x, g.cast(max, g.out.dtype))


@rule(aten.hardtanh.default)
def _hardtanh(g, x, min_val=-1, max_val=1):
    return g.call("hardtanh", x, min=min_val, max=max_val)


@rule(aten.leaky_relu.default)
def _leaky_relu(g, x, negative_slope=0.01):
    return g.call("leaky_relu", x, negative_slope)


@rule(aten._prelu_kernel.default)
def _prelu(g, x, weight):
    return g.call("where", g.call("greater", x, 0.0), x, g.call("mul", weight, x))


@rule(aten.threshold.default)
def _threshold(g, x, threshold, value):
    return g.call("where", g.call("less_equal", x, threshold), g.tensor(value), x)


@rule(aten.elu.default)
def _elu(g, x, alpha=1, scale=1, input_scale=1):
    expect(input_scale == 1, f"elu with input_scale={input_scale}")
    return g.scaled(g.call("elu", x, alpha), scale)


@rule(aten.celu.default)
def _celu(g, x, alpha=1.0):
    below = g.call("mul", g.call("expm1", g.call("div", x, alpha)), alpha)
    return g.call("where", g.call("greater", x, 0.0), x, below)


@rule(aten.gelu.default)
def _gelu(g, x, approximate="none"):
    return g.call("gelu", x, approximate=approximate)


@rule(aten.softplus.default)
def _softplus(g, x, beta=1, threshold=20):
    return g.call("softplus", x, beta=beta, threshold=threshold)


@rule(aten.log_sigmoid_forward.default)
def _log_sigmoid(g, x):
    return g.call("log_sigmoid", x), None


@rule(aten.log2.default)
def _log2(g, x):
    return g.call("mul", g.call("log", g.cast(x, g.out.dtype)), 1 / math.log(2))


@rule(aten.log10.default)
def _log10(g, x):
    return g.call("mul", g.call("log", g.cast(x, g.out.dtype)), 1 / math.log(10))


@rule(aten.glu.default)
def _glu(g, x, dim=-1):
    length = g.number(g.out.shape[dim])
    left, right = (g.call("narrow", x, axis=dim, start=start, length=length)
                   for start in (0, length))
    return g.call("mul", left, g.call("sigmoid", right))
