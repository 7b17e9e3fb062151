# SPDX-License-Identifier: Apache-2.0
"""A module as one Python file that needs PyTorch and nvcc alone.

The file holds the kernels, as `ingot compile --emit=torch` writes them, and a class ModelNew with
the constructor of the original module: its own source, so that the same parameters are made in the
same order. Of the original's methods only `forward` is new.
"""
from __future__ import annotations

import inspect
import os
import warnings
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

import torch
from torch import fx, nn

from ingot.errors import InvalidArgumentError, UnsupportedError
from ingot.torch.compiled import CompiledPiece
from ingot.torch.dynamo import GraphCompiler, Report, item, needs_gradients
from ingot.torch.source import constructor_source

MODEL_MARK = "# ---- model"


@dataclass
class _Traced:
    """The graphs of a module, each with the tensors that it was traced with."""
    graphs: list[tuple[fx.GraphModule, Sequence[Any], Report]] = field(default_factory=list)
    results: Any = None
    mutated: list[int] = field(default_factory=list)


def _trace(module: nn.Module, inputs: Sequence[Any], options: Mapping[str, str],
           dynamic: bool) -> _Traced:
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
            traced.mutated = list(TracingContext.get().fw_metadata.mutated_inp_runtime_indices)
            return lambda *_: None
        aot_autograd(fw_compiler=record, inference_compiler=record)(graph, example_inputs)
        return graph.forward
    torch._dynamo.reset()
    # A warning, such as InstanceNorm's, is no reason to break off.
    patience = torch._dynamo.config.patch(reorderable_logging_functions={warnings.warn})
    with torch.no_grad(), patience:
        traced.results = torch.compile(module, backend=backend, dynamic=dynamic)(*inputs)
    torch._dynamo.reset()
    return traced


def _only_graph(traced: _Traced) -> tuple[fx.GraphModule, Sequence[Any], CompiledPiece]:
    """The one graph with its one piece, or an error that says what is in the way."""
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


def _path(name: str) -> str:
    """self.layers[0].weight of layers.0.weight."""
    return "self" + "".join(f"[{part}]" if part.isdigit() else f".{part}"
                            for part in name.split("."))


class _Forward:
    """Writes the body of forward from the graph."""

    def __init__(self, module: nn.Module, traced: _Traced, inputs: Mapping[str, Any]):
        self.graph, self.example_inputs, self.piece = _only_graph(traced)
        self.names: dict[fx.Node, str] = {}
        self.lines: list[str] = []
        self._mutated = traced.mutated
        owned = [(_path(name), tensor) for name, tensor in
                 [*module.named_parameters(), *module.named_buffers()]]
        given = [(name, value) for name, value in inputs.items()
                 if isinstance(value, torch.Tensor)]
        placeholders = [node for node in self.graph.graph.nodes if node.op == "placeholder"]
        for node, tensor in zip(placeholders, self.example_inputs):
            if not isinstance(tensor, torch.Tensor):
                self.names[node] = ""
                continue
            name = next((name for name, known in given + owned if known is tensor), None)
            if name is None:
                raise UnsupportedError(
                    "export: the module uses a tensor that is neither an input, a parameter nor a "
                    f"buffer of it, of shape {list(tensor.shape)}; register it as a buffer")
            self.names[node] = name
        self._placeholders = placeholders

    def _text(self, value: Any) -> str:
        if isinstance(value, fx.Node):
            return self.names[value]
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self._text, value)) + "]"
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})"
        return repr(value)

    def write(self, results: Any) -> list[str]:
        for node in self.graph.graph.nodes:
            if node.op == "call_module":
                self._call_piece(node)
            elif node.op == "call_function" and node.target is item:
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
        for index, new in zip(self._mutated, outputs):
            target = self.names[self._placeholders[index]]
            self.lines.append(f"{target}.copy_({self.names[new]})")
        own = [self.names[node] for node in outputs[len(self._mutated):]]
        if isinstance(results, torch.Tensor) and len(own) == 1:
            self.lines.append(f"return {own[0]}")
        elif isinstance(results, tuple) and len(own) == len(results) and all(
                isinstance(result, torch.Tensor) for result in results):
            self.lines.append(f"return {', '.join(own)}{',' if len(own) == 1 else ''}")
        else:
            raise UnsupportedError("export: expected a module that returns a tensor, or a tuple of "
                                   f"different tensors, got {type(results).__name__}")


def _given(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What forward was given, by what its body calls it."""
    result = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL:
            result.update((f"{name}[{i}]", item) for i, item in enumerate(value))
        else:
            result[name] = value
    return result


def export(module: nn.Module, inputs: Sequence[Any], path: str | os.PathLike | None = None, *,
           name: str = "ModelNew", dynamic: bool = False, **options: str) -> str:
    """The text of a Python file with a class `name` that replaces the module: the same constructor
    arguments, the same parameters, for inference. Written to `path` where one is given.

    `inputs`: a tuple of example inputs, which give the types and the sizes; with `dynamic` sizes
    may differ from call to call. The precision of f32 products is that of
    torch.get_float32_matmul_precision() now. Options: "math", "device", "target".
    Raises UnsupportedError where some of the module stays with PyTorch."""
    if not isinstance(module, nn.Module):
        raise InvalidArgumentError(f"export: expected a torch.nn.Module, got "
                                   f"{type(module).__name__}")
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    signature = inspect.signature(module.forward)
    bound = signature.bind(*inputs)
    traced = _trace(module, inputs, options, dynamic)
    forward = _Forward(module, traced, _given(signature, bound.arguments))
    lines = forward.write(traced.results)
    kernels = forward.piece.program.code("torch").code.decode()
    head = kernels[:kernels.index(MODEL_MARK)]
    mark = kernels[len(head):].splitlines()[0]
    text = f"{head}{mark}\n\n{constructor_source(type(module), name, head)}\n"
    arguments = ", ".join(["self", *(str(parameter.replace(annotation=inspect.Parameter.empty))
                                     for parameter in signature.parameters.values())])
    text += f"    def forward({arguments}):\n"
    text += "".join(f"        {line}\n" for line in lines)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text
