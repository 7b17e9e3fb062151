# SPDX-License-Identifier: Apache-2.0
"""The source of an exported module's forward."""
from __future__ import annotations

import inspect
import keyword
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from ingot.errors import UnsupportedError
from ingot.torch.dynamo import item
from ingot.torch.source import literal
from ingot.torch.trace import Traced, only_graph


def _path(module: nn.Module, name: str) -> str:
    """The Python text of a parameter's name: `self.layers[0].weight` of `layers.0.weight`."""
    text, owner = "self", module
    for part in name.split("."):
        if isinstance(owner, (nn.ModuleList, nn.Sequential, nn.ParameterList)) and part.isdigit():
            text += f"[{part}]"
        elif isinstance(owner, (nn.ModuleDict, nn.ParameterDict)):
            text += f"[{part!r}]"
        elif part.isidentifier() and not keyword.iskeyword(part) and not part.startswith("__"):
            text += f".{part}"
        else:
            text = f"getattr({text}, {part!r})"
        owner = getattr(owner, part)
    return text


class ForwardSource:
    """Writes the body of forward from the graph."""

    def __init__(self, module: nn.Module, traced: Traced, inputs: Mapping[str, Any]) -> None:
        self.graph, self.example_inputs, self.piece = only_graph(traced)
        self.names: dict[fx.Node, str] = {}
        self.lines: list[str] = []
        self._mutated = traced.mutated
        owned = [(_path(module, name), tensor) for name, tensor in
                 [*module.named_parameters(), *module.named_buffers()]]
        given = [(name, value) for name, value in inputs.items()
                 if isinstance(value, torch.Tensor)]
        placeholders = [node for node in self.graph.graph.nodes if node.op == "placeholder"]
        for node, tensor in zip(placeholders, self.example_inputs):
            if not isinstance(tensor, torch.Tensor):
                self.names[node] = self._size(node, placeholders)
                continue
            name = next((name for name, known in given + owned if known is tensor), None)
            if name is None:
                raise UnsupportedError(
                    "export: the module uses a tensor that is neither an argument, a parameter nor "
                    f"a buffer of it, of shape {list(tensor.shape)}; register it as a buffer, or "
                    "give it as an argument of its own")
            self.names[node] = name
        self._placeholders = placeholders

    def _size(self, node: fx.Node, placeholders: Sequence[fx.Node]) -> str:
        """A size as an extent of an input; empty where none gives it alone."""
        for other, tensor in zip(placeholders, self.example_inputs):
            if isinstance(tensor, torch.Tensor):
                for axis, extent in enumerate(other.meta["val"].shape):
                    if isinstance(extent, torch.SymInt) and (
                            extent.node.expr == node.meta["val"].node.expr):
                        return f"{{{placeholders.index(other)}}}.shape[{axis}]"
        return ""

    def _name(self, node: fx.Node) -> str:
        name = self.names[node]
        if name.startswith("{"):  # an extent of a tensor, which has its name by now
            place, rest = name[1:].split("}", 1)
            return self.names[self._placeholders[int(place)]] + rest
        if not name:
            raise UnsupportedError("export: the module uses a size that no argument's shape gives "
                                   "alone; export it without dynamic")
        return name

    def sizes(self) -> dict[str, str]:
        """Per symbol the extent that gives it."""
        result: dict[str, str] = {}
        for node, tensor in zip(self._placeholders, self.example_inputs):
            if isinstance(tensor, torch.Tensor):
                for axis, extent in enumerate(node.meta["val"].shape):
                    if isinstance(extent, torch.SymInt) and extent.node.expr.is_Symbol:
                        result.setdefault(str(extent.node.expr),
                                          f"{self.names[node]}.shape[{axis}]")
        return result

    def _text(self, value: Any) -> str:
        if isinstance(value, fx.Node):
            return self._name(value)
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self._text, value)) + "]"
        text = literal(value)
        if text is None:
            raise UnsupportedError(f"export: cannot write {value!r} to a file")
        return text

    def write(self, results: Any) -> list[str]:
        """The lines of the body. `results` are those of the traced call."""
        for node in self.graph.graph.nodes:
            if node.op == "call_module":
                self._call_piece(node)
            elif node.op == "call_function" and node.target in (item, operator.getitem):
                self.names[node] = f"{self.names[node.args[0]]}[{node.args[1]}]"
            elif node.op == "call_function":
                named = "".join(f", {key}={self._text(value)}"
                                for key, value in node.kwargs.items())
                arguments = ", ".join(map(self._text, node.args))
                self.names[node] = f"_{node.name}"
                self.lines.append(f"_{node.name} = torch.ops.{node.target}({arguments}{named})")
            elif node.op == "output":
                self._returns(node.args[0], results)
            elif node.op != "placeholder":
                raise UnsupportedError(f"export: cannot write {node.op} {node.target}")
        return self.lines

    def _call_piece(self, node: fx.Node) -> None:
        piece = self.piece
        tensors = [self.names[arg] + move for arg, move in zip(node.args, piece.moves_text())]
        split = piece.num_inputs
        self.lines.append(f"_y = self._ingot([{', '.join(tensors[:split])}],")
        self.lines.append(f"                 [{', '.join(tensors[split:])}])")
        for i, move in enumerate(piece.out_moves_text()):
            if move:
                self.lines.append(f"_y[{i}] = _y[{i}]{move}")
        self.names[node] = "_y"

    def _returns(self, outputs: Sequence[fx.Node], results: Any) -> None:
        if self._mutated:
            self.lines.append("with torch.no_grad():")
        for index, new in zip(self._mutated, outputs):
            target = self.names[self._placeholders[index]]
            self.lines.append(f"    {target}.copy_({self.names[new]})")
        own = [self.names[node] for node in outputs[len(self._mutated):]
               if isinstance(node, fx.Node)]
        if isinstance(results, torch.Tensor) and len(own) == 1:
            self.lines.append(f"return {own[0]}")
        elif type(results) is tuple and len(own) == len(results) and all(
                isinstance(result, torch.Tensor) for result in results):
            self.lines.append(f"return {', '.join(own)}{',' if len(own) == 1 else ''}")
        else:
            got = type(results).__name__
            if isinstance(results, tuple):
                got = f"({', '.join(type(result).__name__ for result in results)})"
                if len({id(result) for result in results}) < len(results):
                    got += " with a tensor twice"
            raise UnsupportedError("export: expected a module that returns a tensor, or a tuple of "
                                   f"different tensors, got {got}")


def given_arguments(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of forward, by the expressions that its body has for them."""
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            result.update((f"{name}[{i}]", item) for i, item in enumerate(value))
            result[f"len({name})"] = len(value)
        elif kind == inspect.Parameter.VAR_KEYWORD:
            result.update((f"{name}[{key!r}]", item) for key, item in value.items())
            result[f"len({name})"] = len(value)
        else:
            result[name] = value
    return result


def argument_checks(given: Mapping[str, Any]) -> list[str]:
    """Lines that refuse values of arguments that the kernels were not made for."""
    lines = []
    for name, value in given.items():
        if isinstance(value, torch.Tensor):
            continue
        text = literal(value)
        if text is None:
            raise UnsupportedError(
                f"export: argument '{name}': expected a tensor, a number, a text, None or a list "
                f"of these, got {type(value).__name__}")
        differs = f"{name} is not None" if value is None else f"{name} != {text}"
        lines.append(f"if {differs}:")
        message = f"{name}: this file is for {text}, got another value; export again for that"
        lines.append(f"    raise ValueError({message!r})")
    return lines


def size_checks(traced: Traced, names: Mapping[str, str]) -> list[str]:
    """Lines that refuse sizes for which the module's graph would be another."""
    lines = []
    for guard in traced.guards:
        text = guard
        for symbol, source in names.items():
            text = re.sub(rf"\b{symbol}\b", source, text)
        if re.search(r"\b[su]\d+\b", text):
            raise UnsupportedError(f"export: the module depends on sizes by {guard}, which no "
                                   "argument's shape gives; export it without dynamic")
        lines.append(f"if not ({text}):")
        lines.append(f"    raise ValueError(\"expected sizes with {text}\")")
    return lines


def signature_source(signature: inspect.Signature) -> str:
    """The parameters of forward, with self and without annotations."""
    parameters = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if default is not inspect.Parameter.empty and literal(default) is None:
            raise UnsupportedError(
                f"export: the default of argument '{parameter.name}', {default!r}, cannot be "
                "written to a file; expected a number, a text or None")
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty))
    plain = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    text = re.sub(r"=(-?)(inf|nan)\b", r'=\1float("\2")', str(plain))
    return "(self" + (", " if parameters else "") + text[1:]
