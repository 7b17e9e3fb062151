# SPDX-License-Identifier: Apache-2.0
"""From a piece of an FX graph of ATen operators to an Ingot graph."""
from __future__ import annotations

import enum
import math
import operator
from typing import Any, Mapping, NamedTuple, Sequence

import sympy
import torch
from torch import fx

from ingot.builder import GraphBuilder
from ingot.errors import Error
from ingot.graph import Graph
from ingot.launch_sizes import OutputLayout, split_extent
from ingot.specs import Extent
from ingot.torch.rules import MOVEMENT, RULES, VIEWS, Refusal
from ingot.torch_device import TORCH_DTYPES
from ingot.value import Value

NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}

_ROUNDED_LATE = (torch.float16, torch.bfloat16)


class Origin(enum.Enum):
    """Where a tensor that a piece takes comes from."""
    ARGUMENT = 0  # of the compiled function: TorchDynamo guards its shape and strides
    MODULE = 1    # a parameter or a buffer: its shape and strides are not guarded
    FROZEN = 2    # as MODULE, and the caller says that only counted writes change it
    COMPUTED = 3  # by an eager operator, whose strides may differ from those of its fake tensor


class Mismatch(Refusal):
    """A rule whose result has another element type or shape than PyTorch's."""


class RuleFault(str):
    """The reason that a rule is wrong: it raised, or gave another type or shape than PyTorch."""


def reason_of(error: Exception) -> str:
    """Why nodes stay with eager PyTorch whose graph could not be built."""
    if isinstance(error, Mismatch):
        return RuleFault(error)
    if isinstance(error, (Refusal, Error)):
        return str(error)
    return RuleFault(f"the rule failed: {type(error).__name__}: {error}")


class Tensor(NamedTuple):
    """A value of the graph that is built, and what PyTorch knows of it. `is_rounded`: its elements
    are known to be numbers of its type. Kernels keep the results of 16-bit arithmetic in f32."""
    value: Value
    fake: torch.Tensor
    is_rounded: bool = False


class Names:
    """Names of dimensions: of each symbol or expression of symbols its own, in order of use."""

    def __init__(self):
        self._names: dict[Any, str] = {}

    def extent(self, size: int | torch.SymInt) -> Extent:
        """A number, or a product of numbers and names; another expression has a name of its own."""
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if expression.is_Integer:
            return int(expression)
        number, factors = expression.as_coeff_Mul()
        parts = []
        for factor in sympy.Mul.make_args(factors):
            base, power = factor.as_base_exp()
            if not (base.is_Symbol and power.is_Integer and 0 < power <= 4):
                return self._name(expression)
            parts += [self._name(base)] * int(power)
        if not (number.is_Integer and number > 0):
            return self._name(expression)
        return "*".join(([] if number == 1 else [str(number)]) + parts)

    def _name(self, expression) -> str:
        return self._names.setdefault(expression, f"n{len(self._names)}")


class Lowering:
    """Builds one graph; what rules are called with.

    `out` is what PyTorch knows of the result of the operator at hand: a fake tensor, or several."""

    def __init__(self, name: str):
        self.builder = GraphBuilder(name)
        self.names = Names()
        self.out: Any = None
        self._values: dict[fx.Node, Any] = {}

    # --- what rules use ---

    def call(self, op: str, *arguments, **named) -> Any:
        unwrap = self._unwrap
        return self.builder.call(op, *map(unwrap, arguments),
                                 **{name: unwrap(value) for name, value in named.items()})

    def _unwrap(self, argument):
        if isinstance(argument, Tensor):
            return argument.value
        if isinstance(argument, list):
            return [self._unwrap(item) for item in argument]
        return argument

    @staticmethod
    def is_number(value) -> bool:
        return isinstance(value, (int, float))

    @staticmethod
    def is_tensor(value) -> bool:
        return isinstance(value, Tensor)

    @staticmethod
    def dtype(dtype: torch.dtype) -> str:
        if dtype not in NAMES:
            raise Refusal(f"elements of {dtype}")
        return NAMES[dtype]

    def cast(self, x, dtype: torch.dtype):
        """x in an element type; a number stays what it is. Integers and bools come from
        x rounded to its type."""
        if isinstance(x, Tensor):
            if x.fake.dtype == dtype:
                return x
            x = x if dtype.is_floating_point else self.rounded(x)
            return Tensor(self.call("cast", x, self.dtype(dtype)), x.fake.to(dtype), True)
        if isinstance(x, bool):
            return int(x)
        return x if isinstance(x, (int, float)) else self.number(x)

    def rounded(self, x):
        """x as its element type holds it: for results that jump where x is rounded."""
        if not isinstance(x, Tensor) or x.is_rounded or x.fake.dtype not in _ROUNDED_LATE:
            return x
        return Tensor(self.call("cast", x, self.dtype(x.fake.dtype)), x.fake, True)

    def scaled(self, x, factor):
        return x if factor == 1 else self.call("mul", x, self.number(factor))

    def matmul(self, a: Tensor, b: Tensor):
        return self.call("matmul", a, b)

    def extent(self, size) -> Extent:
        return self.names.extent(size)

    def extents(self, shape: Sequence) -> list[Extent]:
        return [self.extent(size) for size in shape]

    @staticmethod
    def product(extents: Sequence[Extent]) -> Extent:
        numbers = math.prod(extent for extent in extents if isinstance(extent, int))
        names = [extent for extent in extents if isinstance(extent, str)]
        return "*".join(([str(numbers)] if numbers != 1 else []) + names) if names else numbers

    @staticmethod
    def number(x):
        """A number that is known now."""
        if isinstance(x, (int, float)):
            return x
        if isinstance(x, torch.SymInt) and x.node.expr.is_Integer:
            return int(x.node.expr)
        raise Refusal(f"a number that is known at launch only ({x})")

    # --- nodes ---

    def bind(self, node: fx.Node, value: Value) -> None:
        """The value of a node that comes from outside."""
        self._values[node] = Tensor(value, node.meta["val"], True)

    def value(self, node: fx.Node) -> Value:
        return self._values[node].value

    def lower(self, node: fx.Node) -> None:
        """Appends what a node computes. Raises Refusal or Error."""
        if node.target is operator.getitem:
            result = self._values[node.args[0]][node.args[1]]
            if result is None:
                raise Refusal(f"result {node.args[1]} of {node.args[0].target}")
            self._values[node] = result
            return
        self.out = node.meta["val"]
        arguments = fx.node.map_arg(node.args, self._argument)
        named = fx.node.map_arg(node.kwargs, self._argument)
        result = RULES[node.target](self, *_lists(arguments), **_lists(named))
        if isinstance(result, tuple) and not isinstance(result, Tensor):
            self._values[node] = [None if value is None else self._checked(node, value, fake)
                                  for value, fake in zip(result, self.out)]
        else:
            self._values[node] = self._checked(node, result, self.out)

    def _checked(self, node: fx.Node, value: Tensor | Value, fake: torch.Tensor) -> Tensor:
        """The value of a node, which must have the element type and shape that PyTorch says."""
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

    def _argument(self, node: fx.Node):
        if node in self._values:
            return self._values[node]
        return node.meta["val"]  # a SymInt


def _factors(extent: Extent) -> tuple[int, list[str]]:
    """The number and the sorted names of an extent."""
    if isinstance(extent, int):
        return extent, []
    number, names = split_extent(extent)
    return number, sorted(names)


def _lists(arguments):
    """FX's immutable lists as lists."""
    if isinstance(arguments, Tensor):
        return arguments
    if isinstance(arguments, (list, tuple)):
        return [_lists(argument) for argument in arguments]
    if isinstance(arguments, Mapping):
        return {name: _lists(argument) for name, argument in arguments.items()}
    return arguments


def memory_order(tensor: torch.Tensor) -> list[int] | None:
    """The dims of a tensor from the slowest to the fastest in memory, where its elements lie one
    behind the other in that order; else None."""
    from torch.fx.experimental.symbolic_shapes import guard_or_false
    if guard_or_false(tensor.is_contiguous()):
        return list(range(tensor.dim()))
    hints = [stride if isinstance(stride, int) else stride.node.hint
             for stride in tensor.stride()]
    if any(hint is None for hint in hints):
        return None
    order = sorted(range(tensor.dim()), key=lambda dim: -hints[dim])
    dense = 1
    for dim in reversed(order):
        extent = tensor.shape[dim]
        if guard_or_false(extent == 1):
            continue
        if not guard_or_false(tensor.stride(dim) == dense):
            return None
        dense = dense * extent
    return order


def is_view(node: fx.Node) -> bool:
    """Whether PyTorch's result shares the memory of another tensor."""
    return node.target in VIEWS or (node.target is operator.getitem
                                    and node.args[0].target in VIEWS)


class Lowered(NamedTuple):
    """A piece as a graph. `inputs` and `params` are the nodes of its tensors, in the graph's order;
    `orders` tells how the dims of inputs and params lie in memory, `layouts` those of outputs."""
    graph: Graph
    inputs: list[fx.Node]
    params: list[fx.Node]
    orders: list[list[int] | None]
    layouts: list[OutputLayout]


def _layout(node: fx.Node) -> OutputLayout:
    """The order and, where they are numbers, the strides that PyTorch says of a result."""
    fake = node.meta["val"]
    order = memory_order(fake)
    if order is None:  # a trial: such a result leaves no piece
        return OutputLayout(list(range(fake.dim())))
    strides = fake.stride()
    known = all(isinstance(stride, int) for stride in strides)
    return OutputLayout(order, tuple(strides) if known else None)


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
        # What must be moved first is another tensor at each call, and cannot be known again.
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
    layouts = [_layout(node) for node in outputs]
    for i, (node, layout) in enumerate(zip(outputs, layouts)):
        value = lowering.value(node)
        if layout.order != sorted(layout.order):
            value = lowering.call("permute", value, layout.order)
        lowering.builder.output(f"y{i}", value)
    graph = lowering.builder.finish()
    inputs, params = roles
    return Lowered(graph, inputs, params, [orders[node] for node in inputs + params], layouts)


def refusal(node: fx.Node) -> str | None:
    """Why a node has no graph of its own, or None. A graph of the node alone is tried."""
    if node.target is operator.getitem:
        return None  # belongs to what it is taken from
    if node.target not in RULES:
        return "no rule for this operator"
    try:
        results = node.meta["val"]
        if isinstance(results, torch.Tensor):
            lower_piece("trial", [node], [node], {})
        else:
            takers = [user for user in node.users if user.target is operator.getitem]
            lower_piece("trial", [node, *takers], takers, {})
    except Exception as error:
        return reason_of(error)
    return None
