# SPDX-License-Identifier: Apache-2.0
"""The nodes of an FX graph that become Ingot graphs, and the reasons that the others do not."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupport

from ingot.torch.element_types import NAMES
from ingot.torch.lowering import AFTER, is_view, refusal
from ingot.torch.memory_order import memory_order
from ingot.torch.rewrites import drop_empty_parts, move_biases
from ingot.torch.rules import MOVEMENT

# Reasons that nodes with rules stay with eager PyTorch.
MOVES_ONLY, SCALARS_ONLY = "moves elements only", "scalars only"


@dataclass
class Piece:
    """Nodes that become one graph, in order, and those whose values are used outside."""
    nodes: list[fx.Node]
    outputs: list[fx.Node] = field(default_factory=list)


@dataclass
class Partition:
    """The pieces of a graph that are taken, and the reason of each node that is left."""
    pieces: list[Piece]
    left: dict[fx.Node, str]


class OtherDevice(str):
    """The reason that a tensor is on a device without Ingot programs."""


def _tensors(node: fx.Node) -> list[torch.Tensor]:
    values = node.meta.get("val")
    values = values if isinstance(values, (tuple, list)) else [values]
    return [value for value in values if isinstance(value, torch.Tensor)]


def _reason(node: fx.Node, devices: Sequence[str]) -> str | None:
    """The reason that a node stays with eager PyTorch, or None."""
    if node.op != "call_function":
        return "no operator"
    results = _tensors(node)
    if not results:
        return "gives no tensor"
    tensors = results + [t for arg in node.all_input_nodes for t in _tensors(arg)]
    for tensor in tensors:
        if tensor.device.type not in devices:
            return OtherDevice(f"a tensor on {tensor.device}")
        if tensor.layout != torch.strided or tensor.dtype not in NAMES:
            return f"a tensor of {tensor.dtype}, {tensor.layout}"
    on = sorted({str(tensor.device) for tensor in tensors})
    if len(on) > 1:
        return f"tensors on {' and '.join(on)}"
    return refusal(node)


def _may_have_effect(node: fx.Node) -> bool:
    """Whether a node may do more than give its result: draw random numbers, or write. A node that
    a rule takes does not, though PyTorch says so of attention, which may drop elements."""
    return node.op.startswith("call_") and (
        (node.is_impure() and refusal(node) is not None)
        or isinstance(node.target, torch._ops.HigherOrderOperator))


def keep_order_of_effects(graph: fx.Graph) -> None:
    """Makes each node that may have an effect depend on the one before it."""
    calls = [node for node in graph.nodes if _may_have_effect(node)]
    for before, node in zip(calls, calls[1:]):
        node.kwargs = {**node.kwargs, AFTER: before}


def forget_order_of_effects(graph: fx.Graph) -> None:
    """Removes the dependences of `keep_order_of_effects`."""
    for node in graph.nodes:
        if AFTER in node.kwargs:
            node.kwargs = {name: arg for name, arg in node.kwargs.items() if name != AFTER}


class _Support(OperatorSupport):
    def __init__(self, left: Mapping[fx.Node, str]) -> None:
        super().__init__()
        self._left = left

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module],
                          node: fx.Node) -> bool:
        return node.op == "call_function" and node not in self._left


def _computes(node: fx.Node) -> bool:
    return node.target not in MOVEMENT and node.target is not operator.getitem


def _connected(nodes: list[fx.Node]) -> list[list[fx.Node]]:
    """Splits nodes into parts that share no value, and no input of more than one element."""
    inside, groups = set(nodes), UnionFind()
    for node in nodes:
        for arg in node.all_input_nodes:
            if arg in inside or any(not _is_scalar(tensor) for tensor in _tensors(arg)):
                groups.union(node, arg)
    return groups.sets(nodes)


class UnionFind:
    """Disjoint sets of nodes."""

    def __init__(self) -> None:
        self._parent: dict[fx.Node, fx.Node] = {}

    def find(self, node: fx.Node) -> fx.Node:
        """The representative of the set of a node."""
        root = node
        while self._parent.get(root, root) is not root:
            root = self._parent[root]
        while node is not root:
            self._parent[node], node = root, self._parent.get(node, node)
        return root

    def union(self, a: fx.Node, b: fx.Node) -> None:
        self._parent[self.find(a)] = self.find(b)

    def sets(self, nodes: Iterable[fx.Node]) -> list[list[fx.Node]]:
        """The nodes, those of a set together."""
        sets: dict[fx.Node, list[fx.Node]] = {}
        for node in nodes:
            sets.setdefault(self.find(node), []).append(node)
        return list(sets.values())


def _is_scalar(tensor: torch.Tensor) -> bool:
    return all(isinstance(extent, int) and extent == 1 for extent in tensor.shape)


def _not_worth(nodes: list[fx.Node]) -> str | None:
    """The reason that a part stays with eager PyTorch though its nodes have rules, or None."""
    if not any(map(_computes, nodes)):
        return MOVES_ONLY
    if all(_is_scalar(tensor) for node in nodes for tensor in
           _tensors(node) + [t for arg in node.all_input_nodes for t in _tensors(arg)]):
        return SCALARS_ONLY
    return None


def _is_own_view(node: fx.Node, left: Mapping[fx.Node, str]) -> bool:
    """Whether a piece that reads a node computes it itself."""
    return node.op == "call_function" and is_view(node) and (
        left.get(node) in (None, MOVES_ONLY, SCALARS_ONLY))


def _own_views(graph: fx.Graph, nodes: list[fx.Node], left: Mapping[fx.Node, str]) -> set[fx.Node]:
    """A piece with the views that it reads, back to the tensors that they are views of, and no
    others. A view that others read too is copied for the piece. So no output of a piece is a
    view: PyTorch makes it from the tensor that the piece gives, whose memory it shares."""
    computing = [node for node in nodes if not is_view(node)]
    inside, wanted, pending = set(computing), set(), list(computing)
    while pending:
        for arg in pending.pop().all_input_nodes:
            if arg not in wanted and _is_own_view(arg, left):
                wanted.add(arg)
                pending.append(arg)
    own: dict[fx.Node, fx.Node] = {}
    for view in [node for node in graph.nodes if node in wanted]:
        with graph.inserting_after(view):
            own[view] = graph.node_copy(view, lambda arg: own.get(arg, arg))
    for view, copy in own.items():
        view.replace_all_uses_with(copy, delete_user_cb=lambda user: user in inside)
        inside.add(copy)
    return inside


def partition(module: fx.GraphModule, devices: Sequence[str] = ("cuda",)) -> Partition:
    """The largest pieces that can be cut out without a cycle. A piece computes something. No node
    with an effect has a rule, so none is in a piece. Changes the graph: views are copied, and the
    rewrites applied."""
    drop_empty_parts(module.graph)
    module.graph.eliminate_dead_code()
    move_biases(module.graph, lambda node: node.op == "call_function" and _computes(node)
                and _reason(node, devices) is None)
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
    while True:
        parts = _worth_parts(module, left)
        owned = [_own_views(module.graph, nodes, left) for nodes in parts]
        module.graph.eliminate_dead_code()  # views that only pieces read
        position = {node: i for i, node in enumerate(module.graph.nodes)}
        pieces = [_piece(inside, position) for inside in owned]
        gaps = [node for piece in pieces for node in piece.outputs
                if memory_order(node.meta["val"]) is None]
        if not gaps:
            break
        left.update((node, "a result with gaps between its elements") for node in gaps)
    pieces.sort(key=lambda piece: position[piece.nodes[0]])
    return Partition(pieces, {node: why for node, why in left.items() if node in position})


def _piece(inside: set[fx.Node], position: Mapping[fx.Node, int]) -> Piece:
    nodes = sorted(inside, key=position.__getitem__)
    return Piece(nodes, [node for node in nodes
                         if any(user not in inside for user in node.users)
                         and isinstance(node.meta["val"], torch.Tensor)])


def _by_device(proposed: Iterable[Any]) -> list[list[fx.Node]]:
    """The nodes of each proposal on each device. A node is on one."""
    parts: dict[tuple[int, torch.device], list[fx.Node]] = {}
    for i, proposal in enumerate(proposed):
        for node in proposal.nodes:
            parts.setdefault((i, _tensors(node)[0].device), []).append(node)
    return list(parts.values())


def _worth_parts(module: fx.GraphModule, left: dict[fx.Node, str]) -> list[list[fx.Node]]:
    """The nodes of each piece. Adds to `left` the nodes that are not worth a piece."""
    position = {node: i for i, node in enumerate(module.graph.nodes)}
    proposed = CapabilityBasedPartitioner(
        module, _Support(left), allows_single_node_partition=True).propose_partitions()
    parts = []
    for proposed_nodes in _by_device(proposed):
        worth: list[list[fx.Node]] = []
        counters: list[fx.Node] = []  # as BatchNorm's number of batches
        for nodes in _connected(sorted(proposed_nodes, key=position.__getitem__)):
            reason = _not_worth(nodes)
            if reason is None:
                worth.append(nodes)
            elif reason == SCALARS_ONLY:
                counters += nodes
            else:
                left.update((node, reason) for node in nodes)
        if worth:  # one program's launch is cheaper than an operator of eager beside it
            worth[0] = sorted(worth[0] + counters, key=position.__getitem__)
        else:
            left.update((node, SCALARS_ONLY) for node in counters)
        parts += worth
    return _joined(parts, left)


def _joined(parts: list[list[fx.Node]], left: Mapping[fx.Node, str]) -> list[list[fx.Node]]:
    """Gives a part to another one on the same device that alone makes the tensors that it reads,
    such as the last step of a scale that is saved. The partitioner puts it beside other late nodes,
    with which it shares nothing."""
    groups, taken = UnionFind(), {node for part in parts for node in part}
    for part in parts:
        for node in part:
            groups.union(node, part[0])

    def made(node: fx.Node) -> fx.Node:
        while _is_own_view(node, left):
            node = node.all_input_nodes[0]
        return node

    def maker(part: list[fx.Node]) -> fx.Node | None:
        """A node of the set that alone makes the tensors that a part reads, or None."""
        read = {made(arg) for node in part for arg in node.all_input_nodes}
        makers = {groups.find(node) if node in taken else None for node in read
                  if node.op == "call_function"} - {groups.find(part[0])}
        return makers.pop() if len(makers) == 1 else None

    def device(node: fx.Node) -> torch.device:
        return _tensors(node)[0].device

    has_joined = True
    while has_joined:  # a part may read two that have become one
        has_joined = False
        for part in parts:
            found = maker(part)
            if found is not None and device(found) == device(part[0]):
                groups.union(part[0], found)
                has_joined = True
    return groups.sets(node for part in parts for node in part)
