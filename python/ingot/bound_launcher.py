# SPDX-License-Identifier: Apache-2.0
"""Launches of a program with the params that it is bound to, on one GPU. Each kind of tensors has
its own class, which brings arguments into the form that the launcher takes."""
from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

from ingot.compiled_graph import CompiledGraph
from ingot.device import Device
from ingot.launcher import Launcher
from ingot.specs import Size


class BoundLauncher(abc.ABC):
    """A program, its params and the sizes that will be launched, on one GPU. Params' shapes give
    the sizes of named dimensions that `dims` does not list."""

    def __init__(self, program: CompiledGraph, params: Sequence[Any], dims: Mapping[str, Size],
                 device: Device) -> None:
        self.program, self.params, self.device = program, params, device
        known = dict(dims)
        for spec, param in zip(program.params, params):
            for extent, declared in zip(getattr(param, "shape", ()), spec.shape):
                if isinstance(declared, str) and declared.isidentifier():
                    known.setdefault(declared, int(extent))
        self._launcher = Launcher(program, device, dims=known)
        self._call = self._launcher.make_call()

    @abc.abstractmethod
    def prepare(self, stream: int | None) -> None:
        """Prepares, also where no write to a param was counted, and waits for it."""

    @abc.abstractmethod
    def launch(self, inputs: Sequence[Any], outputs: Sequence[Any] | None,
               stream: int | None) -> Sequence[Any]:
        """Enqueues the kernels on a stream, and gives the outputs. None: new outputs; the current
        stream."""
