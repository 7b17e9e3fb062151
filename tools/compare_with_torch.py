#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled graphs with PyTorch on one GPU, from their manifests alone.

    compare_with_torch.py OUT.json ... [--time]

For a graph whose model torch_models.py knows: the error of Ingot and of eager PyTorch in the same
precision, both against f64 on the same inputs, and with --time the time of both, L2 flushed between
calls. For every other graph: that two launches on poisoned memory give the same bits. The precision
is told by the file name: NAME.PRECISION.json.
"""
import argparse
import ctypes
import pathlib
import statistics
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import launch_from_manifest as launcher  # noqa: E402
from torch_models import MODELS  # noqa: E402

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32,
          "i64": torch.int64, "bool": torch.bool}


class TorchDriver(launcher.Driver):
    """The driver on PyTorch's context and stream."""

    def __init__(self):
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self.library = ctypes.CDLL("libcuda.so.1")
        self.device = ctypes.c_int(0)
        self.call("cuCtxGetDevice", ctypes.byref(self.device))


def random_tensor(info, shape):
    """Weights as a linear layer draws them, everything else normal."""
    dtype = DTYPES[info["dtype"]]
    if not dtype.is_floating_point:
        return torch.zeros(shape, dtype=dtype, device="cuda")
    if len(shape) >= 2 and info["name"].startswith("w"):
        bound = shape[-1] ** -0.5
        return torch.empty(shape, device="cuda").uniform_(-bound, bound).to(dtype)
    return torch.randn(shape, device="cuda").to(dtype)


def bits(tensor):
    """A tensor's bytes: equal ones also where it is NaN."""
    return tensor.reshape(-1).view(torch.uint8)


class Graph:
    """One manifest, its tensors, and how to run it."""

    def __init__(self, path, driver):
        self.plan = launcher.Plan(path, driver)
        manifest = self.plan.manifest
        given = manifest["inputs"] + manifest["params"]
        for dim in manifest["dims"]:
            self.plan.names.setdefault(dim["name"], 1000)
        self.tensors = {}
        for info in given:
            shape = [launcher.evaluate(extent, self.plan.names) for extent in info["shape"]]
            self.tensors[info["name"]] = random_tensor(info, shape)
        self.outputs = {}
        for info in manifest["outputs"]:
            shape = [launcher.evaluate(extent, self.plan.names) for extent in info["shape"]]
            self.outputs[info["name"]] = torch.empty(shape, dtype=DTYPES[info["dtype"]],
                                                     device="cuda")
        self.memory = {}
        for name, memory in manifest["memory"].items():
            size = launcher.evaluate(memory["bytes"], self.plan.names)
            self.memory[name] = torch.full((max(size, 1),), 0 if name == "state" else 0xFF,
                                           dtype=torch.uint8, device="cuda")
        for group in (self.tensors, self.outputs, self.memory):
            for name, tensor in group.items():
                self.plan.pointers[name] = tensor.data_ptr()
        self.plan.run("prepare")

    def poison(self):
        for tensor in self.outputs.values():
            bits(tensor).fill_(0xFF)
        self.memory["workspace"].fill_(0xFF)

    def run(self):
        self.plan.run("launch")


def relative_error(result, reference):
    """(Frobenius, worst over the largest value), relative; of a zero reference absolute."""
    difference = result.double() - reference
    norm, largest = reference.norm().item() or 1.0, reference.abs().max().item() or 1.0
    return difference.norm().item() / norm, difference.abs().max().item() / largest


def errors(results, references):
    """The error of each output."""
    return [relative_error(result.reshape(reference.shape), reference)
            for result, reference in zip(results, references)]


def outputs_of(model, arguments):
    """What a model returns, as a tuple."""
    with torch.no_grad():
        found = model(**arguments)
    return found if isinstance(found, tuple) else (found,)


def median_ms(call, repeats=20):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(repeats + 3):
        flush.zero_()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


def compare(path, driver, timed):
    """Prints one line; True when Ingot's error is at most 1.1 times eager's."""
    graph = Graph(path, driver)
    name = graph.plan.manifest["name"]
    precision = pathlib.Path(path).name.split(".")[-2]
    graph.poison()
    graph.run()
    torch.cuda.synchronize()
    first = {key: value.clone() for key, value in graph.outputs.items()}
    graph.poison()
    graph.run()
    torch.cuda.synchronize()
    same = all(torch.equal(bits(first[key]), bits(value))
               for key, value in graph.outputs.items())
    line = f"{name} {precision}: two runs {'agree' if same else 'DIFFER'}"
    good = same
    del first
    if name in MODELS:
        model = MODELS[name]
        torch.backends.cuda.matmul.allow_tf32 = precision == "high"
        half = precision == "medium"
        cast = {name: a.bfloat16() if half and a.dtype == torch.float32 else a
                for name, a in graph.tensors.items()}
        references = outputs_of(model, {name: a.double() for name, a in graph.tensors.items()})
        ours = errors(graph.outputs.values(), references)
        theirs = errors(outputs_of(model, cast), references)
        del references
        for output, mine, eager in zip(graph.outputs, ours, theirs):
            within = all(a <= 1.1 * b for a, b in zip(mine, eager))
            good = good and within
            line += (f"; {output} error rms {mine[0]:.3g} worst {mine[1]:.3g}, "
                     f"eager {eager[0]:.3g} {eager[1]:.3g}: {'pass' if within else 'FAIL'}")
        if timed:
            ours_ms = median_ms(graph.run)
            eager_ms = median_ms(lambda: outputs_of(model, cast))
            line += f"; ms {ours_ms:.3f}, eager {eager_ms:.3f}"
    print(line, flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("manifests", nargs="+")
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    driver = TorchDriver()
    results = []
    for path in arguments.manifests:
        results.append(compare(path, driver, arguments.time))
        torch.cuda.empty_cache()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
