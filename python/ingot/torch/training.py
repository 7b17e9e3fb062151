# SPDX-License-Identifier: Apache-2.0
"""Graphs of calls that record gradients. AOTAutograd makes two graphs of ATen's operators: forward,
with the values that it saves, and backward. A cut of least memory divides them, so that values that
are cheap to compute again are not saved. Each graph is compiled as one of inference is. Parameters
change with each step, so no memory is prepared from them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import torch
from torch import fx
from torch._decomp import decomposition_table, get_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx.graph import _BoxedCodeGen

aten = torch.ops.aten

#: Derivatives that stay with eager PyTorch: they add elements at computed indices.
_EAGER = {aten.embedding_dense_backward, aten.unfold_backward}

#: Norms: their derivatives need means and scales, which their rules do not give.
_SAVING = [aten.native_layer_norm, aten.native_group_norm, aten._fused_rms_norm,
           aten.native_batch_norm, aten._native_batch_norm_legit,
           aten._native_batch_norm_legit_functional, aten.cudnn_batch_norm]


@lru_cache(maxsize=1)
def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's own decompositions of derivatives, and of operators that save values for them."""
    backward = {overload.overloadpacket for overload in decomposition_table
                if isinstance(overload, torch._ops.OpOverload)
                and overload.overloadpacket.__name__.endswith(("_backward", "_backward_data"))}
    return dict(get_decompositions([*(backward - _EAGER), *_SAVING]))


class Compiler(Protocol):
    """Puts kernels in place of the nodes of a graph."""

    def rewrite(self, module: fx.GraphModule) -> None:
        """Changes the module."""


def compile_pair(module: fx.GraphModule, inputs: Sequence[Any], forward: Compiler,
                 backward: Compiler) -> Callable[..., Any]:
    """`module` as a function with a derivative. Each compiler gets one functional graph."""
    def boxed(compiler: Compiler) -> Callable[..., Any]:
        def compile(graph: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
            # A boxed function takes its arguments as a list, and frees each after its last use.
            graph.graph.set_codegen(_BoxedCodeGen())
            compiler.rewrite(graph)
            call = graph.forward

            def run(arguments: list[Any]) -> Any:
                return call(arguments)
            run._boxed_call = True  # type: ignore[attr-defined]
            return run
        return compile
    trained: Callable[..., Any] = aot_autograd(
        fw_compiler=boxed(forward), bw_compiler=boxed(backward), inference_compiler=boxed(forward),
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decompositions())(module, inputs)
    return trained
