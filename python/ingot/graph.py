# SPDX-License-Identifier: Apache-2.0
"""Graphs, and the specs that they are read from."""
from __future__ import annotations

import os
import pathlib
import sys
import warnings
from ctypes import byref, c_char_p, c_size_t, c_void_p
from typing import Any

from ingot import _arguments
from ingot import _library as lib
from ingot.errors import InvalidArgumentError, SpecWarning
from ingot.specs import Role, declared_tensors, listed, names_of_dims
from ingot.value import Builder


class Graph(lib.Handle):
    """An immutable graph. `parse`, `parse_file` and GraphBuilder.finish make one.

    `inputs`, `params` and `outputs` are TensorSpecs in the order of their declarations. `dims` are
    the names of the named dimensions. `warnings` are texts about likely mistakes in the spec, such
    as an input that no result needs. The call that reads the spec raises each as a SpecWarning. A
    graph that was built has no warnings."""

    _free = "ingot_graph_free"

    def __init__(self, handle: c_void_p) -> None:
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
            result.append((text.value or b"").decode())
        return tuple(result)

    def __repr__(self) -> str:
        return (f"<ingot.Graph inputs ({listed(self.inputs)}) params ({listed(self.params)}) "
                f"outputs ({listed(self.outputs)})>")

    def __str__(self) -> str:
        """The graph in the text language, in its canonical primitive form."""
        return lib.take_bytes(lib.make("ingot_graph_text", self._handle)).decode()


def _refuse_file_name(text: Any) -> None:
    """Refuses the name of a file in place of a spec. A spec has a brace."""
    is_name = isinstance(text, os.PathLike) or (
        isinstance(text, str) and len(text) < 4096 and "{" not in text and "\n" not in text
        and (text.endswith(".ingot") or os.path.isfile(text)))
    if is_name:
        name = _arguments.short_repr(os.fspath(text))
        raise InvalidArgumentError(f"expected the text of a spec, got {name}, the name of a file; "
                                   f"write ingot.parse_file({name})")


_PACKAGE = str(pathlib.Path(__file__).parent) + os.sep


def _caller_level() -> int:
    """The stacklevel of the first frame outside this package, so that a warning names that line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE) and (caller := frame.f_back):
        level, frame = level + 1, caller
    return level


def _warned(graph: Graph) -> Graph:
    """Raises the graph's warnings at the caller's line, and gives the graph."""
    for text in graph.warnings:
        warnings.warn(text.replace(": warning: ", ": ", 1), SpecWarning, _caller_level())
    return graph


def parse(text: str, name: str = "<spec>") -> Graph:
    """Reads the text of one graph spec. Messages call it `name`. Raises ParseError and
    GraphTypeError. A likely mistake is a SpecWarning."""
    _refuse_file_name(text)
    data = _arguments.utf8("spec", text)
    return _warned(Graph(lib.make("ingot_graph_parse", data, len(data),
                                  _arguments.text("name", name))))


def parse_file(path: str | bytes | os.PathLike[Any]) -> Graph:
    """Reads the graph spec in a file. Raises FileError, ParseError and GraphTypeError. A likely
    mistake is a SpecWarning."""
    return _warned(Graph(lib.make("ingot_graph_parse_file", _arguments.path(path))))


def graph_of(graph: Any) -> Graph:
    """The graph itself, or the graph that the text of a spec describes."""
    _refuse_file_name(graph)
    if isinstance(graph, str):
        graph = parse(graph)
    if not isinstance(graph, Graph):
        hint = "; write graph.finish()" if isinstance(graph, Builder) else ""
        raise InvalidArgumentError("expected a Graph or the text of a spec, got "
                                   f"{_arguments.type_and_repr(graph)}{hint}")
    return graph
