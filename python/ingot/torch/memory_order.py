# SPDX-License-Identifier: Apache-2.0
"""The order of a tensor's dims in memory."""
from __future__ import annotations

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false

from ingot.launch_sizes import OutputLayout


def memory_order(tensor: torch.Tensor) -> list[int] | None:
    """The dims of a tensor from the slowest to the fastest in memory, where its elements are
    dense in that order; else None."""
    if guard_or_false(tensor.is_contiguous()):
        return list(range(tensor.dim()))
    hints = [stride if isinstance(stride, int) else stride.node.hint
             for stride in tensor.stride()]
    if any(hint is None for hint in hints):
        return None
    order = sorted(range(tensor.dim()), key=lambda dim: -hints[dim])
    dense = 1
    for dim in reversed(order):
        extent = tensor.shape[dim]
        if guard_or_false(extent == 1):
            continue
        if not guard_or_false(tensor.stride(dim) == dense):
            return None
        dense = dense * extent
    return order


def output_layout(fake: torch.Tensor) -> OutputLayout:
    """The order of a result in memory and, where they are numbers, its strides."""
    order = memory_order(fake)
    if order is None:  # a trial: such a result leaves no piece
        return OutputLayout(list(range(fake.dim())))
    strides = fake.stride()
    known = all(isinstance(stride, int) for stride in strides)
    return OutputLayout(order, tuple(strides) if known else None)
