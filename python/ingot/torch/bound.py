# SPDX-License-Identifier: Apache-2.0
"""Bound programs that are called with PyTorch's tensors: checks, then the launcher."""
from __future__ import annotations

from typing import Any, Sequence

import torch

from ingot.errors import InvalidArgumentError
from ingot.launch import way_to_the_gpu
from ingot.torch.launcher import Launcher, check_tensors


class TorchWay:
    """A bound program on one CUDA device."""

    @staticmethod
    def of(bound, tensors: Sequence[Any], ways: dict) -> TorchWay:
        """The way of the device of the first tensor."""
        device = next(t.device for t in tensors if isinstance(t, torch.Tensor))
        if device.type != "cuda":
            raise InvalidArgumentError(f"expected tensors on a CUDA device, got one on {device}; "
                                       f"{way_to_the_gpu(torch.cuda.is_available())}")
        way = ways.get(device)
        if way is None:
            way = ways[device] = TorchWay(bound, device)
        return way

    def __init__(self, bound, device: torch.device):
        self._bound, self._device = bound, device
        dims = dict(bound.dims)
        for spec, param in zip(bound.program.params, bound.params):
            for extent, declared in zip(getattr(param, "shape", ()), spec.shape):
                if isinstance(declared, str) and declared.isidentifier():
                    dims.setdefault(declared, int(extent))
        self._launcher = Launcher(bound.program, device, dims=dims)
        self._call = self._launcher.make_call()

    def prepare(self, stream: int | None) -> None:
        """Also where no write was counted: writes through `.data` are not."""
        use = (torch.cuda.device(self._device) if stream is None else
               torch.cuda.stream(torch.cuda.ExternalStream(stream, self._device)))
        with use:
            self._launcher.prepare(self._bound.params, again=True)

    def __call__(self, inputs, outputs, stream: int | None):
        program = self._bound.program
        check_tensors("input", program.inputs, inputs, self._device)
        if outputs is not None:
            check_tensors("output", program.outputs, outputs, self._device)
        tensors = (*inputs, *self._bound.params)
        if stream is None:
            return self._call(tensors, outputs)
        with torch.cuda.stream(torch.cuda.ExternalStream(stream, self._device)):
            return self._call(tensors, outputs)
