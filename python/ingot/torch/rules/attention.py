# SPDX-License-Identifier: Apache-2.0
"""Attention. Its math form comes as products, `_safe_softmax` and arithmetic, which have rules of
their own; the fused forms are kernels of PyTorch's."""
from __future__ import annotations

from typing import Any, NoReturn

from ingot.torch.rule_context import Refusal, RuleContext
from ingot.torch.rules.registry import aten, rule


@rule(aten._scaled_dot_product_flash_attention.default,
      aten._scaled_dot_product_efficient_attention.default,
      aten._scaled_dot_product_cudnn_attention.default,
      aten._scaled_dot_product_flash_attention_for_cpu.default,
      aten._scaled_dot_product_fused_attention_overrideable.default)
def _fused_attention(g: RuleContext, *_: Any, **named: Any) -> NoReturn:
    raise Refusal("PyTorch's fused attention kernel is faster; its math form is taken: "
                  "torch.nn.attention.sdpa_kernel(SDPBackend.MATH)")
