# SPDX-License-Identifier: Apache-2.0
"""What ATen's operators are in Ingot's language: one rule each.

A rule is called with a Lowering and the operator's arguments - tensors as Tensor, the rest as ATen
has it - and gives a value, or a tuple where the operator has several results; None stands for a
result that Ingot does not give. Semantics are those of ir/README.md, which are PyTorch's. What a
rule cannot express it refuses by raising Refusal; so does the builder where operands do not fit.
"""
from __future__ import annotations

import math
from typing import Any, Callable

import torch

aten = torch.ops.aten

#: The rule of each operator overload.
RULES: dict[Any, Callable] = {}

#: Operators that move or rename elements, and compute nothing: no kernel is worth them alone.
MOVEMENT: set[Any] = set()

#: Those of them of which PyTorch gives a view, at no cost.
VIEWS: set[Any] = set()


class Refusal(Exception):
    """Why an operator stays with eager PyTorch."""


def rule(*overloads: Any, moves: bool = False, views: bool = False):
    """Makes a function the rule of operator overloads."""
    def register(function):
        for overload in overloads:
            RULES[overload] = function
            if moves or views:
                MOVEMENT.add(overload)
            if views:
                VIEWS.add(overload)
        return function
    return register


def expect(condition: bool, reason: str) -> None:
    if not condition:
        raise Refusal(reason)


# --- elementwise ---------------------------------------------------------------------------------

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


# --- reductions ----------------------------------------------------------------------------------


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


# --- products ------------------------------------------------------------------------------------


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


# --- norms ---------------------------------------------------------------------------------------


@rule(aten.native_layer_norm.default)
def _layer_norm(g, x, normalized_shape, weight, bias, eps):
    return g.call("layer_norm", x, weight, bias, dims=len(normalized_shape), eps=eps), None, None


@rule(aten.native_group_norm.default)
def _group_norm(g, x, weight, bias, N, C, HxW, group, eps):
    return g.call("group_norm", x, weight, bias, groups=group, eps=eps), None, None


@rule(aten._fused_rms_norm.default)
def _rms_norm(g, x, normalized_shape, weight, eps):
    if eps is None:
        eps = torch.finfo(x.fake.dtype).eps
    axes = list(range(-len(normalized_shape), 0))
    return g.call("rms_norm", x, weight, axis=axes, eps=eps), None


@rule(aten._native_batch_norm_legit_functional.default)
def _batch_norm(g, x, weight, bias, mean, var, training, momentum, eps):
    if training:
        y, new_mean, new_var = g.call("batch_norm", x, weight, bias, mean, var, training=True,
                                      momentum=momentum, eps=eps)
        return y, None, None, new_mean, new_var
    return g.call("batch_norm", x, weight, bias, mean, var, eps=eps), None, None, mean, var


@rule(aten._native_batch_norm_legit.no_stats)
def _batch_norm_without_running(g, x, weight, bias, training, momentum, eps):
    return g.call("batch_norm", x, weight, bias, training=True, eps=eps), None, None


@rule(aten._native_batch_norm_legit_no_training.default)
def _batch_norm_inference(g, x, weight, bias, mean, var, momentum, eps):
    return g.call("batch_norm", x, weight, bias, mean, var, eps=eps), None, None


# --- losses --------------------------------------------------------------------------------------

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


# --- pooling -------------------------------------------------------------------------------------


def _pool2d(g, op, x, kernel, stride, padding, dilation, ceil_mode):
    kernel = list(kernel) * (2 // len(kernel))
    stride = (list(stride) * (2 // len(stride))) if stride else kernel
    expect(stride == kernel, "windows that overlap or leave gaps")
    expect(not any(padding) and all(d == 1 for d in dilation) and not ceil_mode,
           "pooling with padding, dilation or ceil_mode")
    *outer, height, width = g.extents(x.fake.shape)
    sizes = [g.number(extent) for extent in x.fake.shape[-2:]]
    for axis, (size, window) in enumerate(zip(sizes, kernel)):
        if size % window:
            x = g.wrap(g.call("narrow", x, axis=axis - 2, start=0, length=size // window * window))
    apart = [*outer, sizes[0] // kernel[0], kernel[0], sizes[1] // kernel[1], kernel[1]]
    rank = len(apart)
    return g.call(op, g.call("reshape", x, apart), axis=[rank - 3, rank - 1])


@rule(aten.avg_pool2d.default)
def _avg_pool2d(g, x, kernel, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True,
                divisor_override=None):
    expect(divisor_override is None, "pooling with divisor_override")
    return _pool2d(g, "mean", x, kernel, stride, padding, (1,), ceil_mode)


@rule(aten.max_pool2d_with_indices.default)
def _max_pool2d(g, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    return _pool2d(g, "amax", x, kernel, stride, padding, dilation, ceil_mode), None
