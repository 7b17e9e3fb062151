# SPDX-License-Identifier: Apache-2.0
"""Explanations of models: the operators that the backend takes, those that it leaves, and why."""
from __future__ import annotations

import contextlib
import inspect
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import fx
from torch._dynamo.utils import counters

from ingot._arguments import count_text, type_and_repr
from ingot.errors import InvalidArgumentError
from ingot.host import explain as explain_graph
from ingot.torch.compiled import CompiledPiece
from ingot.torch.dynamo import GETITEM, Report, check_options, compile_graph

# An operator that PyTorch uses for attention alone, where it takes it apart.
_ATTENTION = "aten._safe_softmax"
_ATTENTION_NOTE = (
    "attention was traced on tensors without data, for which PyTorch takes it apart. On a GPU, "
    "attention with dropout or large heads is left to its fused kernel, unless the call is under "
    "torch.nn.attention.sdpa_kernel(SDPBackend.MATH)")
_GRADIENTS_NOTE = (
    "a parameter or an input requires gradients: a call with gradients on has a forward and a "
    "backward graph; this report is of a call under torch.no_grad()")


@dataclass
class Explanation:
    """A Report of each graph that TorchDynamo found, and the reasons of graph breaks.
    `needs_gradients`: a parameter or an input requires gradients. The explanation then holds for a
    call under torch.no_grad() alone."""
    reports: list[Report]
    breaks: list[str]
    needs_gradients: bool = False

    @property
    def pieces(self) -> list[CompiledPiece]:
        """The pieces of all graphs, in order."""
        return [piece for report in self.reports for piece in report.pieces]

    @property
    def num_pieces(self) -> int:
        """The number of Ingot programs that a call runs."""
        return len(self.pieces)

    @property
    def num_kernels(self) -> int:
        """The number of kernels that a call runs, without those of `num_prepare_kernels`."""
        return sum(piece.program.num_kernels for piece in self.pieces)

    @property
    def num_prepare_kernels(self) -> int:
        """The number of kernels that run once per parameter set, and after a write to one."""
        return sum(map(_prepare_kernels, self.facts))

    @property
    def notes(self) -> list[str]:
        """Differences in another call: on a GPU, or with gradients on."""
        is_apart = any(_ATTENTION in taken and piece.device.type == "meta"
                       for report in self.reports
                       for piece, taken in zip(report.pieces, report.taken))
        return [_GRADIENTS_NOTE] * self.needs_gradients + [_ATTENTION_NOTE] * is_apart

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """Per piece the facts that ingot.explain gives about its graph as JSON."""
        return [json.loads(explain_graph(piece.lowered.graph, format="json",
                                         **piece.compile_options)) for piece in self.pieces]

    def __str__(self) -> str:
        kernels = _kernels_text(self.num_kernels, self.num_prepare_kernels)
        lines = [", ".join([count_text(len(self.reports), "graph"),
                            f"{count_text(self.num_pieces, 'piece')} by Ingot",
                            kernels + self._cost()])]
        number = 0
        for i, report in enumerate(self.reports):
            lines.append(f"graph {i}:")
            for piece, taken in zip(report.pieces, report.taken):
                kernels = _kernels_text(piece.program.num_kernels,
                                        _prepare_kernels(self.facts[number]))
                lines.append(f"  piece {number}, {kernels}: {_counted(taken)}")
                number += 1
            for (name, reason), count in Counter(report.left).items():
                if name != GETITEM:
                    lines.append(f"  left to eager PyTorch: {_times(name, count)}: {reason}")
        if not self.reports:
            lines.append("TorchDynamo found no operator on tensors in this call")
        lines += [f"graph break: {reason}" for reason in self.breaks]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _cost(self) -> str:
        if not self.facts:
            return ""
        seconds = sum(facts["predicted_ms"] for facts in self.facts)
        return f", predicted {seconds:.4f} ms on {self.facts[0]['device']}"


def _prepare_kernels(facts: Mapping[str, Any]) -> int:
    return sum(kernel["program"] == "prepare" for kernel in facts["kernels"])


def _kernels_text(in_call: int, in_prepare: int) -> str:
    prepared = f", {in_prepare} more once per parameter set" if in_prepare else ""
    return f"{count_text(in_call, 'kernel')} a call{prepared}"


def _times(name: str, count: int) -> str:
    return name + (f" x {count}" if count > 1 else "")


def _counted(names: Iterable[str]) -> str:
    return ", ".join(_times(name, count) for name, count in Counter(names).items()
                     if name != GETITEM)


@contextlib.contextmanager
def _quiet_tracing() -> Iterator[None]:
    """Silences the log of an operator that fails, since its error is raised."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled


def _original_text(error: Exception) -> str:
    """The message of PyTorch's operator, which TorchDynamo's message holds."""
    text = str(error)
    inner = re.search(r"got \w*(?:Error|Exception)\(([\"'])(.*?)\1[,)]", text, re.DOTALL)
    return inner.group(2).rstrip(".") if inner else text.splitlines()[0]


def _fits_signature(model: Any, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether the model's signature takes these arguments."""
    try:
        inspect.signature(getattr(model, "forward", model)).bind(*inputs, **named)
    except TypeError:
        return False
    except ValueError:  # no signature
        pass
    return True


def _refuses_packed(error: Exception, model: Any, inputs: tuple[Any, ...],
                    named: Mapping[str, Any]) -> bool:
    """Whether a model fails as its one argument is a tuple or a list: PyTorch's error names the
    type, TorchDynamo fails on it, or the signature needs more arguments. Other errors are those of
    the model's own code."""
    if len(inputs) != 1 or not isinstance(inputs[0], (tuple, list)):
        return False
    if isinstance(error, torch._dynamo.exc.InternalTorchDynamoError):
        return True
    names_type = re.search(rf"\b{type(inputs[0]).__name__}\b", _original_text(error))
    return bool(names_type) or not _fits_signature(model, inputs, named)


def _refusal(error: Exception, model: Any, inputs: tuple[Any, ...],
             named: Mapping[str, Any]) -> InvalidArgumentError | None:
    """The error to raise for a model that fails on its arguments; None: the original error."""
    exceptions = torch._dynamo.exc
    is_packed = _refuses_packed(error, model, inputs, named)
    if isinstance(error, exceptions.BackendCompilerFailed) or not (
            is_packed or isinstance(error, exceptions.TorchRuntimeError)):
        return None
    what, remedy = "these arguments", "call the model itself to see where"
    if is_packed:
        what = f"a {type(inputs[0]).__name__} as its one argument"
        remedy = "write explain(model, *inputs) where it holds several"
    return InvalidArgumentError(f"ingot.torch.explain: the model refuses {what}: "
                                f"{_original_text(error)}; {remedy}")


def explain(model: Any, *inputs: Any, device: str | None = None,
            options: Mapping[str, Any] | None = None, **named: Any) -> Explanation:
    """Calls model(*inputs, **named) once without gradients, in eager PyTorch, and explains the
    result of torch.compile(model, backend="ingot", options=options). `print` the explanation; its
    pieces hold the graphs.

    Works on any device, without a GPU too: for tensors of the CPU and of torch.device("meta") it
    shows the kernels that a GPU would get. `device` is the card that kernels are planned for, as of
    ingot.compile: "a100", "h100", "h200"; None: the card present, or an A100. Arguments that the
    model refuses are an InvalidArgumentError; an error of the model's own code is raised as it
    is."""
    caller = "ingot.torch.explain"
    options = {} if options is None else options
    if isinstance(model, type) or not callable(model):
        raise InvalidArgumentError(f"{caller}: expected a module or a function, and then its "
                                   f"arguments, got {type_and_repr(model)}")
    check_options(options, caller)
    options = dict(options)
    if device is not None and options.setdefault("device", device) != device:
        raise InvalidArgumentError(f"device: got {device!r}, and {options['device']!r} in options; "
                                   "give it once")
    check_options(options, caller)
    explanation = Explanation([], [])

    def backend(module: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        explanation.reports.append(Report())
        explanation.needs_gradients |= any(
            isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in example_inputs)
        compile_graph(module, example_inputs, explanation.reports[-1], options,
                      devices=("cuda", "cpu", "meta"))
        forward: Callable[..., Any] = module.forward
        return forward

    torch._dynamo.reset()
    before = Counter(counters["graph_break"])
    try:
        with torch.no_grad(), _quiet_tracing():
            torch.compile(model, backend=backend)(*inputs, **named)
    except (TypeError, torch._dynamo.exc.TorchDynamoException) as error:
        refusal = _refusal(error, model, inputs, named)
        if refusal is None:
            raise
        raise refusal from error
    finally:
        torch._dynamo.reset()
    breaks = (Counter(counters["graph_break"]) - before).elements()
    explanation.breaks += [reason.splitlines()[0] for reason in breaks]
    return explanation
