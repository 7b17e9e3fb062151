# SPDX-License-Identifier: Apache-2.0
"""Rewrites of an FX graph before it is cut into pieces. Each leaves the results as they are."""
from __future__ import annotations

from collections.abc import Callable

import torch
from torch import fx
from torch._prims_common import suggest_memory_format

_T = torch.ops.aten.t.default
_CAT = torch.ops.aten.cat.default
_CONVOLUTION = torch.ops.aten.convolution.default


def drop_empty_parts(graph: fx.Graph) -> None:
    """Takes the tensors without elements out of concatenations, such as an empty cache of keys.
    Ingot has no such tensors."""
    for node in graph.find_nodes(op="call_function", target=_CAT):
        parts = [part for part in node.args[0] if not _is_empty(part.meta.get("val"))]
        if not parts or len(parts) == len(node.args[0]) or any(
                "val" not in part.meta for part in parts):
            continue
        tensors, result = [part.meta["val"] for part in parts], node.meta["val"]
        # Without the others, the result keeps its element type and its order in memory.
        is_same_type = any(tensor.dtype == result.dtype for tensor in tensors)
        is_contiguous = result.is_contiguous() and all(
            suggest_memory_format(tensor) is torch.contiguous_format for tensor in tensors)
        if is_same_type and is_contiguous:
            node.update_arg(0, parts)


def _is_empty(tensor: torch.Tensor | None) -> bool:
    return isinstance(tensor, torch.Tensor) and any(
        isinstance(extent, int) and extent == 0 for extent in tensor.shape)


def drop_double_transposes(graph: fx.Graph) -> None:
    """Puts a tensor in place of the transpose of its transpose, as gradients of weights are given.
    For backward graphs alone: two results of a call must not become one tensor."""
    for node in graph.find_nodes(op="call_function", target=_T):
        transposed = node.args[0]
        if transposed.target is _T and transposed.args[0].op == "call_function":
            node.replace_all_uses_with(transposed.args[0])


def move_biases(graph: fx.Graph, is_taken: Callable[[fx.Node], bool]) -> None:
    """Adds the bias of a convolution by an operator of its own, where all users of the result are
    taken. The operator then belongs to their piece. Behind cuDNN's convolutions PyTorch adds the
    bias by a kernel that reads and writes the whole result."""
    for node in list(graph.find_nodes(op="call_function", target=_CONVOLUTION)):
        bias = node.args[2]
        result = node.meta.get("val")
        if not isinstance(bias, fx.Node) or not isinstance(result, torch.Tensor) or not isinstance(
                bias.meta.get("val"), torch.Tensor):
            continue
        if node.users and all(map(is_taken, node.users)):
            _move_bias(graph, node, bias, result)


def _move_bias(graph: fx.Graph, node: fx.Node, bias: fx.Node, result: torch.Tensor) -> None:
    extents = [-1] + [1] * (result.dim() - 2)  # the result is [N, C, ...]
    with graph.inserting_after(node):
        spread = graph.call_function(torch.ops.aten.view.default, (bias, extents))
    spread.meta["val"] = bias.meta["val"].view(extents)
    with graph.inserting_after(spread):
        added = graph.call_function(torch.ops.aten.add.Tensor, (node, spread))
    added.meta["val"] = result
    node.replace_all_uses_with(added, delete_user_cb=lambda user: user is not added)
    node.update_arg(2, None)
