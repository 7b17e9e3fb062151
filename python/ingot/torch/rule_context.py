# SPDX-License-Identifier: Apache-2.0
"""The interface that rules build graphs with."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import sympy
import torch

from ingot.builder import GraphBuilder
from ingot.specs import Extent
from ingot.torch.element_types import NAMES, SIXTEEN_BITS
from ingot.value import Value


class Refusal(Exception):
    """The reason that an operator stays with eager PyTorch."""


class Tensor(NamedTuple):
    """A value of the graph that is built, and the fake tensor that PyTorch has for it.
    `is_rounded`: its elements are known to be numbers of its type; kernels keep the results of
    16-bit arithmetic in f32."""
    value: Value
    fake: torch.Tensor
    is_rounded: bool = False


class SizeNames:
    """The names of dimensions: one for each symbol or expression of symbols, in order of use."""

    def __init__(self) -> None:
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

    def _name(self, expression: sympy.Expr) -> str:
        return self._names.setdefault(expression, f"n{len(self._names)}")


class RuleContext:
    """Builds the graph of a piece for rules, which call it `g`.

    `out` is the fake tensor that PyTorch has for the result of the operator at hand, or several of
    them."""

    def __init__(self, name: str) -> None:
        self.builder = GraphBuilder(name)
        self.names = SizeNames()
        self.out: Any = None

    def call(self, op: str, *arguments: Any, **named: Any) -> Any:
        """The value of a function of the text language. An argument that it refuses is an Error."""
        unwrap = self._unwrap
        return self.builder.call(op, *map(unwrap, arguments),
                                 **{name: unwrap(value) for name, value in named.items()})

    def _unwrap(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return argument.value
        if isinstance(argument, list):
            return [self._unwrap(item) for item in argument]
        return argument

    @staticmethod
    def is_number(value: Any) -> bool:
        """Whether it is a number, known now."""
        return isinstance(value, (int, float))

    @staticmethod
    def is_tensor(value: Any) -> bool:
        """Whether it is a tensor."""
        return isinstance(value, Tensor)

    @staticmethod
    def dtype(dtype: torch.dtype) -> str:
        """The name of an element type. One that graphs do not have is a Refusal."""
        if dtype not in NAMES:
            raise Refusal(f"elements of {dtype}")
        return NAMES[dtype]

    def cast(self, x: Any, dtype: torch.dtype) -> Any:
        """x in an element type; a number stays a number. Integers and bools are made from x rounded
        to its type."""
        if isinstance(x, Tensor):
            if x.fake.dtype == dtype:
                return x
            x = x if dtype.is_floating_point else self.rounded(x)
            return Tensor(self.call("cast", x, self.dtype(dtype)), x.fake.to(dtype), True)
        if isinstance(x, bool):
            return int(x)
        return x if isinstance(x, (int, float)) else self.number(x)

    def rounded(self, x: Any) -> Any:
        """x rounded to its element type, for functions that jump."""
        if not isinstance(x, Tensor) or x.is_rounded or x.fake.dtype not in SIXTEEN_BITS:
            return x
        return Tensor(self.call("cast", x, self.dtype(x.fake.dtype)), x.fake, True)

    def scaled(self, x: Any, factor: Any) -> Any:
        """x times a number."""
        return x if factor == 1 else self.call("mul", x, self.number(factor))

    def matmul(self, a: Tensor, b: Tensor) -> Any:
        """The matrix product."""
        return self.call("matmul", a, b)

    def extent(self, size: int | torch.SymInt) -> Extent:
        """A size as the graph has it."""
        return self.names.extent(size)

    def extents(self, shape: Sequence[Any]) -> list[Extent]:
        """A shape as the graph has it."""
        return [self.extent(size) for size in shape]

    @staticmethod
    def product(extents: Sequence[Extent]) -> Extent:
        """The product of extents."""
        numbers = math.prod(extent for extent in extents if isinstance(extent, int))
        names = [extent for extent in extents if isinstance(extent, str)]
        return "*".join(([str(numbers)] if numbers != 1 else []) + names) if names else numbers

    @staticmethod
    def number(x: Any) -> Any:
        """A number that is known now. One that is known at launch only is a Refusal."""
        if isinstance(x, (int, float)):
            return x
        if isinstance(x, torch.SymInt) and x.node.expr.is_Integer:
            return int(x.node.expr)
        raise Refusal(f"a number that is known at launch only ({x})")
