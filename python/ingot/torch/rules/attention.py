# SPDX-License-Identifier: Apache-2.0
"""Attention. Its math form comes as products, `_safe_softmax` and arithmetic, which have rules of
their own; the fused forms are operators with several results, of which inference uses the first."""
from __future__ import annotations

from typing import Any

from ingot.torch.element_types import SIXTEEN_BITS
from ingot.torch.rule_context import Refusal, RuleContext
from ingot.torch.rules.registry import aten, rule

# The largest heads of which a kernel computes a product's operand. In float32, larger ones than
# these leave a block alone on its SM.
_MOST_HEAD_SIZE = 256
_MOST_FLOAT32_HEAD_SIZE = 128
_MATH_FORM = "its math form is taken: torch.nn.attention.sdpa_kernel(SDPBackend.MATH)"


def _attention(g: RuleContext, q: Any, k: Any, v: Any, mask: Any, dropout_p: Any, is_causal: Any,
               scale: Any) -> Any:
    """The results of a fused operator: the first alone."""
    if dropout_p != 0:
        raise Refusal("PyTorch draws the random numbers of dropout")
    most = _MOST_HEAD_SIZE if q.fake.dtype in SIXTEEN_BITS else _MOST_FLOAT32_HEAD_SIZE
    if any(g.is_number(size) and size > most for size in (q.fake.shape[-1], v.fake.shape[-1])):
        raise Refusal("PyTorch's fused attention kernel is faster with heads of more than "
                      f"{most} elements; {_MATH_FORM}")
    named = {} if scale is None else {"scale": g.number(scale)}
    if mask is not None:
        named["attn_mask"] = mask
    shares = q.fake.shape[-3] != k.fake.shape[-3]
    result = g.call("scaled_dot_product_attention", q, k, v, is_causal=bool(is_causal),
                    enable_gqa=bool(shares), **named)
    return (result, *[None] * (len(g.out) - 1))


@rule(aten._scaled_dot_product_flash_attention.default)
def _flash(g: RuleContext, query: Any, key: Any, value: Any, dropout_p: Any = 0.0,
           is_causal: Any = False, return_debug_mask: Any = False, *, scale: Any = None) -> Any:
    return _attention(g, query, key, value, None, dropout_p, is_causal, scale)


@rule(aten._scaled_dot_product_flash_attention_for_cpu.default)
def _flash_for_cpu(g: RuleContext, query: Any, key: Any, value: Any, dropout_p: Any = 0.0,
                   is_causal: Any = False, *, attn_mask: Any = None, scale: Any = None) -> Any:
    return _attention(g, query, key, value, attn_mask, dropout_p, is_causal, scale)


@rule(aten._scaled_dot_product_efficient_attention.default)
def _efficient(g: RuleContext, query: Any, key: Any, value: Any, attn_bias: Any,
               compute_log_sumexp: Any, dropout_p: Any = 0.0, is_causal: Any = False, *,
               scale: Any = None) -> Any:
    return _attention(g, query, key, value, attn_bias, dropout_p, is_causal, scale)


@rule(aten._scaled_dot_product_cudnn_attention.default)
def _cudnn(g: RuleContext, query: Any, key: Any, value: Any, attn_bias: Any,
           compute_log_sumexp: Any, dropout_p: Any = 0.0, is_causal: Any = False,
           return_debug_mask: Any = False, *, scale: Any = None) -> Any:
    return _attention(g, query, key, value, attn_bias, dropout_p, is_causal, scale)


@rule(aten._scaled_dot_product_fused_attention_overrideable.default)
def _overrideable(g: RuleContext, query: Any, key: Any, value: Any, attn_bias: Any = None,
                  dropout_p: Any = 0.0, is_causal: Any = False, return_debug_mask: Any = False, *,
                  scale: Any = None) -> Any:
    return _attention(g, query, key, value, attn_bias, dropout_p, is_causal, scale)
