# SPDX-License-Identifier: Apache-2.0
"""One call of PyTorch's operator database through the backend, beside eager PyTorch on the same
device.

AOTAutograd and the backend are given the call as a graph of one node; `whole` goes through
torch.compile, with sizes that change.
"""
from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass, field
from typing import Any, Iterator

import torch
from torch import fx
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode

import comparison
from comparison import Difference
from ingot.torch import dynamo
from ingot.torch.lowering import RuleFault
from operator_exceptions import exempt
from operator_samples import (ALL, DTYPES, OPERATORS, Call, Extent, between_others, calls, copies,
                              in_other_layouts, is_elementwise, is_plain)


#: Draws of the inputs that decide where an error is larger than eager's, one look for all. Few
#: elements say little, and eager operators between pieces amplify the errors of both:
#: behind a sharp softmax they span 4e-8 to 2e-5, so that a mean of errors is that of its few
#: largest. The mean of the logarithm of their ratio has no such tail; its own error is a tenth over
#: 100 draws.
NUM_DRAWS = 100

#: Exit status of a process whose GPU context was lost in a compiled call, or in eager PyTorch.
LOST, LOST_BY_EAGER = 70, 71


@dataclass
class Result:
    """The result of one call: `state` is launched, left (nothing is Ingot's), refused (eager
    raises) or pytorch (AOTAutograd raises the same without Ingot)."""
    op: str
    dtype: str
    sample: str
    state: str
    is_between: bool = False  # the launch may be of the operators before and after it
    differences: list[Difference] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    reasons: list[tuple[str, str]] = field(default_factory=list)  # operators left, and why


def _draws(call: Call) -> bool:
    with comparison.Drawing() as drawing:
        call(copies(call.tensors))
    return drawing.seen


def graph_of(call: Call, num: int) -> fx.GraphModule:
    """The call as a graph of one node, as a backend is given."""
    graph = fx.Graph()
    taken = [graph.placeholder(f"x{i}") for i in range(num)]

    def function(*tensors):
        return tuple(call(tensors))
    graph.output(graph.call_function(function, tuple(taken)))
    return fx.GraphModule({}, graph)


def compiled(call: Call, tensors: list[torch.Tensor], report: dynamo.Report, devices):
    """A call, compiled by the backend."""
    with tracing(TracingContext(FakeTensorMode(allow_non_fake_inputs=True))):
        return dynamo.compile_graph(graph_of(call, len(tensors)), tensors, report,
                                    devices=devices)


def _exactly(call: Call, tensors: list[torch.Tensor]) -> tuple[
        list[Any] | None, list[torch.Tensor] | None]:
    """The results and the inputs after the call, in f64, where the operator has that."""
    narrow = [tensor.dtype for tensor in tensors if tensor.dtype in comparison.NARROW]
    wide = [tensor.double() if tensor.dtype in comparison.NARROW else tensor for tensor in tensors]
    before = torch.get_default_dtype()
    try:
        torch.manual_seed(3)
        torch.set_default_dtype(torch.float64)  # the type that integers become
        with comparison.InF64(*narrow[:1]):
            return call(wide), wide
    except Exception:  # many have no f64 form
        return None, None
    finally:
        torch.set_default_dtype(before)


def _limits(op: str, reports: list[dynamo.Report]) -> comparison.Limits:
    num = sum(len(report.pieces) + sum("getitem" not in name for name, _ in report.left)
              for report in reports)
    return comparison.Limits(is_elementwise(OPERATORS[op]), num)


def _rule_faults(reports: list[dynamo.Report]) -> list[Difference]:
    return [Difference("rule", f"{name}: {reason}") for report in reports
            for name, reason in report.left if isinstance(reason, RuleFault)]


def end_where_lost(device: str, status: int = LOST) -> None:
    """Waits for the GPU, and ends the process where its context is lost: all that follows would
    fail."""
    if device == "cuda":
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            os._exit(status)


class Runner:
    """Runs calls on one device: "cpu" by the reference interpreter, or "cuda"."""

    def __init__(self, device: str):
        self.device = device
        self.devices = ("cpu", "meta") if device == "cpu" else ("cuda",)

    def run(self, op: str, dtype: str, call: Call) -> Result:
        """One call: compiled, called twice, compared. Where it draws random numbers, PyTorch's own
        graph without Ingot says which: eager may draw them in another order."""
        result = Result(op, dtype, call.label, "refused", call.is_between)
        like, theirs = call, copies(call.tensors)
        torch.manual_seed(3)
        try:
            wanted = call(theirs)
            if _draws(call):
                like, theirs = self._as_graph(call), copies(call.tensors)
                torch.manual_seed(3)
                wanted = like(theirs)
        except Exception:  # a call that eager refuses may be refused
            end_where_lost(self.device, LOST_BY_EAGER)
            return result
        end_where_lost(self.device, LOST_BY_EAGER)
        if not wanted or not any(isinstance(leaf, torch.Tensor) for leaf in wanted):
            result.state = "left"
            return result
        report = dynamo.Report()
        result.differences += self._faults(op, call, like, wanted, theirs, report)
        result.reasons = list(report.left)
        result.state = "launched" if report.pieces else "left"
        if any(difference.measure for difference in result.differences):
            if self._is_chance(op, call, like):
                result.differences = [d for d in result.differences if not d.measure]
        if result.differences:
            own = self._faults(op, call, like, wanted, theirs, report, is_own=True)
            result.differences = [d for d in result.differences
                                  if not any(map(d.is_excused_by, own))]
            if not result.differences and any(d.exception for d in own):
                result.state = "pytorch"
        result.differences += _rule_faults([report])
        kept = []
        for difference in result.differences:
            reason = exempt(op, self.device, difference.kind)
            (kept if reason is None else result.excused).append(
                difference if reason is None else f"{difference.kind}: {reason}")
        result.differences = kept
        return result

    def _as_graph(self, call: Call) -> Call:
        """PyTorch's own graph of the call, without Ingot."""
        own = compiled(call, copies(call.tensors), dynamo.Report(), ())
        return call._replace(function=lambda *tensors: list(own(*tensors)))

    def _faults(self, op, call, like, wanted, theirs, report, is_own=False) -> list[Difference]:
        """Differences from `wanted`, the results of `like`. `is_own`: of PyTorch's own graph
        without Ingot, by the limits of `report`, which is that of the call with it."""
        try:
            ours = copies(call.tensors)
            function = (compiled(call, ours, dynamo.Report(), ()) if is_own else
                        compiled(call, ours, report, self.devices))
            if not is_own and not report.pieces:
                return []  # eager PyTorch alone runs
            torch.manual_seed(3)
            results = list(function(*ours))
            again_inputs = copies(call.tensors)
            torch.manual_seed(3)
            again = list(function(*again_inputs))
        except Exception as error:
            end_where_lost(self.device)
            return [comparison.raised(error)]
        end_where_lost(self.device)
        limits = _limits(op, [report])
        exact, written = _exactly(like, copies(call.tensors))
        end_where_lost(self.device, LOST_BY_EAGER)
        faults = list(comparison.compare(results, wanted, exact, limits))
        if not all(map(comparison.have_same_bits, results, again)):
            faults.append(Difference("bits", "two calls give different bits"))
        seen, like = comparison.sharing(results, ours), comparison.sharing(wanted, theirs)
        if seen != like:
            faults.append(Difference("alias", f"shares storage with {seen}, eager with {like}"))
        for i, (tensor, other) in enumerate(zip(ours, theirs)):
            if is_plain(other) and not any(a is other for a in wanted):
                faults += [Difference("writes", f"input {i}: {fault.kind}: {fault.text}", i,
                                      size=fault.size)
                           for fault in comparison.compare([tensor], [other],
                                                           written and [written[i]], limits)]
        return faults

    def _is_chance(self, op: str, call: Call, like: Call) -> bool:
        """Whether the error over NUM_DRAWS draws of the inputs is no larger than it may be: than
        eager's, or that of PyTorch's own graph without Ingot."""
        report, draws, function, own = dynamo.Report(), [], None, None
        for draw in range(NUM_DRAWS):
            tensors = copies(call.tensors)
            torch.manual_seed(11 + draw)
            vary([tensor for tensor in tensors if is_plain(tensor) and tensor.numel()])
            try:
                torch.manual_seed(3)
                wanted = like(copies(tensors))
            except Exception:  # a draw that the operator does not take
                end_where_lost(self.device, LOST_BY_EAGER)
                continue
            exact, _ = _exactly(like, copies(tensors))
            end_where_lost(self.device, LOST_BY_EAGER)
            if exact is None:
                return False
            try:
                function = function or compiled(call, copies(tensors), report, self.devices)
                own = own or compiled(call, copies(tensors), dynamo.Report(), ())
                torch.manual_seed(3)
                got = list(function(*copies(tensors)))
                torch.manual_seed(3)
                without = list(own(*copies(tensors)))
            except Exception:
                end_where_lost(self.device)
                return False
            end_where_lost(self.device)
            limits = _limits(op, [report])
            own_errors = comparison.errors(without, wanted, exact, limits)
            draws.append([(mine, max(eager, theirs), least)
                          for (mine, eager, least), (theirs, _, _) in
                          zip(comparison.errors(got, wanted, exact, limits), own_errors)])
        return are_within_limits(draws)


def are_within_limits(draws: list[list[tuple[float, float, float]]]) -> bool:
    """Whether errors over several draws, each as `comparison.errors` gives them, are no larger than
    they may be: in the geometric mean of their ratios to the limits. False where fewer than half of
    the draws were taken, or the draws gave different results."""
    num = len(draws[0]) if draws else 0
    if len(draws) < NUM_DRAWS / 2 or num == 0 or any(len(draw) != num for draw in draws):
        return False
    return all(sum(_log_ratio(*errors) for errors in column) <= 0 for column in zip(*draws))


def _log_ratio(mine: float, eager: float, least: float) -> float:
    """The logarithm of an error's ratio to its limit. An error below a quarter of a rounding counts
    as that; one of zero, where results are zero and have no rounding, says nothing."""
    error, limit = max(mine, least / 4), max(comparison.SLACK * eager, least)
    if error == 0:
        return 0.0
    return math.log(error / limit) if limit else math.inf


def vary(tensors: list[torch.Tensor]) -> None:
    """Changes floating point values by up to a twentieth. Where there are none, shuffles integers:
    they stay in the range that the operator takes."""
    has_floats = any(tensor.is_floating_point() for tensor in tensors)
    for tensor in tensors:
        seen = tensor.as_strided(*_apart(tensor))
        if tensor.is_floating_point():
            seen.mul_(1 + 0.05 * torch.empty_like(seen).uniform_(-1, 1))
        elif not has_floats and tensor.dtype == torch.int64:
            order = torch.randperm(seen.numel(), device=seen.device)
            seen.copy_(seen.reshape(-1)[order].reshape(seen.shape))


def _apart(tensor: torch.Tensor) -> tuple[list[int], list[int]]:
    """Extents and strides by which each element of a tensor's memory is seen once."""
    pairs = [(extent, stride) for extent, stride in zip(tensor.shape, tensor.stride()) if stride]
    return [extent for extent, _ in pairs], [stride for _, stride in pairs]


def _same_sums():
    """A context in which cuDNN adds in the same order at each call. Some of its convolutions do
    not otherwise."""
    return torch.backends.cudnn.flags(enabled=True, deterministic=True)


def results(runner: Runner, op: str, dtype: str, first: int = 0,
            extent: Extent = ALL) -> Iterator[tuple[int, Result]]:
    """(index of the sample, result) of an operator and type; the first few that have a launch are
    called in other layouts too."""
    info, in_layouts, between = OPERATORS[op], 0, 0
    with torch.no_grad(), _same_sums(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index, call in calls(info, dtype, runner.device):
            if index < first or (extent.samples is not None and index not in extent.samples):
                continue
            result = runner.run(op, dtype, call)
            yield index, result
            if (result.state in ("launched", "left") and between < extent.between
                    and all(map(is_plain, call.tensors)) and extent.has(op, dtype, "between")):
                between += 1
                yield index, runner.run(op, dtype, between_others(call))
            if result.state == "launched" and in_layouts < extent.in_layouts:
                in_layouts += 1
                for moved in in_other_layouts(info, call):
                    if extent.has(op, dtype, moved.label):
                        yield index, runner.run(op, dtype, moved)


def _shape_of(call: Call) -> tuple:
    return tuple(tuple(tensor.shape) for tensor in call.tensors)


def whole(runner: Runner, op: str, dtype: str, most: int = 3) -> Iterator[Result]:
    """Calls of one function through the whole of torch.compile with sizes that may change: samples
    whose other arguments and ranks are alike follow each other."""
    info = OPERATORS[op]
    groups: dict[tuple, list] = {}
    torch.manual_seed(7)
    for sample in info.sample_inputs(runner.device, DTYPES[dtype], requires_grad=False):
        leaves, spec = torch.utils._pytree.tree_flatten(
            (sample.input, tuple(sample.args), dict(sample.kwargs)))
        like = tuple(("tensor", leaf.dim()) if isinstance(leaf, torch.Tensor) else repr(leaf)
                     for leaf in leaves)
        groups.setdefault((str(spec), like), []).append((leaves, spec))
    if not groups:
        return
    group = max(groups.values(), key=len)[:most]
    reports: list[dynamo.Report] = []

    def backend(graph, inputs):
        reports.append(dynamo.Report())
        return dynamo.compile_graph(graph, inputs, reports[-1], devices=runner.devices)

    def function(leaves, spec):
        x, args, named = torch.utils._pytree.tree_unflatten(leaves, spec)
        return info.op(x, *args, **named)
    torch._dynamo.reset()
    call = torch.compile(function, backend=backend, dynamic=True)
    with torch.no_grad(), _same_sums(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (leaves, spec) in enumerate(group):
            result = Result(op, dtype, f"whole {i}", "refused")
            yield _one_whole(result, function, call, leaves, spec, reports, runner.device)


def _one_whole(result, function, call, leaves, spec, reports, device) -> Result:
    flat = torch.utils._pytree.tree_leaves
    torch.manual_seed(3)
    try:
        wanted = flat(function(leaves, spec))
    except Exception:  # a call that eager refuses may be refused
        end_where_lost(device, LOST_BY_EAGER)
        return result
    end_where_lost(device, LOST_BY_EAGER)
    torch.manual_seed(3)
    try:
        got = flat(call(leaves, spec))
    except Exception as error:
        end_where_lost(device)
        result.state = "pytorch" if not any(r.pieces for r in reports) else "launched"
        if result.state == "launched":
            result.differences.append(comparison.raised(error))
        return result
    end_where_lost(device)
    result.state = "launched" if any(report.pieces for report in reports) else "left"
    if result.state == "launched":
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

        def filled(*tensors):
            return function([tensors[at.index(i)] if i in at else leaf
                             for i, leaf in enumerate(leaves)], spec)
        tensors = [leaves[i] for i in at]
        exact, _ = _exactly(Call("", filled, tensors), copies(tensors))
        result.differences += [
            d for d in comparison.compare(got, wanted, exact, _limits(result.op, reports))
            if exempt(result.op, device, d.kind) is None]
    result.differences += _rule_faults(reports)
    return result
