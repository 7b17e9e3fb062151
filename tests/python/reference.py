# SPDX-License-Identifier: Apache-2.0
"""Runs a model that the backend compiled on the CPU, with the reference interpreter."""
import torch

import ingot
from ingot.torch import compiled, dynamo
from ingot.torch_device import TORCH_DTYPES


def evaluate(graph, inputs, params):
    """The outputs of a graph, in f64."""
    assert all(tensor.is_contiguous() for tensor in (*inputs, *params))
    results = ingot.reference(graph, *inputs, *params)
    results = results if isinstance(results, tuple) else (results,)
    # A graph without inputs gives arrays, in which bf16 is its bits.
    return [torch.as_tensor(result).view(TORCH_DTYPES[spec.dtype]) if spec.dtype == "bf16"
            else torch.as_tensor(result) for spec, result in zip(graph.outputs, results)]


def as_laid_out(result, layout):
    """The same elements where the launcher would have put them."""
    made = torch.empty_strided(*layout.place(result.shape), dtype=result.dtype)
    made.permute(layout.order).copy_(result)
    return made


class ReferenceLauncher:
    """In place of the launcher, which needs a GPU."""

    def __init__(self, program, device, fixed=False, dims=None, places=None, layouts=None,
                 unguarded=(), adapt=None):
        self.program, self.graph, self.layouts = program, None, layouts
        self.unguarded, self.adapt = set(unguarded), adapt
        num = len(program.inputs) + len(program.params)
        self.places = list(range(num) if places is None else places)

    def make_call(self):
        return self.call

    def call(self, arguments, out=None):
        tensors = [self.adapt(i, arguments[place]) if i in self.unguarded else arguments[place]
                   for i, place in enumerate(self.places)]
        if tensors and tensors[0].device.type == "meta":
            return [torch.empty_strided(*layout.place(spec.shape), device="meta",
                                        dtype=TORCH_DTYPES[spec.dtype])
                    for spec, layout in zip(self.program.outputs, self.layouts)]
        split = len(self.program.inputs)
        results = evaluate(self.graph, tensors[:split], tensors[split:])
        return [as_laid_out(*pair) for pair in zip(results, self.layouts)]


class ReferencePiece(compiled.CompiledPiece):
    """A piece that tells the reference its graph."""

    def _switch(self):
        call = super()._switch()
        call.__self__.graph = self.lowered.graph
        return call


def install(monkeypatch):
    """Makes pieces run on the reference."""
    monkeypatch.setattr(compiled, "Launcher", ReferenceLauncher)
    monkeypatch.setattr(dynamo, "CompiledPiece", ReferencePiece)


def install_for_process():
    """The same until the process ends."""
    compiled.Launcher, dynamo.CompiledPiece = ReferenceLauncher, ReferencePiece


def through(module, *inputs, dynamic=None, calls=1, options=None):
    """(results, reports) of a module without gradients, through the backend."""
    call, reports = compiled_by_backend(module, dynamic, options)
    with torch.no_grad():
        for _ in range(calls):
            results = call(*inputs)
    return results, reports


def compiled_by_backend(module, dynamic=None, options=None):
    """A module that the backend compiles when it is called, and its reports."""
    reports = []

    def backend(graph, example_inputs):
        reports.append(dynamo.Report())
        return dynamo.compile_graph(graph, example_inputs, reports[-1], options,
                                    devices=("cpu", "meta"))
    torch._dynamo.reset()
    return torch.compile(module, backend=backend, dynamic=dynamic), reports


def pieces(reports):
    return [piece for report in reports for piece in report.pieces]
