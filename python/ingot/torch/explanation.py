# SPDX-License-Identifier: Apache-2.0
"""What the backend takes of a model, what it leaves, and why."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch

from ingot.torch.dynamo import Report, compile_graph


@dataclass
class Explanation:
    """Of each graph that TorchDynamo found, a Report; and why it found more than one."""
    reports: list[Report]
    breaks: list[str]

    @property
    def num_pieces(self) -> int:
        """How many Ingot programs a call runs."""
        return sum(len(report.pieces) for report in self.reports)

    @property
    def num_kernels(self) -> int:
        """How many launch steps these take."""
        return sum(piece.program.num_kernels for report in self.reports for piece in report.pieces)

    def __str__(self) -> str:
        lines = [f"{len(self.reports)} graphs, {self.num_pieces} pieces by Ingot, "
                 f"{self.num_kernels} kernels"]
        for i, report in enumerate(self.reports):
            lines.append(f"graph {i}:" + (f" left to eager: {report.reason}" if report.reason
                                          else ""))
            for piece, taken in zip(report.pieces, report.taken):
                lines.append(f"  taken, {piece.program.num_kernels} kernels: {_counted(taken)}")
            for (name, reason), count in Counter(report.left).items():
                lines.append(f"  left: {name}{f' x {count}' if count > 1 else ''}: {reason}")
        lines += [f"graph break: {reason}" for reason in self.breaks]
        return "\n".join(lines)


def _counted(names: list[str]) -> str:
    return ", ".join(name + (f" x {count}" if count > 1 else "")
                     for name, count in Counter(names).items())


def explain(model: Any, *inputs: Any, **named: Any) -> Explanation:
    """Calls the model once without gradients, and says what became of it. `print` the result; its
    reports hold the pieces' graphs."""
    reports: list[Report] = []

    def backend(module, example_inputs):
        reports.append(Report())
        return compile_graph(module, example_inputs, reports[-1])

    from torch._dynamo.utils import counters
    torch._dynamo.reset()
    before = Counter(counters["graph_break"])
    with torch.no_grad():
        torch.compile(model, backend=backend)(*inputs, **named)
    breaks = list((Counter(counters["graph_break"]) - before).elements())
    return Explanation(reports, [reason.splitlines()[0] for reason in breaks])
