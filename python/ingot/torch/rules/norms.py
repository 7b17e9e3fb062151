# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
from __future__ import annotations

from typing import Any

import torch

from ingot.torch.rule_context import RuleContext
from ingot.torch.rules.registry import aten, rule


def _in_one_type(g: RuleContext, x: Any, weights: Any, compute: Any) -> Any:
    """Computes in f32 where weights have another element type than x."""
    types = {tensor.fake.dtype for tensor in (x, *weights) if tensor is not None}
    if len(types) == 1:
        return compute(x, *weights)
    result = compute(*(None if tensor is None else g.cast(tensor, torch.float32)
                       for tensor in (x, *weights)))
    return g.call("cast", result, g.dtype(x.fake.dtype))


@rule(aten.native_layer_norm.default)
def _layer_norm(g: RuleContext, x: Any, normalized_shape: Any, weight: Any, bias: Any,
                eps: Any) -> Any:
    dims = len(normalized_shape)
    return _in_one_type(g, x, (weight, bias), lambda x, weight, bias: g.call(
        "layer_norm", x, weight, bias, dims=dims, eps=eps)), None, None


@rule(aten.native_group_norm.default)
def _group_norm(g: RuleContext, x: Any, weight: Any, bias: Any, N: Any, C: Any, HxW: Any,
                group: Any, eps: Any) -> Any:
    return _in_one_type(g, x, (weight, bias), lambda x, weight, bias: g.call(
        "group_norm", x, weight, bias, groups=group, eps=eps)), None, None


@rule(aten._fused_rms_norm.default)
def _rms_norm(g: RuleContext, x: Any, normalized_shape: Any, weight: Any, eps: Any) -> Any:
    """The default of eps is that of f32, in which 16-bit types are computed."""
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    axes = list(range(-len(normalized_shape), 0))
    return _in_one_type(g, x, (weight,), lambda x, weight: g.call(
        "rms_norm", x, weight, axis=axes, eps=eps)), None


@rule(aten._native_batch_norm_legit_functional.default)
def _batch_norm(g: RuleContext, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: Any,
                momentum: Any, eps: Any) -> Any:
    # Fake tensors of new statistics are f32 whatever the type of the old ones.
    of_y, _, _, of_mean, of_var = (g.dtype(fake.dtype) for fake in g.out)
    if training:
        wide = (None if tensor is None else g.cast(tensor, torch.float32)
                for tensor in (x, mean, var, weight, bias))
        y, mean, var = g.call("batch_norm", *wide, training=True, momentum=momentum, eps=eps)
    else:
        y, _, _ = _batch_norm_inference(g, x, weight, bias, mean, var, momentum, eps)
    return (g.call("cast", y, of_y), None, None, g.call("cast", mean, of_mean),
            g.call("cast", var, of_var))


@rule(aten._native_batch_norm_legit.no_stats)
def _batch_norm_without_running(g: RuleContext, x: Any, weight: Any, bias: Any, training: Any,
                                momentum: Any, eps: Any) -> Any:
    return _in_one_type(g, x, (weight, bias), lambda x, weight, bias: g.call(
        "batch_norm", x, None, None, weight, bias, training=True, eps=eps)), None, None


@rule(aten._native_batch_norm_legit_no_training.default)
def _batch_norm_inference(g: RuleContext, x: Any, weight: Any, bias: Any, mean: Any, var: Any,
                          momentum: Any, eps: Any) -> Any:
    return _in_one_type(g, x, (mean, var, weight, bias), lambda *tensors: g.call(
        "batch_norm", *tensors, eps=eps)), None, None
