# SPDX-License-Identifier: Apache-2.0
"""Values of a graph that is built: operators and attributes as tensors have them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Union

from ingot import _structs
from ingot._arguments import short_repr
from ingot._functions import OWN, is_function
from ingot._methods import BuilderMethods, ValueMethods
from ingot._tensor_methods import TensorMethods
from ingot.errors import GraphTypeError, InvalidArgumentError, UnknownFunctionError
from ingot.specs import Extent, type_text

_NO_ELEMENTS = "a value of a graph has no elements until the graph is launched"


class Builder(BuilderMethods):
    """The part of GraphBuilder that its values use."""

    def call(self, op: str, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError

    def describe(self, value: Value) -> tuple[str, tuple[Extent, ...]]:
        raise NotImplementedError

    def _index(self, x: Value, items: Sequence[Any]) -> Value:
        raise NotImplementedError

    def _unknown(self, name: str, *first: Value) -> Callable[..., NoReturn]:
        raise NotImplementedError


class Value(ValueMethods, TensorMethods):
    """A value of a builder. Arithmetic, comparisons, `x[...]`, `.T` and `.mT` append operators to
    its graph. Every function of the text language whose first parameter is a tensor is a method:
    `x.f(a)` is `g.f(x, a)`."""

    __slots__ = ("_builder", "_value")
    __hash__ = object.__hash__
    __array_priority__ = 1000  # numpy's scalars leave arithmetic to the value

    def __init__(self, builder: Builder, value: _structs.Value) -> None:
        if not isinstance(builder, Builder) or not isinstance(value, _structs.Value):
            raise InvalidArgumentError("a Value is made by a GraphBuilder's methods alone")
        self._builder, self._value = builder, value

    def _call(self, op: str, *arguments: Any, **named: Any) -> Any:
        return self._builder.call(op, self, *arguments, **named)

    def _of(self, op: str) -> Value:
        result: Value = self._builder.call(op, self)
        return result

    def _operate(self, op: str, a: Any, b: Any, **named: Any) -> Value:
        if a is None or b is None:
            raise InvalidArgumentError(f"{op}: expected a value or a number beside "
                                       f"{self._type_text()}, got None")
        if isinstance(a, str) or isinstance(b, str):
            name = short_repr(a if isinstance(a, str) else b)
            dtype = "i64" if self.dtype == "bool" else self.dtype
            raise InvalidArgumentError(f"{op}: expected a value or a number beside "
                                       f"{self._type_text()}, got {name}; the size of a dimension "
                                       f"is g.extent(\"{dtype}\", [{name}])")
        result: Value = self._builder.call(op, a, b, **named)
        return result

    def __getattr__(self, op: str) -> Callable[..., NoReturn]:
        """Raises for a name that is no method, with the words to write instead."""
        if op.startswith("_"):  # copy asks an empty value, which has no builder
            raise AttributeError(op)
        if op in OWN or is_function(op):
            raise UnknownFunctionError(f"'{op}' is a method of the builder: write g.{op}(...)")
        return self._builder._unknown(op, self)

    @property
    def dtype(self) -> str:
        """The element type."""
        return self._builder.describe(self)[0]

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The extents: numbers, and names or formulas such as "2*m"."""
        return self._builder.describe(self)[1]

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<ingot.Value {self._type_text()}>"

    def _type_text(self) -> str:
        return type_text(self.dtype, self.shape)

    def __bool__(self) -> bool:
        raise TypeError("a value of a graph is known at launch only: choose with where(condition, "
                        "a, b)")

    def __iter__(self) -> NoReturn:
        raise TypeError("a value of a graph cannot be iterated over: take x[0], x[1] and so on, or "
                        "split(x, sizes, axis)")

    def __contains__(self, item: Any) -> bool:
        raise TypeError(f"{_NO_ELEMENTS}: write (x == 2).any()")

    def __len__(self) -> int:
        raise TypeError("a value of a graph has no len: write x.shape[0], a number or the name of "
                        "a dimension")

    def __float__(self) -> float:
        raise TypeError(f"{_NO_ELEMENTS}: write its functions, such as x.exp() for math.exp(x)")

    def __int__(self) -> int:
        raise TypeError(f"{_NO_ELEMENTS}: write x.cast(\"i32\") for another type")

    def __complex__(self) -> complex:
        raise TypeError(f"{_NO_ELEMENTS}, and there are no complex numbers")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("a value of a graph cannot be written to: make another with where(mask, a, "
                        "x) or concat([x, a], axis)")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"numpy computes on arrays. {_NO_ELEMENTS.capitalize()}: write its own "
                        "functions, such as x.exp() for numpy.exp(x)")

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (),
                           named: Any = None) -> NoReturn:
        name = getattr(function, "__name__", str(function))
        raise TypeError(f"{name}: PyTorch computes on tensors. {_NO_ELEMENTS.capitalize()}: write "
                        "its own functions, such as x.exp() for torch.exp(x), and declare tensors "
                        "as inputs")

    def __getitem__(self, index: Any) -> Value:
        """Positions, ranges, `...` and None, as PyTorch has them. Tensors, masks and steps below 1
        are refused. A range of a named extent has step 1."""
        return self._builder._index(self, index if isinstance(index, tuple) else (index,))

    @property
    def T(self) -> Value:
        """The two dims of a matrix swapped."""
        if self.ndim != 2:
            raise GraphTypeError(
                f"'.T' swaps the dims of a tensor that has two, got {self._type_text()}; write "
                "transpose(x, dim0, dim1), or .mT for the last two")
        return self.mT

    @property
    def mT(self) -> Value:
        """The last two dims swapped."""
        return self._of("transpose")

    def __neg__(self) -> Value:
        return self._of("neg")

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return self._of("abs")

    def __round__(self) -> Value:
        return self._of("round")

    def __invert__(self) -> Value:
        return self._of("not")

    def __add__(self, other: Operand) -> Value:
        return self._operate("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self._operate("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self._operate("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._operate("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self._operate("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._operate("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self._operate("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._operate("div", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return self._operate("div", self, other, rounding_mode="floor")

    def __rfloordiv__(self, other: Operand) -> Value:
        return self._operate("div", other, self, rounding_mode="floor")

    def __mod__(self, other: Operand) -> Value:
        return self._operate("remainder", self, other)

    def __rmod__(self, other: Operand) -> Value:
        return self._operate("remainder", other, self)

    def __pow__(self, other: Operand) -> Value:
        return self._operate("power", self, other)

    def __rpow__(self, other: Operand) -> Value:
        return self._operate("power", other, self)

    def __matmul__(self, other: Value) -> Value:
        return self._operate("matmul", self, other)

    def __rmatmul__(self, other: Value) -> Value:
        return self._operate("matmul", other, self)

    def __and__(self, other: Operand) -> Value:
        return self._operate("and", self, other)

    def __rand__(self, other: Operand) -> Value:
        return self._operate("and", other, self)

    def __or__(self, other: Operand) -> Value:
        return self._operate("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return self._operate("or", other, self)

    def __lt__(self, other: Operand) -> Value:
        return self._operate("less", self, other)

    def __le__(self, other: Operand) -> Value:
        return self._operate("less_equal", self, other)

    def __gt__(self, other: Operand) -> Value:
        return self._operate("greater", self, other)

    def __ge__(self, other: Operand) -> Value:
        return self._operate("greater_equal", self, other)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return self._operate("equal", self, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return self._operate("not_equal", self, other)


#: An operand beside a value in arithmetic.
Operand = Union[Value, int, float]
