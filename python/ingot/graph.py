# SPDX-License-Identifier: Apache-2.0
"""Graphs: read from specs, or built operator by operator."""
from __future__ import annotations

import os
from ctypes import POINTER, byref, c_size_t, cast
from typing import Any, Sequence, Union

from ingot import _library as lib
from ingot.errors import InvalidArgumentError

#: The element types, in the order of ingot_type.
DTYPES = ("f32", "f16", "bf16", "i32", "i64", "bool")

#: A number, a name, or a product such as "2*m".
Extent = Union[int, str]

_VALUE, _INTEGER, _REAL, _BOOL, _TYPE, _EXTENT, _TEXT, _LIST = range(1, 9)


def _type_code(dtype: str) -> int:
    if dtype not in DTYPES:
        raise InvalidArgumentError(
            f"expected an element type of {', '.join(DTYPES)}, got {dtype!r}")
    return DTYPES.index(dtype)


def _shape(extents: Sequence[Extent]):
    result = (lib.Extent * max(len(extents), 1))()
    for to, extent in zip(result, extents):
        if isinstance(extent, str):
            to.name = extent.encode()
        else:
            to.number = int(extent)
    return result


class Graph(lib.Handle):
    """An immutable graph: `parse`, `parse_file`, or what a GraphBuilder finishes."""

    _free = "ingot_graph_free"

    def __str__(self) -> str:
        """The graph in the text language, in its canonical primitive form."""
        return lib.take_bytes(lib.make("ingot_graph_text", self._handle)).decode()


def parse(text: str, name: str = "<spec>") -> Graph:
    """Reads one graph spec. `name` is what messages call it. Raises ParseError, GraphTypeError."""
    data = text.encode()
    return Graph(lib.make("ingot_graph_parse", data, len(data), name.encode()))


def parse_file(path: str | os.PathLike) -> Graph:
    """Reads the graph spec in a file. Raises FileError, ParseError, GraphTypeError."""
    return Graph(lib.make("ingot_graph_parse_file", os.fsencode(path)))


class Value:
    """A value of a builder. Arithmetic and comparisons append operators to its graph."""

    __slots__ = ("_builder", "_value")
    __hash__ = object.__hash__

    def __init__(self, builder: GraphBuilder, value: lib.Value):
        self._builder, self._value = builder, value


def _infix(op, swap):
    def method(self, other):
        operands = (other, self) if swap else (self, other)
        return self._builder.call(op, *operands)
    return method


for _name, _op in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
                   "pow": "power"}.items():
    setattr(Value, f"__{_name}__", _infix(_op, False))
    setattr(Value, f"__r{_name}__", _infix(_op, True))
for _name, _op in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
                   "eq": "equal", "ne": "not_equal", "matmul": "matmul"}.items():
    setattr(Value, f"__{_name}__", _infix(_op, False))
setattr(Value, "__neg__", lambda self: self._builder.call("neg", self))


class GraphBuilder(lib.Handle):
    """Builds a graph. Every function of the text language is a method of the same name:

        g = GraphBuilder("projection")
        x, w = g.input("x", "f32", ("m", 512)), g.param("w", "f32", (1024, 512))
        g.output("y", g.softmax(g.linear(x, w) * 2.0, axis=1))
        graph = g.finish()

    For one thread at a time. A mistake is raised by the call that makes it."""

    _free = "ingot_builder_free"

    def __init__(self, name: str):
        super().__init__(lib.make("ingot_builder_create", name.encode()))

    def _declare(self, function, name, dtype, shape) -> Value:
        value = lib.Value()
        lib.call(function, self._handle, name.encode(), _type_code(dtype), _shape(shape),
                 len(shape), byref(value))
        return Value(self, value)

    def input(self, name: str, dtype: str, shape: Sequence[Extent]) -> Value:
        """A tensor that each launch is given."""
        return self._declare("ingot_builder_input", name, dtype, shape)

    def param(self, name: str, dtype: str, shape: Sequence[Extent]) -> Value:
        """A tensor that outlives launches, and is prepared once."""
        return self._declare("ingot_builder_param", name, dtype, shape)

    def constant(self, number: float, dtype: str) -> Value:
        """A scalar."""
        value = lib.Value()
        lib.call("ingot_builder_constant", self._handle, _type_code(dtype), float(number),
                 byref(value))
        return Value(self, value)

    def call(self, op: str, *arguments: Any, **named: Any) -> Any:
        """Any function of the text language. Arguments are values, numbers, names of element
        types, texts, and lists of them; gives a Value, or a tuple where there are several."""
        keep: list = []
        all_arguments = [self._argument(value, None, keep) for value in arguments]
        all_arguments += [self._argument(value, name, keep) for name, value in named.items()]
        given = (lib.Argument * max(len(all_arguments), 1))(*all_arguments)
        results, count = (lib.Value * 16)(), c_size_t()
        lib.call("ingot_builder_call", self._handle, op.encode(), given, len(all_arguments),
                 results, len(results), byref(count))
        values = tuple(Value(self, lib.Value(results[i].id)) for i in range(count.value))
        return values[0] if len(values) == 1 else values

    def _argument(self, value: Any, name: str | None, keep: list, in_list: bool = False):
        argument = lib.Argument(name=name.encode() if name else None)
        if value is None:
            return argument
        if isinstance(value, Value):
            if value._builder is not self:
                raise InvalidArgumentError("expected a value of this builder, got one of another")
            argument.kind, argument.value = _VALUE, value._value
        elif isinstance(value, bool):
            argument.kind, argument.integer = _BOOL, value
        elif isinstance(value, int):
            argument.kind, argument.integer = _INTEGER, value
        elif isinstance(value, float):
            argument.kind, argument.real = _REAL, value
        elif isinstance(value, str) and value in DTYPES:
            argument.kind, argument.integer = _TYPE, DTYPES.index(value)
        elif isinstance(value, str):
            argument.kind, argument.text = (_EXTENT if in_list else _TEXT), value.encode()
        elif isinstance(value, (list, tuple)):
            items = (lib.Argument * max(len(value), 1))(
                *(self._argument(item, None, keep, in_list=True) for item in value))
            keep.append(items)
            argument.kind, argument.list_size = _LIST, len(value)
            argument.list = cast(items, POINTER(lib.Argument))
        else:
            raise InvalidArgumentError(
                "expected a value, a number, a text or a list of them, got "
                f"{type(value).__name__}")
        return argument

    def __getattr__(self, op: str):
        if op.startswith("_"):
            raise AttributeError(op)
        return lambda *arguments, **named: self.call(op, *arguments, **named)

    def output(self, name: str, value: Value) -> None:
        """A result of the graph."""
        lib.call("ingot_builder_output", self._handle, name.encode(), value._value)

    def finish(self) -> Graph:
        """The graph built so far."""
        return Graph(lib.make("ingot_builder_finish", self._handle))


__all__ = ["DTYPES", "Extent", "Graph", "GraphBuilder", "Value", "parse", "parse_file"]
