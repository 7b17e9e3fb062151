# SPDX-License-Identifier: Apache-2.0
"""Makes an Ingot graph from a piece of an FX graph of ATen operators."""
from __future__ import annotations

import enum
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx

from ingot.errors import Error
from ingot.graph import Graph
from ingot.launch_sizes import OutputLayout, split_extent
from ingot.specs import Extent
from ingot.torch.memory_order import memory_order, output_layout
from ingot.torch.rule_context import RuleContext, Tensor
from ingot.torch.rules import MOVEMENT, RULES, VIEWS, Refusal
from ingot.value import Value


class Origin(enum.Enum):
    """The origin of a tensor that a piece takes."""
    ARGUMENT = 0  # of the compiled function: TorchDynamo guards its shape and strides
    MODULE = 1    # a parameter or a buffer: its shape and strides are not guarded
    FROZEN = 2    # as MODULE, and the caller says that only counted writes change it
    COMPUTED = 3  # by an eager operator, whose strides may differ from those of its fake tensor
    SAVED = 4     # saved by a forward graph, or a gradient: its strides are not guarded


#: A keyword argument of nodes: the node before in the order of effects. No operator has it.
AFTER = "_ingot_after"


class Mismatch(Refusal):
    """A rule whose result has another element type or shape than PyTorch's."""


class RuleFault(str):
    """The reason that a rule is wrong: it raised, or gave another type or shape than PyTorch."""


def reason_of(error: Exception) -> str:
    """The reason that nodes stay with eager PyTorch when their graph could not be built."""
    if isinstance(error, Mismatch):
        return RuleFault(error)
    if isinstance(error, (Refusal, Error)):
        return str(error)
    return RuleFault(f"the rule failed: {type(error).__name__}: {error}")


class Lowering(RuleContext):
    """Builds the graph of a piece, node by node."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._values: dict[fx.Node, Any] = {}

    def bind(self, node: fx.Node, value: Value) -> None:
        """Sets the value of a node from outside of the piece."""
        self._values[node] = Tensor(value, node.meta["val"], True)

    def value(self, node: fx.Node) -> Value:
        """The value of a node that was lowered or bound."""
        value: Value = self._values[node].value
        return value

    def lower(self, node: fx.Node) -> None:
        """Appends the operators of a node. Raises Refusal or Error."""
        if node.target is operator.getitem:
            result = self._values[node.args[0]][node.args[1]]
            if result is None:
                raise Refusal(f"result {node.args[1]} of {node.args[0].target}")
            self._values[node] = result
            return
        self.out = node.meta["val"]
        arguments = fx.node.map_arg(node.args, self._argument)
        named = fx.node.map_arg({name: arg for name, arg in node.kwargs.items() if name != AFTER},
                                self._argument)
        result = RULES[node.target](self, *_lists(arguments), **_lists(named))
        if isinstance(result, tuple) and not isinstance(result, Tensor):
            self._values[node] = [None if value is None else self._checked(node, value, fake)
                                  for value, fake in zip(result, self.out)]
        else:
            self._values[node] = self._checked(node, result, self.out)

    def _checked(self, node: fx.Node, value: Tensor | Value, fake: torch.Tensor) -> Tensor:
        """Checks a value against the element type and shape of PyTorch's fake tensor."""
        is_rounded = self._moves_rounded(node)
        if isinstance(value, Tensor):
            is_rounded, value = value.is_rounded, value.value
        dtype, shape = self.builder.describe(value)
        wanted = self.dtype(fake.dtype), self.extents(fake.shape)
        if dtype != wanted[0] or list(map(_factors, shape)) != list(map(_factors, wanted[1])):
            raise Mismatch(f"the rule of {node.target} gives {dtype}{list(shape)}, PyTorch "
                           f"{wanted[0]}{wanted[1]}")
        return Tensor(value, fake, is_rounded)

    def _moves_rounded(self, node: fx.Node) -> bool:
        """Whether a node only moves elements, all of them rounded."""
        moved = [self._values.get(arg) for arg in node.all_input_nodes]
        return node.target in MOVEMENT and bool(moved) and all(
            isinstance(x, Tensor) and x.is_rounded for x in moved)

    def _argument(self, node: fx.Node) -> Any:
        if node in self._values:
            return self._values[node]
        return node.meta["val"]  # a SymInt


def _factors(extent: Extent) -> tuple[int, list[str]]:
    """The number and the sorted names of an extent."""
    if isinstance(extent, int):
        return extent, []
    number, names = split_extent(extent)
    return number, sorted(names)


def _lists(arguments: Any) -> Any:
    """The arguments with lists in place of FX's immutable lists."""
    if isinstance(arguments, Tensor):
        return arguments
    if isinstance(arguments, (list, tuple)):
        return [_lists(argument) for argument in arguments]
    if isinstance(arguments, Mapping):
        return {name: _lists(argument) for name, argument in arguments.items()}
    return arguments


def is_view(node: fx.Node) -> bool:
    """Whether PyTorch's result shares the memory of another tensor."""
    return node.target in VIEWS or (node.target is operator.getitem
                                    and node.args[0].target in VIEWS)


class Lowered(NamedTuple):
    """A piece as a graph. `inputs` and `params` are the nodes of its tensors, in the graph's order;
    `orders` are the orders in memory of inputs and params, `layouts` the layouts of outputs."""
    graph: Graph
    inputs: list[fx.Node]
    params: list[fx.Node]
    orders: list[list[int] | None]
    layouts: list[OutputLayout]


def lower_piece(name: str, nodes: Sequence[fx.Node], outputs: Sequence[fx.Node],
                origins: Mapping[fx.Node, Origin]) -> Lowered:
    """The graph of some nodes. Tensors from outside become inputs; those that are FROZEN become
    params. A tensor whose dims lie in another order in memory is declared in that order, and
    permuted. Raises Refusal or Error."""
    lowering = Lowering(name)
    inside = set(nodes)
    outer = [node for node in dict.fromkeys(arg for node in nodes for arg in node.all_input_nodes)
             if node not in inside and isinstance(node.meta["val"], torch.Tensor)]
    roles: tuple[list[fx.Node], list[fx.Node]] = ([], [])
    orders: dict[fx.Node, list[int] | None] = {}
    for node in outer:
        fake = node.meta["val"]
        order = orders[node] = memory_order(fake)
        # A tensor that must be moved first is a new one at each call, and is never recognized.
        role = (origins.get(node) is Origin.FROZEN and order is not None
                and order == sorted(order))
        extents = lowering.extents(fake.shape)
        declare = lowering.builder.param if role else lowering.builder.input
        lies = order or list(range(fake.dim()))
        tensor_name = f"{'p' if role else 'x'}{len(roles[role])}"
        value = declare(tensor_name, lowering.dtype(fake.dtype), [extents[dim] for dim in lies])
        if lies != sorted(lies):
            value = lowering.call("permute", value, [lies.index(dim) for dim in range(len(lies))])
        lowering.bind(node, value)
        roles[role].append(node)
    for node in nodes:
        lowering.lower(node)
    layouts = [output_layout(node.meta["val"]) for node in outputs]
    for i, (node, layout) in enumerate(zip(outputs, layouts)):
        value = lowering.value(node)
        if layout.order != sorted(layout.order):
            value = lowering.call("permute", value, layout.order)
        lowering.builder.output(f"y{i}", value)
    graph = lowering.builder.finish()
    inputs, params = roles
    return Lowered(graph, inputs, params, [orders[node] for node in inputs + params], layouts)


def refusal(node: fx.Node) -> str | None:
    """The reason that a node has no graph of its own, or None. Builds a graph of the node alone."""
    if node.target is operator.getitem:
        return None  # belongs to the operator that it is a result of
    if node.target not in RULES:
        return "no rule for this operator"
    try:
        results = node.meta["val"]
        if isinstance(results, torch.Tensor):
            lower_piece("trial", [node], [node], {})
        else:
            takers = [user for user in node.users if user.target is operator.getitem]
            lower_piece("trial", [node, *takers], takers, {})
    except Exception as error:  # noqa: BLE001 - PyTorch can run the operator
        return reason_of(error)
    return None
