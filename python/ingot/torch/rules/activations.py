# SPDX-License-Identifier: Apache-2.0
"""Activation functions, and cells that are made of them."""
from __future__ import annotations

from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.bounds import between
from ingot.torch.rules.registry import aten, rule
from ingot.torch.rules.values import constant, narrow, rounded

for _aten in ("relu", "silu", "mish", "hardswish", "hardsigmoid"):
    rule(getattr(aten, _aten).default)(lambda g, x, op=_aten: g.call(op, x))


@rule(aten.hardtanh.default)
def _hardtanh(g: RuleContext, x: Any, min_val: Any = -1, max_val: Any = 1) -> Any:
    return between(g, x, min_val, max_val)


@rule(aten.leaky_relu.default)
def _leaky_relu(g: RuleContext, x: Any, negative_slope: Any = 0.01) -> Any:
    return g.call("leaky_relu", x, g.number(negative_slope))


@rule(aten._prelu_kernel.default)
def _prelu(g: RuleContext, x: Any, weight: Any) -> Any:
    return g.call("where", g.call("greater", x, 0.0), x, g.call("mul", weight, x))


@rule(aten.threshold.default)
def _threshold(g: RuleContext, x: Any, threshold: Any, value: Any) -> Any:
    dtype = g.out.dtype
    x = g.rounded(x)
    is_low = g.call("less_equal", x, constant(g, threshold, dtype))
    return g.call("where", is_low, constant(g, value, dtype), x)


@rule(aten.hardshrink.default)
def _hardshrink(g: RuleContext, x: Any, lambd: Any = 0.5) -> Any:
    x = g.rounded(x)
    low, high = constant(g, -lambd, g.out.dtype), constant(g, lambd, g.out.dtype)
    is_small = g.call("and", g.call("greater_equal", x, low), g.call("less_equal", x, high))
    return g.call("where", is_small, constant(g, 0, g.out.dtype), x)


@rule(aten.softshrink.default)
def _softshrink(g: RuleContext, x: Any, lambd: Any = 0.5) -> Any:
    """NaN stays NaN."""
    bound = rounded(g, lambd, g.out.dtype)
    inside = g.call("where", g.call("is_nan", x), x, constant(g, 0, g.out.dtype))
    below = g.call("where", g.call("less", x, -bound), g.call("add", x, bound), inside)
    return g.call("where", g.call("greater", x, bound), g.call("sub", x, bound), below)


@rule(aten.elu.default)
def _elu(g: RuleContext, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    if g.number(input_scale) == 1:
        return g.scaled(g.call("elu", x, g.number(alpha)), scale)
    below = g.call("expm1", g.call("mul", x, input_scale))
    below = g.call("mul", below, g.number(alpha) * g.number(scale))
    return g.call("where", g.call("greater", x, 0.0), g.scaled(x, scale), below)


@rule(aten.celu.default)
def _celu(g: RuleContext, x: Any, alpha: Any = 1.0) -> Any:
    below = g.call("mul", g.call("expm1", g.call("div", x, alpha)), alpha)
    return g.call("where", g.call("greater", x, 0.0), x, below)


@rule(aten.gelu.default)
def _gelu(g: RuleContext, x: Any, approximate: str = 'none') -> Any:
    return g.call("gelu", x, approximate=approximate)


@rule(aten.softplus.default)
def _softplus(g: RuleContext, x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    return g.call("softplus", x, beta=beta, threshold=threshold)


@rule(aten.log_sigmoid_forward.default)
def _log_sigmoid(g: RuleContext, x: Any) -> Any:
    return g.call("log_sigmoid", x), None


@rule(aten.logit.default)
def _logit(g: RuleContext, x: Any, eps: Any = None) -> Any:
    """The lower bound applies before the upper one. A bound that is NaN does not apply."""
    x = g.cast(x, g.out.dtype)
    if eps is not None:
        x, low = g.rounded(x), rounded(g, eps, torch.float32)
        high = rounded(g, 1 - low, torch.float32)
        low, high = (g.call("constant", bound, g.dtype(g.out.dtype)) for bound in (low, high))
        at_most = g.call("where", g.call("greater", x, high), high, x)
        x = g.call("where", g.call("less", x, low), low, at_most)
    return g.call("log", g.call("div", x, g.call("sub", 1, x)))


@rule(aten.glu.default)
def _glu(g: RuleContext, x: Any, dim: Any = -1) -> Any:
    left, right = _chunks(g, x, dim, 2, g.number(g.out.shape[dim]))
    return g.call("mul", left, g.call("sigmoid", right))


# --- recurrent cells -----------------------------------------------------------------------------


def _chunks(g: RuleContext, x: Any, dim: int, count: int, length: int) -> Any:
    return [narrow(g, x, dim, i * length, length) for i in range(count)]


def _gates(g: RuleContext, input_gates: Any, hidden_gates: Any, input_bias: Any, hidden_bias: Any,
           count: Any) -> Any:
    """The contributions of the inputs and of the last state to each gate, with biases."""
    width = g.number(input_gates.fake.shape[1]) // count
    gates = []
    for x, bias in ((input_gates, input_bias), (hidden_gates, hidden_bias)):
        gates.append(_chunks(g, x if bias is None else g.call("add", x, bias), 1, count, width))
    return gates


@rule(aten._thnn_fused_lstm_cell.default)
def _lstm_cell(g: RuleContext, input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None,
               hidden_bias: Any = None) -> Any:
    """(hidden state, cell state, values for gradients)."""
    parts = _gates(g, input_gates, hidden_gates, input_bias, hidden_bias, 4)
    enter, forget, new, leave = (g.call("add", a, b) for a, b in zip(*parts))
    kept = g.call("mul", g.call("sigmoid", forget), cx)
    added = g.call("mul", g.call("sigmoid", enter), g.call("tanh", new))
    cell = g.call("add", kept, added)
    return g.call("mul", g.call("sigmoid", leave), g.call("tanh", cell)), cell, None


@rule(aten._thnn_fused_gru_cell.default)
def _gru_cell(g: RuleContext, input_gates: Any, hidden_gates: Any, hx: Any, input_bias: Any = None,
              hidden_bias: Any = None) -> Any:
    """(hidden state, values for gradients)."""
    from_input, from_hidden = _gates(g, input_gates, hidden_gates, input_bias, hidden_bias, 3)
    reset, update = (g.call("sigmoid", g.call("add", a, b))
                     for a, b in list(zip(from_input, from_hidden))[:2])
    new = g.call("tanh", g.call("add", from_input[2], g.call("mul", reset, from_hidden[2])))
    return g.call("add", new, g.call("mul", update, g.call("sub", hx, new))), None
