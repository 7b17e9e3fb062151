#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators.json: PyTorch's results for every operator, in f64 and in f32.

Needs torch (CPU is enough) and nothing else; run it in this folder. The C++ test reads the file,
builds each case through the text language and compares the reference interpreter with the f64
results, and PyTorch's f32 results with the interpreter's error bounds.
"""

import json
import math
import re
from pathlib import Path

import torch
import torch.nn.functional as F

import function_cases

torch.manual_seed(20)
torch.set_num_threads(1)
INF, NAN = float("inf"), float("nan")
SPELLING = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "bool",
}

SPECIALS = [
    NAN,
    INF,
    -INF,
    0.0,
    -0.0,
    1e-45,
    -1e-40,
    1.17549435e-38,
    -1e-20,
    1e-7,
    -3e-4,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    2.5,
    -2.5,
    3.0,
    -3.0,
    6.0,
    19.9,
    20.1,
    -20.0,
    87.0,
    88.8,
    -87.5,
    -104.0,
    1e4,
    -1e4,
    1e30,
    -1e30,
    3.4028235e38,
    -3.4028235e38,
]
PAIRED = [NAN, INF, -INF, 0.0, -0.0, 1e-40, 1.0, -1.0, 2.0, -2.5, 3.0, 1e30, -3.4028235e38]

T = {}
T["special"] = torch.tensor(SPECIALS + (torch.randn(30) * 3).tolist())
T["left"] = torch.tensor([a for a in PAIRED for _ in PAIRED] + torch.randn(20).tolist())
T["right"] = torch.tensor([b for _ in PAIRED for b in PAIRED] + torch.randn(20).tolist())
T["numbers"] = torch.randn(40) * 4
T["reversed"] = T["numbers"].flip(0)
T["positive"] = torch.rand(40) * 3 + 0.01
T["flags"] = torch.rand(len(T["left"])) < 0.5
T["flags2"] = torch.rand(len(T["left"])) < 0.5
T["ints"] = torch.tensor(
    [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 100003, 65535, -46341], dtype=torch.int32
)
T["ints2"] = torch.tensor([3, -2, 5, 2, 2, -1, 3, 46340, 65537, 46341], dtype=torch.int32)
T["longs"] = torch.tensor(
    [0, 1, -1, 2**62, -(2**63), 12345678901, 9007199254740993], dtype=torch.int64
)
T["half"] = torch.tensor(
    [NAN, INF, -INF, -0.0, 6e-8, 1e-5, 1 / 3, -2.5, 300.0, 65504.0] + torch.randn(16).tolist()
).half()
# No subnormals: PyTorch's bf16 conversions flush them on some processors.
T["brain"] = torch.tensor(
    [NAN, INF, -INF, -0.0, 1e-36, 1e-5, 1 / 3, -2.5, 300.0, 3e38] + torch.randn(16).tolist()
).bfloat16()

ROW = 24
hard = torch.randn(14, ROW)
hard[1, 5] = NAN
hard[2, 7] = INF
hard[3, 9] = -INF
hard[4, 2], hard[4, 11] = INF, -INF
hard[5, :] = -INF
hard[6, :] = INF
hard[7, :] = 0.75
hard[8, :] = -0.0
hard[9] *= 1e30
hard[10] *= 1e-41
hard[11] = hard[11] * 0.01 + 1000
hard[12, 3], hard[12, 20] = NAN, INF
hard[13] = hard[13] * 30 + 60
T["hard"] = hard
T["plain"] = torch.randn(6, 32)
T["plain2"] = torch.randn(6, 32)
T["tied"] = torch.randint(0, 4, (6, 32)).float()
T["cube"] = torch.randn(3, 8, 5)
T["weight"] = torch.randn(10, 32) * 0.2
T["bias"] = torch.randn(10)
T["gamma"] = torch.rand(32) + 0.5
T["beta"] = torch.randn(32)
T["gamma8"] = torch.rand(8) + 0.5
T["beta8"] = torch.randn(8)
T["mean8"] = torch.randn(8)
T["var8"] = torch.rand(8) + 0.1
T["affine"] = torch.randn(8, 5)
T["a"] = torch.randn(2, 7, 9)
T["b"] = torch.randn(2, 9, 6)
T["b1"] = torch.randn(1, 6, 9)
T["wild"] = torch.cat(
    [
        torch.randn(3, 9),
        torch.tensor(
            [[INF] + [1.0] * 8, [NAN] + [0.0] * 8, [INF, -INF] + [0.0] * 7, [0.0] * 9, [1e30] * 9]
        ),
    ]
)
T["wide"] = torch.randn(9, 4)
T["q"] = torch.randn(2, 5, 8)
T["k"] = torch.randn(2, 7, 8)
T["v"] = torch.randn(2, 7, 3)
T["index"] = torch.randint(0, 32, (6, 4))
T["classes"] = torch.randint(0, 32, (6,))
T["log_p"] = torch.log_softmax(torch.randn(6, 32), 1)
target = torch.softmax(torch.randn(6, 32), 1)
target[0, :5] = 0
T["target"] = target
T["sign"] = torch.randint(0, 2, (6, 32)).float() * 2 - 1

CASES = []


def case(expression, arguments, reference, results=1, zero_signs=False):
    """expression over tensors by name; reference takes them in the same order.

    zero_signs: the sign of a zero result is part of the contract. It is not for sums, and not for
    the maximum of zeros of both signs, which PyTorch itself takes differently on CPU and GPU.
    """
    CASES.append((expression, arguments.split(), reference, results, zero_signs))


def unary(name, reference, expression=None, inputs="special", zero_signs=True):
    case((expression or f"{name}({{}})").format(inputs), inputs, reference, zero_signs=zero_signs)


def gelu(x):
    # In f32 PyTorch's vectorised form gives NaN for +Inf on some processors.
    return F.gelu(x) if x.dtype == torch.float64 else 0.5 * x * (1 + torch.erf(x * math.sqrt(0.5)))


# ---- elementwise primitives --------------------------------------------------------------------
UNARY = ("neg abs sign exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal tanh erf sin cos "
         "floor ceil round")
for name in UNARY.split():
    unary(name, getattr(torch, name))
unary("is_nan", torch.isnan)
unary("is_inf", torch.isinf)
unary("not", torch.logical_not, inputs="flags")
for name, op in dict(
    add=torch.add,
    sub=torch.sub,
    mul=torch.mul,
    div=torch.div,
    pow=torch.pow,
    minimum=torch.minimum,
    maximum=torch.maximum,
    equal=torch.eq,
    not_equal=torch.ne,
    less=torch.lt,
    less_equal=torch.le,
    greater=torch.gt,
    greater_equal=torch.ge,
).items():
    case(f"{name}(left, right)", "left right", op, zero_signs=name not in ("minimum", "maximum"))
for name, op in dict(
    add=torch.add,
    sub=torch.sub,
    mul=torch.mul,
    minimum=torch.minimum,
    maximum=torch.maximum,
    less=torch.lt,
    equal=torch.eq,
).items():
    case(f"{name}(ints, ints2)", "ints ints2", op)
for mode in ("trunc", "floor"):
    for inputs in ("ints ints2", "numbers reversed"):
        case(f'div({inputs.replace(" ", ", ")}, rounding_mode="{mode}")', inputs,
             lambda a, b, mode=mode: torch.div(a, b, rounding_mode=mode))
# Quotients that f32 holds: PyTorch gives no others in f64.
case("ints2 / 4", "ints2", lambda x: x / 4)
case("ints2 / 0.25", "ints2", lambda x: x / 0.25)
case("1 / (0 * ints - 8)", "ints", lambda x: 1 / (0 * x - 8))
case("ints2 / (0 * ints)", "ints2 ints", lambda a, b: a / (0 * b))
case("neg(ints)", "ints", torch.neg)
case("abs(longs)", "longs", torch.abs)
case("sign(longs)", "longs", torch.sign)
case("and(flags, flags2)", "flags flags2", torch.logical_and)
case("or(flags, flags2)", "flags flags2", torch.logical_or)
case("select(flags, left, right)", "flags left right", torch.where, zero_signs=True)
for dtype in (torch.float16, torch.bfloat16):
    case(f"cast(special, {SPELLING[dtype]})", "special", lambda x, dtype=dtype: x.float().to(dtype))
    case(f"cast(ints, {SPELLING[dtype]})", "ints", lambda x, dtype=dtype: x.to(dtype))
case("cast(ints, f32)", "ints", lambda x: x.float())
case("cast(longs, f32)", "longs", lambda x: x.float())
case("cast(longs, i32)", "longs", lambda x: x.to(torch.int32))
case("cast(numbers, i32)", "numbers", lambda x: x.to(torch.int32))
case("cast(numbers, i64)", "numbers", lambda x: x.to(torch.int64))
case("cast(special, bool)", "special", lambda x: x.bool())
for name in ("half", "brain"):
    for other in (0.1, 1 / 3, 300.3, 7e4, 1e-9, 1e40):
        case(f"{name} == {other}", name, lambda x, other=other: x == other)
        case(f"{name} >= {other}", name, lambda x, other=other: x >= other)
case("numbers < 0.1", "numbers", lambda x: x < 0.1)
case("broadcast(true, [3, 4])", "", lambda: torch.ones(3, 4, dtype=torch.bool))
case("broadcast(constant(0, bool), [3])", "", lambda: torch.zeros(3, dtype=torch.bool))
case("select(flags, constant(2, bool), false)", "flags", lambda x: x)
case("cast(flags, f32)", "flags", lambda x: x.float())
case("cast(half, f32)", "half", lambda x: x.float())
case("cast(brain, f32)", "brain", lambda x: x.float())
for name in "half brain".split():
    case(f"{name} * {name}", name, lambda x: x * x)
    case(f"exp({name})", name, torch.exp)
    case(f"{name} / 3", name, lambda x: x / 3)

# ---- defined by cases --------------------------------------------------------------------------
FINITE = dict(posinf=torch.finfo(torch.float32).max, neginf=torch.finfo(torch.float32).min)
case("xlogy(left, right)", "left right", torch.xlogy, zero_signs=True)
case("xlogy(special, 2)", "special", lambda x: torch.xlogy(x, 2), zero_signs=True)
case("logaddexp(left, right)", "left right", torch.logaddexp)
case("hypot(left, right)", "left right", torch.hypot, zero_signs=True)
case("heaviside(left, right)", "left right", torch.heaviside, zero_signs=True)
case("heaviside(ints, ints2)", "ints ints2", torch.heaviside)
case("heaviside(flags, flags2)", "flags flags2", torch.heaviside)
case("nan_to_num(special)", "special", lambda x: torch.nan_to_num(x, **FINITE), zero_signs=True)
case("nan_to_num(special, 0.1, posinf=-inf, neginf=nan)", "special",
     lambda x: torch.nan_to_num(x, torch.tensor(0.1).item(), -INF, NAN))
for name in ("half", "ints", "longs", "flags"):
    case(f"nan_to_num({name})", name,
         lambda x: torch.nan_to_num(x, posinf=65504.0, neginf=-65504.0))
case("clamp(special, max=nan)", "special", lambda x: torch.clamp(x, max=NAN))
case("clamp(special, min=nan)", "special", lambda x: torch.clamp(x, min=NAN))
case("clamp(special, nan, 1)", "special", lambda x: torch.clamp(x, NAN, 1))
case("clamp(special, 1, nan)", "special", lambda x: torch.clamp(x, 1, NAN))

# ---- elementwise composites --------------------------------------------------------------------
unary("relu", F.relu, zero_signs=False)
unary("relu6", F.relu6, zero_signs=False)
unary("hardtanh", F.hardtanh)
unary("clamp", lambda x: torch.clamp(x, -2, 3), "clamp({}, min=-2, max=3)")
unary("clamp", lambda x: torch.clamp(x, max=0.5), "clamp({}, max=0.5)")
unary("sigmoid", torch.sigmoid)
unary("silu", lambda x: x * torch.sigmoid(x))
unary("gelu", gelu)
unary("gelu", lambda x: F.gelu(x, approximate="tanh"), 'gelu({}, approximate="tanh")')
unary("mish", lambda x: x * torch.tanh(torch.log1p(torch.exp(x))))
unary("softplus", F.softplus)
unary(
    "softplus", lambda x: F.softplus(x, beta=2, threshold=10), "softplus({}, beta=2, threshold=10)"
)
unary("softsign", F.softsign)
unary("hardsigmoid", lambda x: torch.clamp(x + 3, 0, 6) / 6)
unary("hardswish", lambda x: x * torch.clamp(x + 3, 0, 6) / 6)
unary("leaky_relu", F.leaky_relu)
unary("leaky_relu", lambda x: F.leaky_relu(x, 0.2), "leaky_relu({}, slope=0.2)")
unary("elu", F.elu)
unary("elu", lambda x: F.elu(x, 2.0), "elu({}, alpha=2)")
unary("selu", F.selu)
unary("log_sigmoid", F.logsigmoid)
unary("square", torch.square)
unary("power", lambda x: x**2, "{} ** 2")
unary("power", lambda x: x**3, "{} ** 3")
unary("power", lambda x: x**0.5, "{} ** 0.5", "positive")
unary("power", lambda x: x**-1.5, "power({}, -1.5)", "positive")
unary("dropout", lambda x: F.dropout(x, 0.3, training=False), "dropout({}, p=0.3)")

# ---- reductions --------------------------------------------------------------------------------
for name, op in dict(
    sum=torch.sum, mean=torch.mean, prod=torch.prod, reduce_max=torch.amax, reduce_min=torch.amin
).items():
    case(f"{name}(hard, axis=1)", "hard", lambda x, op=op: op(x, 1))
    case(f"{name}(plain, axis=0, keepdim=true)", "plain", lambda x, op=op: op(x, 0, keepdim=True))
    case(f"{name}(plain)", "plain", lambda x, op=op: op(x.flatten(), 0))
    case(f"{name}(narrow(hard, 1, 4, 1), axis=1)", "hard", lambda x, op=op: op(x[:, 4:5], 1))
case("sum(cube, axis=[0, 2])", "cube", lambda x: x.sum((0, 2)))
case("sum(ints)", "ints", lambda x: x.sum(dtype=torch.int32))
case("prod(ints2)", "ints2", lambda x: x.prod(dtype=torch.int32))
case("reduce_max(longs)", "longs", torch.amax)
for name, op in dict(argmax=torch.argmax, argmin=torch.argmin).items():
    for inputs in "hard plain tied".split():
        case(f"{name}({inputs}, axis=1)", inputs, lambda x, op=op: op(x, 1))
    case(f"{name}(tied, axis=0)", "tied", lambda x, op=op: op(x, 0))
    case(f"{name}(plain)", "plain", lambda x, op=op: op(x))
for inputs in "hard plain".split():
    case(f"logsumexp({inputs}, axis=1)", inputs, lambda x: torch.logsumexp(x, 1))
    case(f"softmax({inputs}, axis=1)", inputs, lambda x: torch.softmax(x, 1))
    case(f"log_softmax({inputs}, axis=1)", inputs, lambda x: torch.log_softmax(x, 1))
    case(f"norm({inputs}, axis=1)", inputs, lambda x: torch.linalg.vector_norm(x, 2, 1))
    case(f"norm({inputs}, p=1, axis=1)", inputs, lambda x: torch.linalg.vector_norm(x, 1, 1))
    case(f"norm({inputs}, p=inf, axis=1)", inputs, lambda x: torch.linalg.vector_norm(x, INF, 1))
    case(f"var({inputs}, axis=1)", inputs, lambda x: torch.var(x, 1))
    case(f"std({inputs}, axis=1, correction=0)", inputs, lambda x: torch.std(x, 1, correction=0))
for name, op in dict(any=torch.any, all=torch.all).items():
    for inputs in ("hard", "plain", "tied"):
        case(f"{name}({inputs}, axis=1)", inputs, lambda x, op=op: op(x, 1))
    case(f"{name}(cube, axis=[0, 2], keepdim=true)", "cube",
         lambda x, op=op: op(x, (0, 2), keepdim=True))
    case(f"{name}(flags)", "flags", op)
    case(f"{name}(longs)", "longs", op)
    case(f"{name}(reshape(narrow(numbers, 0, 3, 1), []), keepdim=true)", "numbers",
         lambda x, op=op: op(x[3], 0, keepdim=True))
case("logsumexp(reshape(narrow(numbers, 0, 3, 1), []), keepdim=true)", "numbers",
     lambda x: torch.logsumexp(x[3], 0, keepdim=True))
case("moments(hard, axis=1)", "hard", lambda x: (x.mean(1), x.var(1, correction=0)), 2)
case("moments(plain, axis=0)", "plain", lambda x: (x.mean(0), x.var(0, correction=0)), 2)
case(
    "max_sumexp(plain, axis=1)",
    "plain",
    lambda x: (x.amax(1), torch.exp(x - x.amax(1, keepdim=True)).sum(1)),
    2,
)
case("logsumexp(plain)", "plain", lambda x: torch.logsumexp(x, (0, 1)))
case("logsumexp(narrow(hard, 1, 4, 1), axis=1)", "hard", lambda x: torch.logsumexp(x[:, 4:5], 1))
case("softmax(plain, axis=0)", "plain", lambda x: torch.softmax(x, 0))
case("norm(plain, p=3, axis=1)", "plain", lambda x: torch.linalg.vector_norm(x, 3, 1))
case("normalize(hard)", "hard", F.normalize)
case("normalize(plain, p=1, axis=0)", "plain", lambda x: F.normalize(x, p=1, dim=0))
case("cumsum(hard, axis=1)", "hard", lambda x: torch.cumsum(x, 1))
case("cumprod(hard, axis=1)", "hard", lambda x: torch.cumprod(x, 1))
case("cumsum(plain, axis=0)", "plain", lambda x: torch.cumsum(x, 0))
case("cumsum(plain, axis=1, reverse=true)", "plain", lambda x: x.flip(1).cumsum(1).flip(1))
case("cumsum(ints, axis=0)", "ints", lambda x: x.cumsum(0, dtype=torch.int32))

# ---- matmul ------------------------------------------------------------------------------------
case("linear(plain, weight, bias)", "plain weight bias", F.linear)
case("linear(plain, weight)", "plain weight", F.linear)
case("matmul(a, b)", "a b", torch.matmul)
case("a @ b", "a b", torch.matmul)
case("matmul(a, b1, transpose_b=true)", "a b1", lambda a, b: a @ b.mT)
case("matmul(b, a, transpose_a=true, transpose_b=true)", "b a", lambda b, a: b.mT @ a.mT)
case("matmul(wild, wide)", "wild wide", torch.matmul)
case("scaled_dot_product_attention(q, k, v)", "q k v", F.scaled_dot_product_attention)

# ---- normalisation and pooling -----------------------------------------------------------------
case(
    "layer_norm(plain, gamma, beta)",
    "plain gamma beta",
    lambda x, g, b: F.layer_norm(x, (32,), g, b),
)
case("layer_norm(hard)", "hard", lambda x: F.layer_norm(x, (ROW,)))
case(
    "layer_norm(cube, affine, affine, dims=2, eps=0.01)",
    "cube affine",
    lambda x, g: F.layer_norm(x, (8, 5), g, g, eps=0.01),
)
case(
    "group_norm(plain, gamma, beta, groups=4)",
    "plain gamma beta",
    lambda x, g, b: F.group_norm(x, 4, g, b),
)
case("group_norm(hard, groups=3)", "hard", lambda x: F.group_norm(x, 3))
case(
    "group_norm(cube, gamma8, beta8, groups=2)",
    "cube gamma8 beta8",
    lambda x, g, b: F.group_norm(x, 2, g, b),
)
case(
    "instance_norm(cube, gamma8, beta8)",
    "cube gamma8 beta8",
    lambda x, g, b: F.instance_norm(x, weight=g, bias=b),
)
case(
    "rms_norm(plain, gamma)",
    "plain gamma",
    lambda x, g: F.rms_norm(x, (32,), g, eps=2**-23),
)
case("rms_norm(hard, eps=0.01)", "hard", lambda x: F.rms_norm(x, (ROW,), eps=0.01))
case("rms_norm(cube, [8, 5], affine)", "cube affine",
     lambda x, g: F.rms_norm(x, (8, 5), g, eps=2**-23))
case(
    "batch_norm(cube, mean8, var8, gamma8, beta8)",
    "cube gamma8 beta8 mean8 var8",
    lambda x, g, b, m, v: F.batch_norm(x, m, v, g, b),
)


def batch_norm_training(x, g, b, m, v):
    m, v = m.clone(), v.clone()
    return F.batch_norm(x, m, v, g, b, training=True), m, v


case(
    "batch_norm(cube, mean8, var8, gamma8, beta8, training=true)",
    "cube gamma8 beta8 mean8 var8",
    batch_norm_training,
    3,
)
case(
    "batch_norm(plain, training=true)",
    "plain",
    lambda x: F.batch_norm(x, None, None, training=True),
)
case("max_pool1d(hard, 4)", "hard", lambda x: F.max_pool1d(x[None], 4)[0])
case("avg_pool1d(hard, kernel=5)", "hard", lambda x: F.avg_pool1d(x[None], 5)[0])

# ---- losses ------------------------------------------------------------------------------------
case("mse_loss(plain, plain2)", "plain plain2", F.mse_loss)
case(
    'l1_loss(plain, plain2, reduction="sum")',
    "plain plain2",
    lambda x, t: F.l1_loss(x, t, reduction="sum"),
)
case(
    "smooth_l1_loss(plain, plain2, beta=0.5)",
    "plain plain2",
    lambda x, t: F.smooth_l1_loss(x, t, beta=0.5),
)
case(
    'huber_loss(plain, plain2, delta=0.7, reduction="none")',
    "plain plain2",
    lambda x, t: F.huber_loss(x, t, delta=0.7, reduction="none"),
)
case("kl_div(log_p, target)", "log_p target", F.kl_div)
case('kl_div(log_p, target, reduction="batchmean")', "log_p target",
     lambda x, t: F.kl_div(x, t, reduction="batchmean"))
case("kl_div(log_p, plain, log_target=true)", "log_p plain",
     lambda x, t: F.kl_div(x, t, log_target=True))
case("cross_entropy(plain, classes)", "plain classes", F.cross_entropy)
case(
    'cross_entropy(plain, classes, reduction="none")',
    "plain classes",
    lambda x, t: F.cross_entropy(x, t, reduction="none"),
)
case(
    "hinge_loss(plain, sign)", "plain sign", lambda x, t: torch.mean(torch.clamp(1 - x * t, min=0))
)
case("triplet_margin_loss(plain, plain2, tied)", "plain plain2 tied", F.triplet_margin_loss)
case("cosine_similarity(plain, plain2)", "plain plain2", F.cosine_similarity)
function_cases.add_embedding_losses(case)

# ---- movement ----------------------------------------------------------------------------------
case("gather(plain, index, axis=1)", "plain index", lambda x, i: torch.gather(x, 1, i))
case("iota(i64, [3, 4], axis=1)", "", lambda: torch.arange(4).expand(3, 4))
case("iota(f32, [5])", "", lambda: torch.arange(5).float())
case("constant(0.1, f32) * plain", "plain", lambda x: 0.1 * x)
case(
    "reshape(transpose(cube, [2, 0, 1]), [5, 24])",
    "cube",
    lambda x: x.permute(2, 0, 1).reshape(5, 24),
)
case("broadcast(bias, [3, 10])", "bias", lambda x: x.expand(3, 10))
case("slice(plain, [1, 3], [6, 30], [2, 5])", "plain", lambda x: x[1:6:2, 3:30:5])
case(
    "concat([plain, tied, narrow(plain, 0, 2, 1)], axis=0)",
    "plain tied",
    lambda x, t: torch.cat([x, t, x[2:3]], 0),
)
case("transpose(cube, 0, -1)", "cube", lambda x: x.transpose(0, -1))
case("transpose(cube, dim0=1, dim1=2)", "cube", lambda x: x.transpose(1, 2))
case("triu(hard)", "hard", torch.triu)
case("tril(hard, -2)", "hard", lambda x: torch.tril(x, -2))
case("triu(cube, 1)", "cube", lambda x: torch.triu(x, 1))
case("tril(cube, 99)", "cube", lambda x: torch.tril(x, 99))
case("triu(cube, 9223372036854775807)", "cube", lambda x: x * 0)
case("tril(reshape(flags, [27, 7]))", "flags", lambda x: torch.tril(x.reshape(27, 7)))
case("flip(plain, 1)", "plain", lambda x: x.flip(1))
case("flatten(cube, 1)", "cube", lambda x: x.flatten(1))
case("sum(transpose(cube, [2, 1, 0]), axis=1)", "cube", lambda x: x.permute(2, 1, 0).sum(1))

function_cases.add(T, case, unary)


def number(x, digits):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return float(f"{x:.{digits}g}") if digits < 17 else x


def values(tensor, digits=17):
    flat = tensor.flatten().tolist()
    return [number(x, digits) if isinstance(x, float) else int(x) for x in flat]


def tensor_json(tensor):
    digits = 9 if tensor.dtype == torch.float32 else 17
    return {
        "dtype": SPELLING[tensor.dtype],
        "shape": list(tensor.shape),
        "values": values(tensor, digits),
    }


def run(reference, inputs):
    result = reference(*inputs)
    return list(result) if isinstance(result, tuple) else [result]


def case_json(expression, arguments, reference, results, zero_signs):
    inputs = [T[name] for name in arguments]
    declared = ", ".join(
        f"{name}: {SPELLING[t.dtype]}{list(t.shape)}" for name, t in zip(arguments, inputs)
    )
    names = ", ".join(f"r{i}" for i in range(results))
    spec = f"graph case({declared}) {{\n  {names} = {expression}\n  return {names}\n}}\n"
    wide = run(
        reference,
        [t.double() if t.is_floating_point() and t.dtype != torch.bool else t for t in inputs],
    )
    narrow = run(reference, inputs)
    outputs = []
    for w, n in zip(wide, narrow):
        output = {"dtype": SPELLING[n.dtype], "shape": list(n.shape)}
        if n.is_floating_point():
            output["f64"] = values(w.double())
            output["own"] = values(n, 9 if n.dtype == torch.float32 else 17)
        else:
            output["values"] = values(n)
        outputs.append(output)
    return {"spec": spec, "inputs": arguments, "zero_signs": zero_signs, "outputs": outputs}


def main():
    lines = [
        '"torch": ' + json.dumps(re.sub(r"\+.*", "", torch.__version__)),
        '"tensors": {\n'
        + ",\n".join(f"{json.dumps(n)}: {json.dumps(tensor_json(t))}" for n, t in T.items())
        + "\n}",
        '"cases": [\n' + ",\n".join(json.dumps(case_json(*c)) for c in CASES) + "\n]",
    ]
    Path("operators.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
