# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend="ingot"): FX graphs of PyTorch, in which some pieces become Ingot
programs and the rest stays with eager PyTorch.

AOTAutograd makes the graph functional, with ATen's operators. Its wrapper keeps track of inputs
that are written to and of outputs that share memory. A call without such tensors leaves the wrapper
out. A call that records gradients has two graphs, forward and backward (training.py).
"""
from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx.passes.tools_common import stable_topological_sort
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ingot._arguments import short_repr
from ingot.errors import InvalidArgumentError
from ingot.program import compile
from ingot.torch.compiled import CompiledPiece
from ingot.torch.lowering import Origin, reason_of
from ingot.torch.partition import (
    OtherDevice,
    Piece,
    forget_order_of_effects,
    keep_order_of_effects,
    partition,
)
from ingot.torch.rewrites import drop_double_transposes
from ingot.torch.training import boxed, decompositions, divide


@dataclass
class Report:
    """The result for one graph: its pieces, and the nodes that stay with eager PyTorch, and why. A
    call that records gradients has a report of its backward graph too."""
    pieces: list[CompiledPiece] = field(default_factory=list)
    taken: list[list[str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    backward: Report | None = None


def needs_gradients(inputs: Sequence[Any]) -> bool:
    """Whether a call with these inputs must record gradients."""
    return torch.is_grad_enabled() and any(
        isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in inputs)


def _counts_writes(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and not tensor.is_inference()


GETITEM = "getitem"  # takes one of several results; it is not counted as an operator


def _name_of(node: fx.Node) -> str:
    if node.target is operator.getitem:
        return GETITEM
    return str(node.target).removesuffix(".default")


class GraphCompiler:
    """Compiles one functional ATen graph: of inference, or forward."""

    def __init__(self, options: Mapping[str, Any], report: Report, inputs: Sequence[Any],
                 devices: Sequence[str] = ("cuda",)) -> None:
        self._options, self._report, self._devices = dict(options), report, devices
        self._freezes = self._options.pop("freeze", False)
        self._inputs = inputs  # those of TorchDynamo's graph
        self.direct: Callable[..., Any] | None = None
        self.is_simple = False

    def __call__(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        metadata = TracingContext.get().fw_metadata
        count = sum(node.op == "placeholder" for node in module.graph.nodes)
        self.is_simple = (self._is_plain(count) and not metadata.mutated_inp_runtime_indices
                          and not metadata.num_outputs_aliased
                          and not metadata.num_intermediate_bases and not metadata.tokens)
        self.rewrite(module)
        self.direct = _direct(module)
        return self.direct or module.forward

    def rewrite(self, module: fx.GraphModule) -> None:
        """Puts pieces in place of the nodes that have rules."""
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        came = self._origins(len(placeholders))
        origins = {node: origin for node, origin in zip(placeholders, came)
                   if isinstance(node.meta.get("val"), torch.Tensor)}
        keep_order_of_effects(module.graph)
        try:
            self._take_pieces(module, origins)
            stable_topological_sort(module)
        finally:
            forget_order_of_effects(module.graph)
        module.graph.eliminate_dead_code()
        module.graph.lint()
        module.recompile()

    def _take_pieces(self, module: fx.GraphModule, origins: dict[fx.Node, Origin]) -> None:
        """Puts a call of a compiled piece in place of its nodes, for each piece that has no
        refusal."""
        split = partition(module, self._devices)
        self._report.left += [(_name_of(node), reason) for node, reason in split.left.items()]
        for i, piece in enumerate(split.pieces):
            try:
                compiled = CompiledPiece(piece, f"piece{i}", origins, self._options)
            except Exception as error:  # noqa: BLE001 - PyTorch can run the operator
                reason = reason_of(error)
                self._report.left += [(_name_of(node), reason) for node in piece.nodes]
                continue
            self._report.pieces.append(compiled)
            self._report.taken.append([_name_of(node) for node in piece.nodes])
            _replace(module, piece, compiled, f"ingot_{i}")

    def _is_plain(self, count: int) -> bool:
        """Whether the graph's `count` arguments are those of TorchDynamo's graph. AOTAutograd may
        add and drop some, and takes subclasses of tensors apart."""
        return count == len(self._inputs) and not any(
            is_traceable_wrapper_subclass(tensor) for tensor in self._inputs)

    def _origins(self, count: int) -> list[Origin]:
        """The origins of the graph's arguments."""
        if not self._is_plain(count):
            return [Origin.MODULE] * count
        metadata = TracingContext.get().fw_metadata
        static, mutated = (set(indices) for indices in (
            metadata.static_input_indices, metadata.mutated_inp_runtime_indices))
        return [Origin.ARGUMENT if i not in static else
                Origin.FROZEN if self._freezes and i not in mutated and _counts_writes(tensor) else
                Origin.MODULE for i, tensor in enumerate(self._inputs)]


class BackwardCompiler(GraphCompiler):
    """Compiles a backward graph, which takes saved values and gradients."""

    def __init__(self, options: Mapping[str, Any], report: Report,
                 devices: Sequence[str] = ("cuda",)) -> None:
        super().__init__(options, report, (), devices)

    def rewrite(self, module: fx.GraphModule) -> None:
        drop_double_transposes(module.graph)
        super().rewrite(module)

    def _origins(self, count: int) -> list[Origin]:
        return [Origin.SAVED] * count


def _replace(module: fx.GraphModule, piece: Piece, compiled: CompiledPiece, name: str) -> None:
    """Puts one call in place of a piece's nodes, behind the last node that it takes."""
    module.add_submodule(name, compiled)
    order = {node: i for i, node in enumerate(module.graph.nodes)}
    taken = compiled.nodes()
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    last = max(taken + placeholders, key=order.__getitem__, default=None)
    inside = set(piece.nodes)
    # Users of the results may stand before it: the order is restored at the end.
    with module.graph.inserting_after(last):
        call = module.graph.call_module(name, tuple(taken))
    before = call
    for i, node in enumerate(piece.outputs):
        with module.graph.inserting_after(before):
            result = module.graph.call_function(item, (call, i))
        result.meta = dict(node.meta)
        node.replace_all_uses_with(result, delete_user_cb=lambda user: user not in inside)
        before = result
    for node in reversed(piece.nodes):
        module.graph.erase_node(node)


def item(outputs: Sequence[Any], i: int) -> Any:
    """One of a piece's results."""
    return outputs[i]


def _direct(module: fx.GraphModule) -> Callable[..., Any] | None:
    """The call of the one piece, where the graph is nothing else: it needs no interpreter."""
    nodes = list(module.graph.nodes)
    calls = [node for node in nodes if node.op == "call_module"]
    others = [node for node in nodes
              if node.op not in ("placeholder", "output", "call_module")
              and node.target is not item]
    if len(calls) != 1 or others:
        return None
    placeholders = [node for node in nodes if node.op == "placeholder"]
    places = {node: i for i, node in enumerate(placeholders)}
    results = nodes[-1].args[0]
    if not isinstance(results, (list, tuple)) or any(
            not isinstance(node, fx.Node) or node.target is not item for node in results):
        return None
    piece = module.get_submodule(calls[0].target)
    piece.place([places[node] for node in calls[0].args], [node.args[1] for node in results])
    return piece.forward


def compile_graph(module: fx.GraphModule, inputs: Sequence[Any], report: Report,
                  options: Mapping[str, Any] | None = None,
                  devices: Sequence[str] = ("cuda",)) -> Callable[..., Any]:
    """The backend's work on one graph of TorchDynamo. Fills in the report."""
    options = dict(options or {})
    compiler = GraphCompiler(options, report, inputs, devices)
    options.pop("freeze", None)  # parameters change between the steps of training
    forward = boxed(GraphCompiler(options, report, inputs, devices).rewrite)

    def rewrite_backward(graph: fx.GraphModule) -> None:
        report.backward = Report()
        BackwardCompiler(options, report.backward, devices).rewrite(graph)
    # A module may turn gradients on itself: a call that needs none here may have both graphs.
    trains = needs_gradients(inputs)
    compiled = aot_autograd(
        fw_compiler=forward, bw_compiler=boxed(rewrite_backward),
        inference_compiler=forward if trains else compiler, partition_fn=divide,
        decompositions=decompositions() if trains else None)(module, inputs)
    _warn_of_other_device(report)
    return compiler.direct if compiler.direct is not None and compiler.is_simple else compiled


def _warn_of_other_device(report: Report) -> None:
    """Warns where nothing was taken, because no tensor is on a CUDA device."""
    if not report.pieces and report.left and all(
            isinstance(reason, OtherDevice) for _, reason in report.left):
        warnings.warn(f"ingot: left to eager PyTorch: {report.left[0][1]}, expected one on a CUDA "
                      "device", stacklevel=3)


def ingot_backend(module: fx.GraphModule, inputs: Sequence[Any],
                  **named: Any) -> Callable[..., Any]:
    """The backend "ingot" of torch.compile. Options, as torch.compile(options={...}): "math",
    "device", "target", as in ingot.compile; "freeze", see check_options."""
    options = named.get("options") or {}
    check_options(options, "torch.compile(backend=\"ingot\")")
    return compile_graph(module, inputs, Report(), options)


def check_options(options: Mapping[str, Any], caller: str) -> None:
    """Refuses unknown options and values, once and not at each operator: InvalidArgumentError.

    "freeze" (False): whether memory may be prepared from parameters and buffers, such as the halves
    of f32 weights. It is prepared again after each write that PyTorch counts. Writes that it does
    not count - through `.data`, DLPack or a kernel of the caller's own - then leave results stale,
    so this is a promise that there are none."""
    if not isinstance(options, Mapping):
        raise InvalidArgumentError(f"{caller}: options: expected a dict of math, device, target or "
                                   f"freeze, got {type(options).__name__}")
    unknown = [name for name in options if name not in ("math", "device", "target", "freeze")]
    if unknown:
        raise InvalidArgumentError(f"{caller}: there is no option {short_repr(unknown[0])}; "
                                   "expected math, device, target or freeze")
    if not isinstance(options.get("freeze", False), bool):
        raise InvalidArgumentError(f"{caller}: freeze: expected True or False, got "
                                   f"{short_repr(options['freeze'])}")
    compiled = {name: value for name, value in options.items() if name != "freeze"}
    if compiled:
        compile("graph g(x: f32[1]) { return relu(x) }", **compiled)
