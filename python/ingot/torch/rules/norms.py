# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
from __future__ import annotations

import torch

from ingot.torch.rules.registry import aten, rule


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
