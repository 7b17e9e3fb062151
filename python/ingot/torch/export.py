# SPDX-License-Identifier: Apache-2.0
"""A module as one Python file that needs PyTorch and nvcc alone.

The file holds the kernels, as `ingot compile --emit=torch` writes them, and a class ModelNew with
the constructor of the original module: its own source, so that the same parameters are made in the
same order. Of the original's methods only `forward` is new.
"""
from __future__ import annotations

import copy
import inspect
import keyword
import operator
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch import fx, nn
from torch.utils._sympy.printers import PythonPrinter

from ingot import _arguments
from ingot.errors import FileError, InvalidArgumentError, UnsupportedError
from ingot.torch.compiled import CompiledPiece
from ingot.torch.dynamo import GraphCompiler, Report, check_options, item, needs_gradients
from ingot.torch.source import constructor_source, defined, literal

MODEL_MARK = "# ---- model"


@dataclass
class _Traced:
    """The graphs of a module, each with the tensors that it was traced with."""
    graphs: list[tuple[fx.GraphModule, Sequence[Any], Report]] = field(default_factory=list)
    results: Any = None
    mutated: list[int] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)  # what was found of named sizes, as Python


def _trace(module: nn.Module, inputs: Sequence[Any], kwargs: Mapping[str, Any],
           options: Mapping[str, Any], dynamic: bool) -> _Traced:
    from torch._dynamo.backends.common import aot_autograd
    from torch._guards import TracingContext
    traced = _Traced()

    def backend(graph: fx.GraphModule, example_inputs):
        if needs_gradients(example_inputs):
            raise UnsupportedError("export: expected to be called without gradients")
        report = Report()
        compiler = GraphCompiler(options, report, example_inputs, ("cuda", "cpu", "meta"))

        def record(functional, fake_inputs):
            compiler(functional, fake_inputs)
            traced.graphs.append((functional, example_inputs, report))
            context = TracingContext.get()
            traced.mutated = list(context.fw_metadata.mutated_inp_runtime_indices)
            known = context.fake_mode.shape_env.replacements  # sizes that turned out to be fixed
            guards = [guard.expr.xreplace(known) for guard in context.fake_mode.shape_env.guards]
            traced.guards = [PythonPrinter().doprint(guard) for guard in guards
                             if guard is not sympy.true]
            return lambda *_: None
        aot_autograd(fw_compiler=record, inference_compiler=record)(graph, example_inputs)
        return graph.forward
    torch._dynamo.reset()
    # A warning, such as InstanceNorm's, is no reason to break off.
    patience = torch._dynamo.config.patch(reorderable_logging_functions={warnings.warn},
                                              specialize_float=True)
    with torch.no_grad(), patience:
        traced.results = torch.compile(module, backend=backend, dynamic=dynamic)(*inputs, **kwargs)
    torch._dynamo.reset()
    return traced


def _only_graph(traced: _Traced) -> tuple[fx.GraphModule, Sequence[Any], CompiledPiece]:
    """The one graph with its one piece, or an error that says what is in the way."""
    if not traced.graphs:
        raise UnsupportedError("export: the module computes nothing that could be a graph")
    if len(traced.graphs) != 1:
        raise UnsupportedError(
            f"export: expected one graph, got {len(traced.graphs)}, as TorchDynamo could not trace "
            "the module as a whole; ingot.torch.explain says where it broke off")
    graph, example_inputs, report = traced.graphs[0]
    if len(report.pieces) != 1:
        left = "; ".join(f"{name}: {reason}" for name, reason in dict(report.left).items())
        raise UnsupportedError(
            f"export: expected a module that is one Ingot graph, got {len(report.pieces)}"
            + (f", as this stays with PyTorch: {left}" if left else ""))
    return graph, example_inputs, report.pieces[0]


def _path(module: nn.Module, name: str) -> str:
    """self.layers[0].weight of layers.0.weight."""
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


class _Forward:
    """Writes the body of forward from the graph."""

    def __init__(self, module: nn.Module, traced: _Traced, inputs: Mapping[str, Any]):
        self.graph, self.example_inputs, self.piece = _only_graph(traced)
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
        """A size as an extent of an input; unused where none gives it alone."""
        for other, tensor in zip(placeholders, self.example_inputs):
            if isinstance(tensor, torch.Tensor):
                for axis, extent in enumerate(other.meta["val"].shape):
                    if isinstance(extent, torch.SymInt) and (
                            extent.node.expr == node.meta["val"].node.expr):
                        return f"{{{placeholders.index(other)}}}.shape[{axis}]"
        return ""

    def _name(self, node: fx.Node) -> str:
        name = self.names[node]
        if name.startswith("{"):  # an extent: of a tensor that was named since
            place, rest = name[1:].split("}", 1)
            return self.names[self._placeholders[int(place)]] + rest
        if not name:
            raise UnsupportedError("export: the module uses a size that no argument's shape gives "
                                   "alone; export it without dynamic")
        return name

    def sizes(self) -> dict[str, str]:
        """Of each symbol the extent that gives it."""
        result = {}
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
        own = [self.names.get(node) for node in outputs[len(self._mutated):]
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


def _given(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What forward was given, by what its body calls it."""
    result = {}
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


def _checks(given: Mapping[str, Any]) -> list[str]:
    """Lines that refuse other values of arguments than the kernels were made for."""
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


def _size_checks(traced: _Traced, names: Mapping[str, str]) -> list[str]:
    """Lines that refuse sizes for which the module would do something else."""
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


def _signature(signature: inspect.Signature) -> str:
    """That of forward, with self and without annotations."""
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


def _check_module(module: Any, name: str) -> None:
    if not isinstance(module, nn.Module):
        raise InvalidArgumentError(f"export: expected a torch.nn.Module, got "
                                   f"{type(module).__name__}")
    if isinstance(module, (torch.jit.ScriptModule, fx.GraphModule, nn.DataParallel,
                           torch._dynamo.eval_frame.OptimizedModule)):
        raise UnsupportedError(f"export: expected a module with a constructor of its own, got a "
                               f"{type(module).__name__}; export what it was made from")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidArgumentError(f"export: expected the name of a class, got {name!r}")


def export(module: nn.Module, inputs: Sequence[Any], path: str | os.PathLike | None = None, *,
           name: str = "ModelNew", dynamic: bool = False,
           kwargs: Mapping[str, Any] | None = None, **options: Any) -> str:
    """The text of a Python file with a class `name` that replaces the module: the same constructor
    arguments, the same parameters, for inference. Written to `path` where one is given.

    `inputs` and `kwargs`: example arguments, which give the types and the sizes; with `dynamic`
    sizes may differ from call to call. What is no tensor among them is fixed, and another value is
    refused by the file, as are attributes that forward reads. The module itself is not called: a
    copy is. Needs no GPU. The precision of f32 products is that of
    torch.get_float32_matmul_precision() now. Options: "math", "device", "target", "freeze", as
    those of the backend.

    A chain that is one Ingot graph has no other operator; what Ingot has no rule for is written as
    the call of PyTorch's operator. Raises UnsupportedError where there is more than one graph, and
    FileError where the file cannot be written."""
    _check_module(module, name)
    check_options(options, "export")
    if not isinstance(dynamic, bool):
        raise InvalidArgumentError(f"export: dynamic: expected True or False, got "
                                   f"{_arguments.shown(dynamic)}")
    path = None if path is None else _arguments.path(path)
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise InvalidArgumentError("export: kwargs: expected a dict of example arguments, got "
                                   f"{type(kwargs).__name__}")
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    inputs, kwargs = copy.deepcopy((inputs, dict(kwargs or {})))
    module = copy.deepcopy(module)
    signature = inspect.signature(module.forward)
    try:
        bound = signature.bind(*inputs, **kwargs)
    except TypeError as error:
        raise InvalidArgumentError(f"export: the example arguments do not fit forward: {error}"
                                   ) from None
    bound.apply_defaults()
    given = _given(signature, bound.arguments)
    tensors = [id(value) for value in given.values() if isinstance(value, torch.Tensor)]
    if len(set(tensors)) < len(tensors):
        raise InvalidArgumentError("export: expected a different tensor for each argument, got one "
                                   "twice")
    checks = _checks(given)
    traced = _trace(module, inputs, kwargs, options, dynamic)
    forward = _Forward(module, traced, given)
    lines = forward.write(traced.results)
    checks += _size_checks(traced, forward.sizes())
    kernels = forward.piece.program.code("torch").code.decode()
    head = kernels[:kernels.index(MODEL_MARK)]
    mark = kernels[len(head):].splitlines()[0]
    if name in defined(head):
        raise InvalidArgumentError(f"export: the file has '{name}' for its own; give another name")
    text = f"{head}{mark}\n\n{constructor_source(type(module), name, head)}\n"
    text += f"    def forward{_signature(signature)}:\n"
    text += "".join(f"        {line}\n" for line in checks + lines)
    try:
        compile(text, f"{name}.py", "exec")
    except SyntaxError as error:
        raise UnsupportedError(f"export: the module cannot be written as Python: {error.text!r}, "
                               f"line {error.lineno}") from None
    if path is not None:
        _write(path, text)
    return text


def _write(path: bytes, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"export: cannot write {_arguments.shown(os.fsdecode(path))}: {error.strerror}; "
                        "expected the path of a file in a folder that is there") from None
