# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensors on one GPU. The modules above import this file only where PyTorch is there."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ingot.bound_launcher import BoundLauncher
from ingot.compiled_graph import CompiledGraph
from ingot.context import use_context
from ingot.device import Buffer, Device
from ingot.dtypes import LONG_NAMES
from ingot.errors import InvalidArgumentError
from ingot.gpu_memory import way_to_the_gpu
from ingot.specs import Size

#: PyTorch's element types by their names here.
TORCH_DTYPES: dict[str, torch.dtype] = {short: getattr(torch, long)
                                        for short, long in LONG_NAMES.items()}


def empty_strided_on(device: torch.device) -> Callable[..., torch.Tensor]:
    """empty_strided(shape, strides, dtype) on the current GPU. PyTorch's own generated code calls
    the private function, which takes a fraction of the time of torch.empty_strided."""
    quick: Callable[..., torch.Tensor] | None = getattr(
        torch._C._dynamo.guards, "_empty_strided_cuda", None)
    if quick is not None:
        return quick
    return lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype,
                                                             device=device)


class TorchDevice(Device):
    """One GPU as PyTorch sees it. Another device than a GPU is for tests, which launch nothing."""

    tracks_streams = True
    dtypes = TORCH_DTYPES
    byte = torch.uint8

    def __init__(self, device: torch.device) -> None:
        if device.type == "cuda" and device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        self.index = device.index if device.type == "cuda" else -1  # as Tensor.get_device()
        self.device = device

    def __str__(self) -> str:
        return str(self.device)

    def scope(self) -> dict[str, Any]:
        """The private functions are those of PyTorch's own generated code. Public ones that give
        the same make an object or check an argument more, at each launch."""
        return {"current_device": torch._C._cuda_getDevice,
                "current_stream": torch._C._cuda_getCurrentRawStream,
                "is_capturing": torch.cuda.is_current_stream_capturing,
                "assert_size_stride": torch._C._dynamo.guards.assert_size_stride,
                "empty": empty_strided_on(self.device)}

    def use(self) -> None:
        torch.cuda.set_device(self.index)
        use_context(self.index)

    def call_on(self, call: Any, tensors: Sequence[Any], out: Any) -> Any:
        before = torch.cuda.current_device()
        self.use()
        try:
            return call(tensors, out)
        finally:
            torch.cuda.set_device(before)

    def current_stream(self) -> int:
        stream: int = torch.cuda.current_stream(self.device).cuda_stream
        return stream

    def is_capturing(self) -> bool:
        return torch.cuda.is_current_stream_capturing()

    def synchronize(self) -> None:
        torch.cuda.synchronize(self.device)

    def synchronize_stream(self) -> None:
        torch.cuda.current_stream(self.device).synchronize()

    def allocate(self, size: int) -> Buffer:
        return torch.empty(size, dtype=torch.uint8, device=self.device)

    def zeros(self, size: int) -> Buffer:
        return torch.zeros(size, dtype=torch.uint8, device=self.device)

    def record_stream(self, buffer: Buffer) -> None:
        assert isinstance(buffer, torch.Tensor)
        buffer.record_stream(torch.cuda.current_stream(self.device))

    def version(self, param: torch.Tensor) -> int:
        if param.is_inference():
            raise InvalidArgumentError(
                "a param must count the writes to it, which a tensor made under "
                "torch.inference_mode does not; make it outside, or clone it there")
        return param._version

    def is_tensor(self, tensor: Any) -> bool:
        return isinstance(tensor, torch.Tensor)

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.device == self.device

    def conversion(self, dtype: Any) -> str:
        return f"convert it with .to({dtype})"


class TorchBoundLauncher(BoundLauncher):
    """A bound program that is launched with PyTorch's tensors."""

    def __init__(self, program: CompiledGraph, params: Sequence[Any], dims: Mapping[str, Size],
                 device: torch.device) -> None:
        super().__init__(program, params, dims, TorchDevice(device))

    def _on(self, stream: int | None) -> contextlib.AbstractContextManager[Any]:
        device = torch.device("cuda", self.device.index)
        if stream is None:
            return torch.cuda.device(device)
        return torch.cuda.stream(torch.cuda.ExternalStream(stream, device))

    def prepare(self, stream: int | None) -> None:
        with self._on(stream):
            self._launcher.params.prepare(self.params, again=True)

    def launch(self, inputs: Sequence[Any], outputs: Sequence[Any] | None,
               stream: int | None) -> Sequence[Any]:
        self.device.check("input", self.program.inputs, inputs)
        if outputs is not None:
            self.device.check("output", self.program.outputs, outputs)
        tensors = (*inputs, *self.params)
        if stream is None:
            results: Sequence[Any] = self._call(tensors, outputs)
            return results
        with self._on(stream):
            results = self._call(tensors, outputs)
            return results


def bound_launcher(program: CompiledGraph, params: Sequence[Any], dims: Mapping[str, Size],
                   device: torch.device) -> TorchBoundLauncher:
    """The launcher on a GPU. Another device is an InvalidArgumentError."""
    if device.type != "cuda":
        raise InvalidArgumentError(f"expected tensors on a CUDA device, got one on {device}; "
                                   f"{way_to_the_gpu(torch.cuda.is_available())}")
    return TorchBoundLauncher(program, params, dims, device)
