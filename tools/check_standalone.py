#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks standalone files for PyTorch (`ingot compile --emit=torch`) on one GPU.

    check_standalone.py MODEL.py ... [--dim NAME=SIZE] [--precision NAME]

The manifest must lie beside each file. For a graph whose model torch_models.py knows: its error
against f64 beside that of eager PyTorch. For every graph: equal bits from a second call, from
another stream and from a CUDA graph; a param written in place is seen by the next call, and by the
captured graph after it; wrong tensors are refused.
"""
import argparse
import importlib.util
import json
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit("check_standalone.py: needs PyTorch, and a GPU that it can use")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import launch_from_manifest as launcher  # noqa: E402
from compare_with_torch import (DTYPES, Error, bits, eager_tensors, fill,  # noqa: E402
                                outputs_of)
from torch_models import MODELS  # noqa: E402


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Case:
    """A module with inputs that fit it."""

    def __init__(self, path, sizes):
        self.file = load(path)
        self.manifest = json.loads(path.with_suffix(".json").read_text())
        extents = {name for tensor in self.manifest["params"] for extent in tensor["shape"]
                   if isinstance(extent, str) for name in launcher.names_of(extent)}
        self.model = self.file.ModelNew(*(sizes[dim["name"]] for dim in self.manifest["dims"]
                                          if dim["name"] in extents)).cuda()
        self.inputs = [torch.empty([launcher.evaluate(extent, sizes) for extent in tensor["shape"]],
                                   dtype=DTYPES[tensor["dtype"]], device="cuda")
                       for tensor in self.manifest["inputs"]]
        self.draw()

    def draw(self):
        with torch.no_grad():
            for tensor, value in zip(self.manifest["inputs"], self.inputs):
                fill(tensor["name"], value)
            for name, value in self.model.named_parameters():
                fill(name, value)

    def run(self):
        outputs = self.model(*self.inputs)
        return list(outputs) if isinstance(outputs, tuple) else [outputs]

    def tensors(self):
        given = dict(zip((tensor["name"] for tensor in self.manifest["inputs"]), self.inputs))
        names = [tensor["name"] for tensor in self.manifest["params"]]
        values = {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}
        return {**given, **{name: values.get(name, values.get(name + "_")).detach()
                            for name in names}}


def equal(a, b):
    return all(torch.equal(bits(x), bits(y)) for x, y in zip(a, b))


def check_errors(case, precision):
    """Whether rms errors against f64 are at most 1.1 times eager's."""
    model = MODELS.get(case.manifest["name"])
    if model is None:
        print("  errors: no model to compare with")
        return True
    good = True
    errors = None
    for _ in range(16):
        case.draw()
        ours, tensors = case.run(), case.tensors()
        references = outputs_of(model, {name: a.double() for name, a in tensors.items()})
        eager = outputs_of(model, eager_tensors(tensors, precision))
        errors = errors or [(Error(), Error()) for _ in ours]
        for at, (mine, theirs) in enumerate(errors):
            mine.add(ours[at], references[at])
            theirs.add(eager[at], references[at])
    for mine, theirs in errors:
        within = mine.figures()[0] <= 1.1 * theirs.figures()[0]
        print(f"  errors: rms {mine.figures()[0]:.3g}, eager's {theirs.figures()[0]:.3g}: "
              f"{'pass' if within else 'FAIL'}")
        good = good and within
    return good


def check_streams(case):
    first = case.run()
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        elsewhere = case.run()
    side.synchronize()
    return equal(first, case.run()) and equal(first, elsewhere)


def check_capture(case):
    """A captured call has the results of an eager one, also after inputs and a param changed."""
    case.run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = case.run()
    for changed in (False, True):
        if changed:
            case.draw()
            before = [value.clone() for value in captured]
        eager = case.run()
        graph.replay()
        torch.cuda.synchronize()
        if not equal(eager, captured) or (changed and equal(before, captured)):
            return False
    return True


def check_unprepared_capture(case):
    """A graph that was captured before anything was prepared prepares by itself."""
    case.model.chain.reset()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = case.run()
    graph.replay()
    torch.cuda.synchronize()
    return equal(captured, case.run())


def check_refusals(case):
    if not case.inputs:
        return True
    first, *others = case.inputs
    wrong = [first.cpu(), first.to(torch.float64), first[None]]
    if first.dim() >= 2 and min(first.shape) > 1:
        wrong.append(first.transpose(0, -1).contiguous().transpose(0, -1))
    for tensor in wrong:
        try:
            case.model(tensor, *others)
            return False
        except RuntimeError as error:
            print(f"  refused: {str(error).splitlines()[0]}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    parser.add_argument("--precision", default="highest", help="the precision of the files")
    arguments = parser.parse_args()
    sizes = {name: int(size) for name, size in (pair.split("=") for pair in arguments.dim)}
    good = True
    for path in arguments.files:
        case = Case(path, sizes)
        print(f"{path}: {case.manifest['name']}")
        good = check_errors(case, arguments.precision) and good
        for what in (check_streams, check_capture, check_unprepared_capture, check_refusals):
            held = what(case)
            print(f"  {what.__name__}: {'pass' if held else 'FAIL'}", flush=True)
            good = good and held
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
