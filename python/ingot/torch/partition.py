# SPDX-License-Identifier: Apache-2.0
"""Which nodes of an FX graph become Ingot graphs, and why the others do not."""
from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Mapping, Sequence

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupport

from ingot.torch.lowering import NAMES, memory_order, refusal
from ingot.torch.operators import MOVEMENT, VIEWS


@dataclass
class Piece:
    """Nodes that become one graph, in order, and those of them that others use."""
    nodes: list[fx.Node]
    outputs: list[fx.Node] = field(default_factory=list)


@dataclass
class Partition:
    """What of a graph is taken, and of the rest why it is not."""
    pieces: list[Piece]
    left: dict[fx.Node, str]


def _tensors(node: fx.Node) -> list[torch.Tensor]:
    values = node.meta.get("val")
    values = values if isinstance(values, (tuple, list)) else [values]
    return [value for value in values if isinstance(value, torch.Tensor)]


def _reason(node: fx.Node, devices: Sequence[str]) -> str | None:
    """Why a node stays with eager PyTorch, or None."""
    if node.op != "call_function":
        return "no operator"
    results = _tensors(node)
    if not results:
        return "gives no tensor"
    for tensor in results + [t for arg in node.all_input_nodes for t in _tensors(arg)]:
        if tensor.device.type not in devices:
            return f"a tensor on {tensor.device}"
        if tensor.layout != torch.strided or tensor.dtype not in NAMES:
            return f"a tensor of {tensor.dtype}, {tensor.layout}"
    if (node.target in VIEWS and any(user.op == "output" for user in node.users)
            and any(memory_order(tensor) is None for tensor in results)):
        return "a result whose elements do not lie one behind the other"
    return refusal(node)


class _Support(OperatorSupport):
    def __init__(self, left: Mapping[fx.Node, str]):
        super().__init__()
        self._left = left

    def is_node_supported(self, submodules, node: fx.Node) -> bool:
        return node.op == "call_function" and node not in self._left


def _computes(node: fx.Node) -> bool:
    return node.target not in MOVEMENT and node.target is not operator.getitem


def _trimmed(nodes: list[fx.Node]) -> list[fx.Node]:
    """Without views of results at the end, which PyTorch makes at no cost."""
    kept = set(nodes)
    for node in reversed(nodes):
        if node.target in VIEWS and not any(user in kept for user in node.users):
            kept.discard(node)
    return [node for node in nodes if node in kept]


def _connected(nodes: list[fx.Node]) -> list[list[fx.Node]]:
    """Parts that share no value and read no tensor of more than one element together."""
    inside, groups = set(nodes), UnionFind()
    for node in nodes:
        for arg in node.all_input_nodes:
            if arg in inside or any(not _is_scalar(tensor) for tensor in _tensors(arg)):
                groups.union(node, arg)
    parts: dict[fx.Node, list[fx.Node]] = {}
    for node in nodes:
        parts.setdefault(groups.find(node), []).append(node)
    return list(parts.values())


class UnionFind:
    """Disjoint sets of nodes."""

    def __init__(self):
        self._parent: dict[fx.Node, fx.Node] = {}

    def find(self, node: fx.Node) -> fx.Node:
        """The one that stands for the set of a node."""
        root = node
        while self._parent.get(root, root) is not root:
            root = self._parent[root]
        while node is not root:
            self._parent[node], node = root, self._parent.get(node, node)
        return root

    def union(self, a: fx.Node, b: fx.Node) -> None:
        self._parent[self.find(a)] = self.find(b)


def _is_scalar(tensor: torch.Tensor) -> bool:
    return all(isinstance(extent, int) and extent == 1 for extent in tensor.shape)


def _not_worth(nodes: list[fx.Node]) -> str | None:
    """Why a part that could be a graph is none."""
    if not any(map(_computes, nodes)):
        return "moves elements only"
    if all(_is_scalar(tensor) for node in nodes for tensor in
           _tensors(node) + [t for arg in node.all_input_nodes for t in _tensors(arg)]):
        return "scalars only"
    return None


def partition(module: fx.GraphModule, devices: Sequence[str] = ("cuda",)) -> Partition:
    """The largest pieces that can be cut out without a cycle. A piece computes something."""
    left: dict[fx.Node, str] = {}
    for node in module.graph.nodes:
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        if node.target is operator.getitem and node.args[0] not in left and _tensors(node):
            continue
        reason = (left.get(node.args[0]) if node.target is operator.getitem else
                  _reason(node, devices))
        if reason is not None:
            left[node] = reason
    position = {node: i for i, node in enumerate(module.graph.nodes)}
    proposed = CapabilityBasedPartitioner(
        module, _Support(left), allows_single_node_partition=True).propose_partitions()
    pieces = []
    for nodes in (nodes for proposal in proposed
                  for nodes in _connected(sorted(proposal.nodes, key=position.__getitem__))):
        reason = _not_worth(nodes)
        if reason is not None:
            left.update((node, reason) for node in nodes)
            continue
        nodes = _trimmed(nodes)
        inside = set(nodes)
        pieces.append(Piece(nodes, [node for node in nodes
                                    if any(user not in inside for user in node.users)
                                    and isinstance(node.meta["val"], torch.Tensor)]))
    pieces.sort(key=lambda piece: position[piece.nodes[0]])
    return Partition(pieces, left)
