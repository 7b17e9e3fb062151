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

try:
    import torch
except ImportError:
    sys.exit("compare_with_torch.py: needs PyTorch, and a GPU that it can use")

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


def fill(name, tensor):
    """Random values: weights as a linear layer draws them, everything else normal."""
    if not tensor.dtype.is_floating_point:
        tensor.zero_()
    elif tensor.dim() >= 2 and name.startswith("w"):
        bound = tensor.shape[-1] ** -0.5
        tensor.uniform_(-bound, bound)
    else:
        tensor.normal_()


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
        self.tensors = self.allocate(given)
        self.outputs = self.allocate(manifest["outputs"])
        self.memory = {}
        for name, memory in manifest["memory"].items():
            size = launcher.evaluate(memory["bytes"], self.plan.names)
            self.memory[name] = torch.full((max(size, 1),), 0 if name == "state" else 0xFF,
                                           dtype=torch.uint8, device="cuda")
        for group in (self.tensors, self.outputs, self.memory):
            for name, tensor in group.items():
                self.plan.pointers[name] = tensor.data_ptr()

    def allocate(self, tensors):
        """Memory for tensors of a manifest, by name."""
        return {info["name"]: torch.empty([launcher.evaluate(extent, self.plan.names)
                                           for extent in info["shape"]],
                                          dtype=DTYPES[info["dtype"]], device="cuda")
                for info in tensors}

    def draw(self):
        """New inputs and params, and the prepared memory that depends on them."""
        for name, tensor in self.tensors.items():
            fill(name, tensor)
        self.plan.run("prepare")

    def run_on_poison(self):
        """A launch whose outputs and workspace hold NaN before it."""
        for tensor in self.outputs.values():
            bits(tensor).fill_(0xFF)
        self.memory["workspace"].fill_(0xFF)
        self.run()
        torch.cuda.synchronize()

    def run(self):
        self.plan.run("launch")

    def repeats(self):
        """True when two launches give the same bits."""
        self.run_on_poison()
        first = {key: value.clone() for key, value in self.outputs.items()}
        self.run_on_poison()
        return all(torch.equal(bits(first[key]), bits(value))
                   for key, value in self.outputs.items())


class Error:
    """Of one output, over several draws: Frobenius, and the draws' mean of worst over largest
    value; relative, of a zero reference absolute."""

    def __init__(self):
        self.squares = self.total = 0.0
        self.worst = []

    def add(self, result, reference):
        difference = result.reshape(reference.shape).double() - reference
        self.squares += difference.norm().item() ** 2
        self.total += reference.norm().item() ** 2
        largest = reference.abs().max().item() or 1.0
        self.worst.append(difference.abs().max().item() / largest)

    def figures(self):
        return (self.squares / (self.total or 1.0)) ** 0.5, statistics.mean(self.worst)


def outputs_of(model, arguments):
    """The results of a model, as a tuple."""
    with torch.no_grad():
        found = model(**arguments)
    return found if isinstance(found, tuple) else (found,)


def median_ms(calls, rounds=20):
    """The median of each call's time on the GPU, by name; they take turns, each behind flushes of
    the L2 cache: so many that the host has launched all of the call before the GPU begins it."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = {name: [] for name in calls}
    for _ in range(rounds + 3):
        for name, call in calls.items():
            for _ in range(6):  # a tenth of a millisecond each
                flush.zero_()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end))
    return {name: statistics.median(values[3:]) for name, values in times.items()}


def eager_tensors(tensors, precision):
    """PyTorch's tensors at a precision. Also sets how it multiplies f32 from now on."""
    torch.backends.cuda.matmul.allow_tf32 = precision == "high"
    halved = precision == "medium"
    return {name: a.bfloat16() if halved and a.dtype == torch.float32 else a
            for name, a in tensors.items()}


def measure_errors(graph, model, cast):
    """(Ingot's, eager's) error of each output. The worst value of one draw is chance, the more so
    of few values, and the worst of several draws as well: their mean is not. A single value's error
    varies by three quarters of itself, the worst of many by a third (means of 8 draws of a softmax
    by 12%): 256 draws of one, 48 of the other tell 1.1 from 0.95 (the means are off by 5%)."""
    draws = max(48, min(256, (1 << 20) // sum(value.numel() for value in graph.outputs.values())))
    ours, theirs = ([Error() for _ in graph.outputs] for _ in range(2))
    for _ in range(draws):
        graph.draw()
        graph.run_on_poison()
        references = outputs_of(model, {key: a.double() for key, a in graph.tensors.items()})
        eager = outputs_of(model, cast())
        for output, result in enumerate(graph.outputs.values()):
            ours[output].add(result, references[output])
            theirs[output].add(eager[output], references[output])
    return ours, theirs


def compare(path, driver, timed):
    """Prints one line; True when Ingot's error is at most 1.1 times eager's."""
    graph = Graph(path, driver)
    name = graph.plan.manifest["name"]
    precision = pathlib.Path(path).name.split(".")[-2]
    graph.draw()
    good = graph.repeats()
    line = f"{name} {precision}: two runs {'agree' if good else 'DIFFER'}"
    if name in MODELS:
        def cast():
            return eager_tensors(graph.tensors, precision)

        for output, ours, theirs in zip(graph.outputs, *measure_errors(graph, MODELS[name], cast)):
            mine, eager = ours.figures(), theirs.figures()
            within = all(a <= 1.1 * b for a, b in zip(mine, eager))
            good = good and within
            line += (f"; {output} error rms {mine[0]:.3g} worst {mine[1]:.3g}, "
                     f"eager {eager[0]:.3g} {eager[1]:.3g}: {'pass' if within else 'FAIL'}")
        if timed:
            arguments = cast()
            times = median_ms({"ingot": graph.run,
                               "eager": lambda: outputs_of(MODELS[name], arguments)})
            line += f"; ms {times['ingot']:.3f}, eager {times['eager']:.3f}"
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
