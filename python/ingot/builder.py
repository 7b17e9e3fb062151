# SPDX-License-Identifier: Apache-2.0
"""Builds graphs operator by operator."""
from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Sequence
from ctypes import POINTER, Array, byref, c_size_t, cast
from typing import Any, NoReturn

from ingot import _library as lib
from ingot import _structs
from ingot._arguments import integer, real, short_repr, text, type_and_repr
from ingot._functions import takes_extents
from ingot._structs import ArgumentKind, TensorInfo, shape_of
from ingot.dtypes import DTYPES, short_name, type_code
from ingot.errors import Error, InvalidArgumentError, UnknownFunctionError
from ingot.graph import Graph
from ingot.specs import Extent
from ingot.value import Builder, Value

# The limits of the C interface. Python's own stack bounds the nesting of lists.
_MOST_EXTENTS, _MOST_NESTED, _MOST_ARGUMENTS = 64, 8, 2**20
# No function of the library gives more.
_MOST_RESULTS = 4096


def _type_name(value: Any) -> str:
    """`list`, `numpy.ndarray`"""
    module = type(value).__module__
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"


def _shape(name: str, extents: Sequence[Extent]) -> Array[_structs.Extent]:
    is_text = isinstance(extents, (str, bytes, bytearray, memoryview))
    if is_text or not isinstance(extents, Sequence):
        is_extent = isinstance(extents, (str, int)) and not isinstance(extents, bool)
        remedy = f"; write ({short_repr(extents)},)" if is_extent else ""
        raise InvalidArgumentError(f"shape of '{name}': expected a tuple of numbers and names, "
                                   f"got {short_repr(extents)}{remedy}")
    items = list(itertools.islice(extents, _MOST_EXTENTS + 1))
    if len(items) > _MOST_EXTENTS:
        raise InvalidArgumentError(f"shape of '{name}': expected at most {_MOST_EXTENTS} extents")
    result = (_structs.Extent * len(items))()
    for to, extent in zip(result, items):
        if isinstance(extent, str):
            to.name = text(f"shape of '{name}'", extent)
        elif hasattr(extent, "__index__"):
            to.number = integer(f"shape of '{name}'", extent)
        else:
            raise InvalidArgumentError(f"shape of '{name}': expected numbers and names, got "
                                       f"{type_and_repr(extent)}")
    return result


def _bound_of_range(value: Any) -> Any:
    """A bound may be named, as in x[:"m"]."""
    is_given = value is None or isinstance(value, (str, Value))
    return value if is_given else integer("index", value)


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
            f"index: expected an int, a range such as 1:3, ... or None, got {short_repr(item)}; to "
            "choose by a tensor, write gather or index_select")
    return integer("index", item)


class GraphBuilder(Builder, lib.Handle):
    """Builds a graph. Every function of the text language is a method of the same name (`and_`,
    `not_` and `or_` where Python has the word):

        g = GraphBuilder("projection")
        x, w = g.input("x", "f32", ("m", 512)), g.param("w", "f32", (1024, 512))
        g.output("y", g.softmax(g.linear(x, w) * 2.0, axis=1))
        graph = g.finish()

    For one thread at a time. A call that raises leaves the builder as it was before."""

    _free = "ingot_builder_free"

    def __init__(self, name: str) -> None:
        super().__init__(lib.make("ingot_builder_create", text("name", name)))

    def __copy__(self) -> NoReturn:
        raise TypeError("a GraphBuilder cannot be copied")

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__copy__()

    def _do(self, function: str, *arguments: Any) -> None:
        """Calls a function of the library on this builder."""
        try:
            lib.call(function, self._handle, *arguments)
        except Error:
            lib.library.ingot_builder_forget_error(self._handle, None)
            raise

    def _declare(self, function: str, name: str, dtype: Any, shape: Sequence[Extent]) -> Value:
        value, given_name = _structs.Value(), text("name", name)
        extents = _shape(name, shape)
        self._do(function, given_name, type_code(f"dtype of '{name}'", dtype), extents,
                 len(extents), byref(value))
        return Value(self, value)

    def input(self, name: str, dtype: Any, shape: Sequence[Extent]) -> Value:
        """An input: each launch is given its tensor. `dtype`: "f32", torch.float32 or
        numpy.float32, for example. `shape`: numbers, and names or formulas such as "2*m"."""
        return self._declare("ingot_builder_input", name, dtype, shape)

    def param(self, name: str, dtype: Any, shape: Sequence[Extent]) -> Value:
        """A param: a tensor that outlives launches, and that is prepared once. Otherwise as
        `input`."""
        return self._declare("ingot_builder_param", name, dtype, shape)

    def constant(self, number: float, dtype: Any) -> Value:
        """A scalar."""
        value = _structs.Value()
        self._do("ingot_builder_constant", type_code("dtype of a constant", dtype),
                 real("constant", number), byref(value))
        return Value(self, value)

    def call(self, op: str, *arguments: Any, **named: Any) -> Any:
        """Calls a function of the text language by its name. Arguments are values, numbers, names
        of element types, texts, and lists of them. Gives a Value, or a tuple of several."""
        keep: list[Any] = []
        all_arguments = [
            self._argument(value, None, keep, is_extent=takes_extents(op, place))
            for place, value in enumerate(arguments)]
        all_arguments += [self._argument(value, name, keep, is_extent=takes_extents(op, name))
                          for name, value in named.items()]
        given = (_structs.Argument * max(len(all_arguments), 1))(*all_arguments)
        results, count = (_structs.Value * _MOST_RESULTS)(), c_size_t()
        self._do("ingot_builder_call", text("op", op), given, len(all_arguments), results,
                 len(results), byref(count))
        values = tuple(Value(self, _structs.Value(results[i].id)) for i in range(count.value))
        return values[0] if len(values) == 1 else values

    _call = call

    def _index(self, x: Value, items: Sequence[Any]) -> Value:
        keep: list[Any] = []
        given = (_structs.Argument * max(len(items), 1))(
            *(self._argument(_index_item(item), None, keep) for item in items))
        value = _structs.Value()
        self._do("ingot_builder_index", x._value, given, len(items), byref(value))
        return Value(self, value)

    def _argument(self, value: Any, name: str | None, keep: list[Any], depth: int = 0,
                  is_extent: bool = False) -> _structs.Argument:
        """The C interface's argument. `keep` keeps the arrays of lists alive. `is_extent`: a text
        is an extent."""
        argument = _structs.Argument(name=text("argument", name) if name else None)
        if value is None:
            return argument
        if isinstance(value, Value):
            if value._builder is not self:
                raise InvalidArgumentError("expected a value of this builder, got one of another")
            argument.kind, argument.value = ArgumentKind.VALUE, value._value
        elif isinstance(value, bool):
            argument.kind, argument.integer = ArgumentKind.BOOL, value
        elif isinstance(value, numbers.Integral):
            argument.kind, argument.integer = ArgumentKind.INTEGER, integer("argument", value)
        elif isinstance(value, numbers.Real):
            argument.kind, argument.real = ArgumentKind.REAL, real("argument", value)
        elif isinstance(value, str) and (depth or is_extent) and value not in DTYPES:
            argument.kind, argument.text = ArgumentKind.EXTENT, text("argument", value)
        elif short_name(value):
            argument.kind, argument.integer = ArgumentKind.TYPE, type_code("argument", value)
        elif isinstance(value, str):
            argument.kind, argument.text = ArgumentKind.TEXT, text("argument", value)
        elif isinstance(value, (list, tuple)):
            items = self._items(value, keep, depth)
            argument.kind, argument.list_size = ArgumentKind.LIST, len(items)
            argument.list = cast(items, POINTER(_structs.Argument))
        else:
            is_tensor = not isinstance(value, type) and hasattr(value, "__array__")
            remedy = "; declare tensors as inputs or params of the graph" if is_tensor else ""
            raise InvalidArgumentError("expected a value, a number, a text or a list of them, got "
                                       f"{_type_name(value)}{remedy}")
        return argument

    def _items(self, values: Sequence[Any], keep: list[Any],
               depth: int) -> Array[_structs.Argument]:
        # A list may hold itself, more than once.
        if depth == _MOST_NESTED:
            raise InvalidArgumentError(f"expected lists nested at most {_MOST_NESTED} deep")
        if len(values) + sum(map(len, keep)) > _MOST_ARGUMENTS:
            raise InvalidArgumentError(f"expected at most {_MOST_ARGUMENTS} arguments, those in "
                                       "lists included")
        items = (_structs.Argument * len(values))()
        keep.append(items)
        for i, item in enumerate(values):
            items[i] = self._argument(item, None, keep, depth + 1)
        return items

    def __getattr__(self, op: str) -> Callable[..., NoReturn]:
        """Raises for a name that is no function's, with the words to write instead."""
        return self._unknown(op)

    def _unknown(self, name: str, *first: Value) -> Callable[..., NoReturn]:
        """Raises UnknownFunctionError for a name that is no function's. The library knows the words
        to write instead. Where they quote the call's arguments, as for clamp_min(x, 0.5), gives a
        function that raises when it is called. `first` are arguments before those of the call."""
        if name.startswith("_"):
            raise AttributeError(name)
        said = _message(name)
        if said == _message(name, *_PROBE):
            raise UnknownFunctionError(said)

        def refuse(*arguments: Any, **named: Any) -> NoReturn:
            try:
                self.call(name, *first, *arguments, **named)
            except Error as error:
                raise UnknownFunctionError(str(error)) from None
            raise AssertionError(f"{name} is a function")
        return refuse

    def describe(self, value: Value) -> tuple[str, tuple[Extent, ...]]:
        """The element type and the shape of a value."""
        if not isinstance(value, Value) or value._builder is not self:
            raise InvalidArgumentError("describe: expected a value of this builder, got "
                                       f"{type(value).__name__}")
        info = TensorInfo()
        self._do("ingot_builder_describe", value._value, byref(info))
        return DTYPES[info.type], shape_of(info)

    def output(self, name: str, value: Value) -> None:
        """A result of the graph."""
        given_name = text("name", name)
        if not isinstance(value, Value) or value._builder is not self:
            raise InvalidArgumentError(f"output '{name}': expected a value of this builder, got "
                                       f"{type(value).__name__}")
        self._do("ingot_builder_output", given_name, value._value)

    def finish(self) -> Graph:
        """The graph built so far."""
        return Graph(lib.make("ingot_builder_finish", self._handle))


# Numbers that no remedy holds of itself.
_PROBE = (12347, 12347, 12347)


def _message(name: str, *arguments: Any) -> str:
    """The library's message about a call of an unknown function."""
    try:
        GraphBuilder("g").call(name, *arguments)
    except Error as error:
        return str(error)
    raise AssertionError(f"{name} is a function")
