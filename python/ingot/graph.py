# SPDX-License-Identifier: Apache-2.0
"""Graphs: read from specs, or built operator by operator."""
from __future__ import annotations

import itertools
import numbers
import os
import pathlib
import sys
import warnings
from ctypes import POINTER, byref, c_char_p, c_size_t, cast
from typing import Any, Sequence

from ingot import _library as lib
from ingot._functions import BuilderMethods, takes_extents
from ingot.errors import Error, InvalidArgumentError, SpecWarning, UnknownFunctionError
from ingot.specs import (DTYPES, Extent, Role, declared_tensors, element_type, listed,
                         names_of_dims, short_name)
from ingot.value import Value

# As the C interface bounds them, and what Python can descend into.
_MOST_EXTENTS, _MOST_NESTED, _MOST_ARGUMENTS = 64, 8, 2**20
# As many as a function of the library gives.
_MOST_RESULTS = 4096

_VALUE, _INTEGER, _REAL, _BOOL, _TYPE, _EXTENT, _TEXT, _LIST = range(1, 9)


def _type_name(value: Any) -> str:
    """`list`, `numpy.ndarray`"""
    module = type(value).__module__
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"


def _type_code(what: str, dtype: Any) -> int:
    return DTYPES.index(element_type(what, dtype))


def _shape(name: str, extents: Sequence[Extent]):
    is_text = isinstance(extents, (str, bytes, bytearray, memoryview))
    if is_text or not isinstance(extents, Sequence):
        is_extent = isinstance(extents, (str, int)) and not isinstance(extents, bool)
        remedy = f"; write ({lib.shown(extents)},)" if is_extent else ""
        raise InvalidArgumentError(f"shape of '{name}': expected a tuple of numbers and names, "
                                   f"got {lib.shown(extents)}{remedy}")
    items = list(itertools.islice(extents, _MOST_EXTENTS + 1))
    if len(items) > _MOST_EXTENTS:
        raise InvalidArgumentError(f"shape of '{name}': expected at most {_MOST_EXTENTS} extents")
    result = (lib.Extent * len(items))()
    for to, extent in zip(result, items):
        if isinstance(extent, str):
            to.name = lib.text(f"shape of '{name}'", extent)
        elif hasattr(extent, "__index__"):
            to.number = lib.integer(f"shape of '{name}'", extent)
        else:
            raise InvalidArgumentError(f"shape of '{name}': expected numbers and names, got "
                                       f"{lib.told(extent)}")
    return result


class Graph(lib.Handle):
    """An immutable graph: `parse`, `parse_file`, or what a GraphBuilder finishes.

    `inputs`, `params` and `outputs` are TensorSpecs in the order in which it declares them; `dims`
    are the names of its named dimensions. `warnings` are texts of what its spec may not mean, such
    as an input that no result needs; each is also a SpecWarning of the call that reads the spec. A
    graph that was built has none."""

    _free = "ingot_graph_free"

    def __init__(self, handle):
        super().__init__(handle)
        self.inputs, self.params, self.outputs = (
            declared_tensors("graph", self._handle, role) for role in Role)
        self.dims = names_of_dims(self.inputs + self.params + self.outputs)
        self.warnings = self._warnings()

    def _warnings(self) -> tuple[str, ...]:
        count, text = c_size_t(), c_char_p()
        lib.call("ingot_graph_warning_count", self._handle, byref(count))
        result = []
        for index in range(count.value):
            lib.call("ingot_graph_warning", self._handle, index, byref(text))
            result.append(text.value.decode())
        return tuple(result)

    def __repr__(self) -> str:
        return (f"<ingot.Graph inputs ({listed(self.inputs)}) params ({listed(self.params)}) "
                f"outputs ({listed(self.outputs)})>")

    def __str__(self) -> str:
        """The graph in the text language, in its canonical primitive form."""
        return lib.take_bytes(lib.make("ingot_graph_text", self._handle)).decode()


def _refuse_file_name(text: Any) -> None:
    """Of what names a file and is no spec. A spec has a brace."""
    is_name = isinstance(text, os.PathLike) or (
        isinstance(text, str) and len(text) < 4096 and "{" not in text and "\n" not in text
        and (text.endswith(".ingot") or os.path.isfile(text)))
    if is_name:
        shown = lib.shown(os.fspath(text))
        raise InvalidArgumentError(f"expected the text of a spec, got {shown}, the name of a file; "
                                   f"write ingot.parse_file({shown})")


_PACKAGE = str(pathlib.Path(__file__).parent) + os.sep


def _caller_level() -> int:
    """The stacklevel of the first frame outside this package, for a warning of who asks for it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _warned(graph: Graph) -> Graph:
    """The graph, after its warnings are shown at the caller's line."""
    for text in graph.warnings:
        warnings.warn(text.replace(": warning: ", ": ", 1), SpecWarning, _caller_level())
    return graph


def parse(text: str, name: str = "<spec>") -> Graph:
    """Reads one graph spec. `name` is what messages call it. Raises ParseError, GraphTypeError;
    what the spec may not mean is a SpecWarning."""
    _refuse_file_name(text)
    data = lib.utf8("spec", text)
    return _warned(Graph(lib.make("ingot_graph_parse", data, len(data), lib.text("name", name))))


def parse_file(path: str | bytes | os.PathLike) -> Graph:
    """Reads the graph spec in a file. Raises FileError, ParseError, GraphTypeError; what the spec
    may not mean is a SpecWarning."""
    return _warned(Graph(lib.make("ingot_graph_parse_file", lib.path(path))))


def graph_of(graph: Graph | str) -> Graph:
    """A graph, or the one that a spec reads as."""
    if isinstance(graph, (str, os.PathLike)):
        graph = parse(graph)
    if not isinstance(graph, Graph):
        hint = "; write graph.finish()" if isinstance(graph, GraphBuilder) else ""
        raise InvalidArgumentError("expected a Graph or the text of a spec, got "
                                   f"{lib.told(graph)}{hint}")
    return graph


def _bound_of_range(value: Any) -> Any:
    """A bound may be named, as in x[:"m"]."""
    is_given = value is None or isinstance(value, (str, Value))
    return value if is_given else lib.integer("index", value)


def _index_item(item: Any) -> Any:
    """An item between the brackets, as the C interface takes it."""
    if item is None or isinstance(item, Value):
        return item
    if item is Ellipsis:
        return "..."
    if isinstance(item, slice):
        return [_bound_of_range(end) for end in (item.start, item.stop, item.step)]
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise InvalidArgumentError(
            f"index: expected an int, a range such as 1:3, ... or None, got {lib.shown(item)}; to "
            "choose by a tensor, write gather or index_select")
    return lib.integer("index", item)


class GraphBuilder(BuilderMethods, lib.Handle):
    """Builds a graph. Every function of the text language is a method of the same name (`and_`,
    `not_` and `or_` where Python has the word):

        g = GraphBuilder("projection")
        x, w = g.input("x", "f32", ("m", 512)), g.param("w", "f32", (1024, 512))
        g.output("y", g.softmax(g.linear(x, w) * 2.0, axis=1))
        graph = g.finish()

    For one thread at a time. A call that raises leaves the builder as it was before."""

    _free = "ingot_builder_free"

    def __init__(self, name: str):
        super().__init__(lib.make("ingot_builder_create", lib.text("name", name)))

    def __copy__(self):
        raise TypeError("a GraphBuilder cannot be copied")

    def __deepcopy__(self, memo):
        return self.__copy__()

    def _do(self, function: str, *arguments: Any) -> None:
        """Calls a function of the library on this builder."""
        try:
            lib.call(function, self._handle, *arguments)
        except Error:
            lib.library.ingot_builder_forget_error(self._handle, None)
            raise

    def _declare(self, function, name, dtype, shape) -> Value:
        value, given_name = lib.Value(), lib.text("name", name)
        extents = _shape(name, shape)
        self._do(function, given_name, _type_code(f"dtype of '{name}'", dtype), extents,
                 len(extents), byref(value))
        return Value(self, value)

    def input(self, name: str, dtype: Any, shape: Sequence[Extent]) -> Value:
        """A tensor that each launch is given. `dtype`: "f32", or PyTorch's or numpy's of it."""
        return self._declare("ingot_builder_input", name, dtype, shape)

    def param(self, name: str, dtype: Any, shape: Sequence[Extent]) -> Value:
        """A tensor that outlives launches, and is prepared once."""
        return self._declare("ingot_builder_param", name, dtype, shape)

    def constant(self, number: float, dtype: Any) -> Value:
        """A scalar."""
        value = lib.Value()
        self._do("ingot_builder_constant", _type_code("dtype of a constant", dtype),
                 lib.real("constant", number), byref(value))
        return Value(self, value)

    def call(self, op: str, *arguments: Any, **named: Any) -> Any:
        """Any function of the text language. Arguments are values, numbers, names of element
        types, texts, and lists of them; gives a Value, or a tuple where there are several."""
        keep: list = []
        all_arguments = [
            self._argument(value, None, keep, is_extent=takes_extents(op, place))
            for place, value in enumerate(arguments)]
        all_arguments += [self._argument(value, name, keep, is_extent=takes_extents(op, name))
                          for name, value in named.items()]
        given = (lib.Argument * max(len(all_arguments), 1))(*all_arguments)
        results, count = (lib.Value * _MOST_RESULTS)(), c_size_t()
        self._do("ingot_builder_call", lib.text("op", op), given, len(all_arguments), results,
                 len(results), byref(count))
        values = tuple(Value(self, lib.Value(results[i].id)) for i in range(count.value))
        return values[0] if len(values) == 1 else values

    _call = call

    def _index(self, x: Value, items: Sequence[Any]) -> Value:
        keep: list = []
        given = (lib.Argument * max(len(items), 1))(
            *(self._argument(_index_item(item), None, keep) for item in items))
        value = lib.Value()
        self._do("ingot_builder_index", x._value, given, len(items), byref(value))
        return Value(self, value)

    def _argument(self, value: Any, name: str | None, keep: list, depth: int = 0,
                  is_extent: bool = False):
        argument = lib.Argument(name=lib.text("argument", name) if name else None)
        if value is None:
            return argument
        if isinstance(value, Value):
            if value._builder is not self:
                raise InvalidArgumentError("expected a value of this builder, got one of another")
            argument.kind, argument.value = _VALUE, value._value
        elif isinstance(value, bool):
            argument.kind, argument.integer = _BOOL, value
        elif isinstance(value, numbers.Integral):
            argument.kind, argument.integer = _INTEGER, lib.integer("argument", value)
        elif isinstance(value, numbers.Real):
            argument.kind, argument.real = _REAL, lib.real("argument", value)
        elif isinstance(value, str) and (depth or is_extent) and value not in DTYPES:
            argument.kind = _EXTENT
            argument.text = lib.text("argument", value)
        elif short_name(value):
            argument.kind, argument.integer = _TYPE, DTYPES.index(short_name(value))
        elif isinstance(value, str):
            argument.kind = _TEXT
            argument.text = lib.text("argument", value)
        elif isinstance(value, (list, tuple)):
            # A list may hold itself, more than once.
            if depth == _MOST_NESTED:
                raise InvalidArgumentError(f"expected lists nested at most {_MOST_NESTED} deep")
            if len(value) + sum(map(len, keep)) > _MOST_ARGUMENTS:
                raise InvalidArgumentError(f"expected at most {_MOST_ARGUMENTS} arguments, those "
                                           "in lists included")
            items = (lib.Argument * len(value))()
            keep.append(items)
            for i, item in enumerate(value):
                items[i] = self._argument(item, None, keep, depth + 1)
            argument.kind, argument.list_size = _LIST, len(items)
            argument.list = cast(items, POINTER(lib.Argument))
        else:
            is_tensor = not isinstance(value, type) and hasattr(value, "__array__")
            remedy = "; declare tensors as inputs or params of the graph" if is_tensor else ""
            raise InvalidArgumentError("expected a value, a number, a text or a list of them, got "
                                       f"{_type_name(value)}{remedy}")
        return argument

    def __getattr__(self, op: str):
        """All functions are methods: this one is none. The library knows what was meant."""
        self._refuse(op)

    @staticmethod
    def _refuse(name: str) -> None:
        """Raises for a name that is no function's; the library knows its meaning."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            GraphBuilder("g").call(name)
        except Error as error:
            raise UnknownFunctionError(str(error)) from None

    def describe(self, value: Value) -> tuple[str, tuple[Extent, ...]]:
        """The element type and the shape of a value."""
        if not isinstance(value, Value) or value._builder is not self:
            raise InvalidArgumentError("describe: expected a value of this builder, got "
                                       f"{type(value).__name__}")
        info = lib.TensorInfo()
        self._do("ingot_builder_describe", value._value, byref(info))
        return DTYPES[info.type], lib.shape_of(info)

    def output(self, name: str, value: Value) -> None:
        """A result of the graph."""
        given_name = lib.text("name", name)
        if not isinstance(value, Value) or value._builder is not self:
            raise InvalidArgumentError(f"output '{name}': expected a value of this builder, got "
                                       f"{type(value).__name__}")
        self._do("ingot_builder_output", given_name, value._value)

    def finish(self) -> Graph:
        """The graph built so far."""
        return Graph(lib.make("ingot_builder_finish", self._handle))


__all__ = ["DTYPES", "Extent", "Graph", "GraphBuilder", "Value", "parse", "parse_file"]
