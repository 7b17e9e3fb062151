# SPDX-License-Identifier: Apache-2.0
"""The graphs of a module that is exported."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.utils._sympy.printers import PythonPrinter

from ingot.errors import UnsupportedError
from ingot.torch.compiled import CompiledPiece
from ingot.torch.dynamo import GraphCompiler, Report, needs_gradients


@dataclass
class Traced:
    """The graphs of a module, each with the tensors that it was traced with, and the results of the
    traced call. `mutated` are the indices of inputs that are written to."""
    graphs: list[tuple[fx.GraphModule, Sequence[Any], Report]] = field(default_factory=list)
    results: Any = None
    mutated: list[int] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)  # conditions on named sizes, as Python


def trace(module: nn.Module, inputs: Sequence[Any], kwargs: Mapping[str, Any],
          options: Mapping[str, Any], dynamic: bool) -> Traced:
    """Calls a module once in eager PyTorch, without gradients, and keeps the graphs that the
    backend gets. `dynamic`: sizes may differ from call to call."""
    traced = Traced()

    def backend(graph: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        if needs_gradients(example_inputs):
            raise UnsupportedError("export: expected to be called without gradients")
        report = Report()
        compiler = GraphCompiler(options, report, example_inputs, ("cuda", "cpu", "meta"))

        def record(functional: fx.GraphModule,
                   fake_inputs: Sequence[Any]) -> Callable[..., None]:
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
        forward: Callable[..., Any] = graph.forward
        return forward
    torch._dynamo.reset()
    # Without it a warning, such as InstanceNorm's, breaks the graph.
    patience = torch._dynamo.config.patch(reorderable_logging_functions={warnings.warn},
                                          specialize_float=True)
    with torch.no_grad(), patience:
        traced.results = torch.compile(module, backend=backend, dynamic=dynamic)(*inputs, **kwargs)
    torch._dynamo.reset()
    return traced


def only_graph(traced: Traced) -> tuple[fx.GraphModule, Sequence[Any], CompiledPiece]:
    """The one graph with its one piece. Anything else is an UnsupportedError that says why."""
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
