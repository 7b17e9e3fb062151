# SPDX-License-Identifier: Apache-2.0
"""The sizes of a launch, which the shapes of tensors give, and the needs of a launch."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ingot.compiled_graph import CompiledGraph
from ingot.errors import InvalidArgumentError
from ingot.specs import Role


class DimSource(NamedTuple):
    """The extent of an input that gives the size of a named dimension: it is `factor` times the
    size."""
    input: int
    axis: int
    factor: int


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    return tuple(math.prod(max(extent, 1) for extent in shape[axis + 1:])
                 for axis in range(len(shape)))


class OutputLayout(NamedTuple):
    """The layout of an output in memory. `order`: its dims from the slowest to the fastest, which
    is the order in which the graph has them. `strides`: None where they follow from the sizes."""
    order: list[int]
    strides: tuple[int, ...] | None = None

    def place(self, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of the tensor that the graph declares with `shape`."""
        dense = dense_strides(shape)
        axes = [self.order.index(dim) for dim in range(len(self.order))]
        strides = self.strides or tuple(dense[axis] for axis in axes)
        return tuple(shape[axis] for axis in axes), strides


class LaunchSizes:
    """The shapes of a launch's tensors for given sizes, and the memory that it needs.

    `made` are the arguments of `empty_strided` for each output. `workspace_size` and `state_size`
    are bytes. `workspace` are the arguments of `empty_strided` for the workspace; None: it needs
    none."""

    def __init__(self, program: CompiledGraph, sizes: Mapping[str, int],
                 layouts: Sequence[OutputLayout] | None, dtypes: Mapping[str, Any],
                 byte: Any) -> None:
        memory = program.memory(**sizes)
        self.workspace_size, self.state_size = memory.workspace, memory.state
        self.workspace = ((memory.workspace,), (1,), byte) if memory.workspace else None
        self.inputs, self.outputs = (
            tuple(program.shape(role, i, **sizes) for i in range(len(specs)))
            for role, specs in ((Role.INPUT, program.inputs), (Role.OUTPUT, program.outputs)))
        layouts = layouts or [OutputLayout(list(range(len(shape)))) for shape in self.outputs]
        self.made = [(*layout.place(shape), dtypes[spec.dtype])
                     for shape, layout, spec in zip(self.outputs, layouts, program.outputs)]


def dim_sources(program: CompiledGraph, known: Mapping[str, int]) -> dict[str, DimSource]:
    """The source of each named dimension that has no known size. A dimension that no input's shape
    gives is an InvalidArgumentError."""
    result = {}
    for name in program.dims:
        if name in known:
            continue
        found = None
        for i, spec in enumerate(program.inputs):
            for axis, extent in enumerate(spec.shape):
                if isinstance(extent, int):
                    continue
                factor, others = split_extent(extent)
                if others == [name] and (found is None or factor == 1):
                    found = DimSource(i, axis, factor)
        if found is None:
            raise InvalidArgumentError(
                f"no input's shape gives '{name}' alone; give its size, dims={{'{name}': ...}}")
        result[name] = found
    return result


def split_extent(extent: str) -> tuple[int, list[str]]:
    """The number and the names of a product such as "2 * m"."""
    parts = extent.replace(" ", "").split("*")
    return (math.prod(int(part) for part in parts if part.isdigit()),
            [part for part in parts if not part.isdigit()])
