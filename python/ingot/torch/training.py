# SPDX-License-Identifier: Apache-2.0
"""Graphs of calls that record gradients. AOTAutograd makes two graphs of ATen's operators: forward,
with the values that it saves, and backward. A cut of least memory divides them: values that are
cheap to compute again are not saved."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import fx
from torch._decomp import decomposition_table, get_decompositions
from torch._functorch import config as functorch_config
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx.graph import _BoxedCodeGen

aten = torch.ops.aten

#: Derivatives without a rule for any part of them: their decompositions add elements at computed
#: indices (index_put, scatter_add).
_EAGER = {aten.embedding_dense_backward, aten.unfold_backward}

#: Norms. Their derivatives need means and scales, but the rules of norms give the result alone.
_SAVING = [aten.native_layer_norm, aten.native_group_norm, aten._fused_rms_norm,
           aten.native_batch_norm, aten._native_batch_norm_legit,
           aten._native_batch_norm_legit_functional, aten.cudnn_batch_norm]


def divide(*arguments: Any, num_fwd_outputs: int, **named: Any) -> tuple[fx.GraphModule,
                                                                         fx.GraphModule]:
    """Divides a graph of both directions. A tensor is saved instead of a view that the partitioner
    knows as one: the backward graph makes the view again, where a piece that reads it takes it in.
    Nor is a detached tensor saved: neither graph records gradients."""
    with functorch_config.patch(recompute_views=True):
        forward, backward = min_cut_rematerialization_partition(
            *arguments, num_fwd_outputs=num_fwd_outputs, **named)
    output = forward.graph.output_node()
    results = list(output.args[0])
    output.args = ([*results[:num_fwd_outputs], *map(_attached, results[num_fwd_outputs:])],)
    forward.graph.eliminate_dead_code()
    forward.recompile()
    return forward, backward


#: Marks nodes whose tensors AOTAutograd saves without noting later writes to them. It counts them.
_UNCHECKED = "saved_tensor_with_no_vc_check"


def _attached(node: fx.Node) -> fx.Node:
    """The node of the same tensor that is not detached, and that is saved in the same way."""
    while node.target is aten.detach.default and (
            node.meta.get(_UNCHECKED, False) == node.args[0].meta.get(_UNCHECKED, False)):
        node = node.args[0]
    return node


@lru_cache(maxsize=1)
def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's own decompositions of derivatives, and of operators that save values for them, as
    PyTorch has them at the first call."""
    backward = {overload.overloadpacket for overload in decomposition_table
                if isinstance(overload, torch._ops.OpOverload)
                and overload.overloadpacket.__name__.endswith(("_backward", "_backward_data"))}
    return dict(get_decompositions([*(backward - _EAGER), *_SAVING]))


def boxed(rewrite: Callable[[fx.GraphModule], None]) -> Callable[..., Any]:
    """A compiler for AOTAutograd that rewrites a graph. Its functions take their arguments as a
    list, and free each after its last use."""
    def compile_boxed(graph: fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        graph.graph.set_codegen(_BoxedCodeGen())
        rewrite(graph)
        forward = graph.forward

        def run(arguments: list[Any]) -> Any:
            return forward(arguments)
        run._boxed_call = True  # type: ignore[attr-defined]
        return run
    return compile_boxed
