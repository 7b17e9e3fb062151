#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the errors of elementwise functions on one GPU: one Markdown row a function.

    measure_functions.py [--ingot build/bin/ingot] [--functions exp,gelu] [--types f32,bf16]

Every value of the input's type goes through a kernel, and its result is compared with f64. The unit
is the last place of the exact result in the output's type. Counted are results that are normal
numbers there; beside Ingot's worst error stands that of eager PyTorch in the same type. A NaN or an
infinity where the exact result has none, or the other way round, is named. Functions whose terms
cancel (gelu and mish far left of zero) have large errors in units of such small results: with
--above, results below it in magnitude are left out.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    sys.exit("measure_functions.py: needs PyTorch, and a GPU that it can use")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare_with_torch import DTYPES, Graph, TorchDriver  # noqa: E402

CHUNK = 1 << 24  # values of f32 in one launch
DIGITS = {"f32": 24, "f16": 11, "bf16": 8}  # of a significand
LEAST_EXPONENT = {"f32": -126, "f16": -14, "bf16": -126}  # of a normal number

functional = torch.nn.functional


def exact_softplus(x):
    return torch.where(x > 0, x + torch.log1p(torch.exp(-x)), torch.log1p(torch.exp(x)))


def exact_gelu(x):
    """By erfc, which does not cancel."""
    return torch.where(x == -math.inf, torch.nan, x * torch.special.erfc(-x * 0.5 ** 0.5) * 0.5)


def exact_mish(x):
    """x n / (n + 2) with n = e (e + 2) and e = exp(x): no difference of near numbers."""
    e = torch.exp(torch.clamp(x, max=40))
    return x * (e * (e + 2) / (e * (e + 2) + 2))


def exact_silu(x):
    return x / (1 + torch.exp(-x))


# name: (the function in f64, eager PyTorch's)
FUNCTIONS = {
    "exp": (torch.exp, torch.exp),
    "exp2": (torch.exp2, torch.exp2),
    "log": (torch.log, torch.log),
    "log2": (torch.log2, torch.log2),
    "log10": (torch.log10, torch.log10),
    "atan": (torch.atan, torch.atan),
    "sigmoid": (torch.sigmoid, torch.sigmoid),
    "tanh": (torch.tanh, torch.tanh),
    "softplus": (exact_softplus, functional.softplus),
    "silu": (exact_silu, functional.silu),
    "mish": (exact_mish, functional.mish),
    "gelu": (exact_gelu, functional.gelu),
    "erf": (torch.erf, torch.erf),
    "rsqrt": (lambda x: 1 / torch.sqrt(x), torch.rsqrt),
    "sin": (torch.sin, torch.sin),
    "cos": (torch.cos, torch.cos),
}


class Worst:
    """The largest error so far, its place, and elements that only one side has as not finite."""

    def __init__(self, dtype, above):
        self.dtype, self.above = dtype, above
        self.units, self.at, self.other = 0.0, math.nan, 0

    def add(self, x, result, exact):
        digits, least = DIGITS[self.dtype], LEAST_EXPONENT[self.dtype]
        _, exponent = torch.frexp(exact)  # exact = m 2^exponent, 1/2 <= |m| < 1
        largest = (2 - 2.0 ** (1 - digits)) * 2.0 ** (15 if self.dtype == "f16" else 127)
        fits = exact.isfinite() & (exact.abs() <= largest)
        counted = fits & (exact != 0) & (exponent - 1 >= least) & (exact.abs() >= self.above)
        self.other += (counted & ~result.isfinite()).sum().item()
        self.other += (exact.isnan() != result.isnan()).sum().item()
        self.other += (exact.isinf() & (result != exact)).sum().item()
        unit = torch.ldexp(torch.ones_like(exact), exponent - digits)
        error = torch.where(counted & result.isfinite(), (result - exact).abs() / unit, 0)
        place = error.argmax()
        if error[place].item() > self.units:
            self.units, self.at = error[place].item(), x[place].item()

    def text(self):
        other = f", {self.other} not finite alike" if self.other else ""
        return f"{self.units:.2f} at {self.at:.6g}{other}"


def compiled(ingot, function, dtype, count, folder):
    """The manifest of a graph of the function alone."""
    spec = pathlib.Path(folder) / f"{function}.{dtype}.ingot"
    spec.write_text(f"graph {function}_of(x: {dtype}[{count}]) {{\n  return {function}(x) }}\n")
    manifest = spec.with_suffix(".json")
    subprocess.run([ingot, "compile", str(spec), "-o", str(spec.with_suffix(".ptx"))], check=True,
                   stdout=subprocess.DEVNULL)
    return str(manifest)


def every_value(dtype):
    """All values of a type, in chunks."""
    if dtype != "f32":
        bits = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int16, device="cuda")
        yield bits.view(DTYPES[dtype])
        return
    for first in range(-(1 << 31), 1 << 31, CHUNK):
        bits = torch.arange(first, first + CHUNK, dtype=torch.int32, device="cuda")
        yield bits.view(torch.float32)


def measure(function, dtype, arguments, driver, folder):
    """(Ingot's, eager's) worst error."""
    exact_of, eager_of = FUNCTIONS[function]
    count = CHUNK if dtype == "f32" else 1 << 16
    graph = Graph(compiled(arguments.ingot, function, dtype, count, folder), driver)
    (x,), (output,) = graph.tensors.values(), graph.outputs.values()
    ours, theirs = (Worst(dtype, arguments.above) for _ in range(2))
    for values in every_value(dtype):
        x.copy_(values)
        graph.run()
        torch.cuda.synchronize()
        exact = exact_of(values.double())
        ours.add(values, output.double(), exact)
        theirs.add(values, eager_of(values).double(), exact)
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ingot", default="build/bin/ingot", help="the command line program")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="default: all of these")
    parser.add_argument("--types", default=",".join(DIGITS), help="default: all of these")
    parser.add_argument("--above", type=float, default=0.0, help="least result that counts")
    arguments = parser.parse_args()
    for name in arguments.functions.split(","):
        if name not in FUNCTIONS:
            parser.error(f"--functions: expected some of {', '.join(FUNCTIONS)}; got '{name}'")
    for name in arguments.types.split(","):
        if name not in DIGITS:
            parser.error(f"--types: expected some of {', '.join(DIGITS)}; got '{name}'")
    if not torch.cuda.is_available():
        sys.exit("measure_functions.py: no GPU that PyTorch can use")
    driver = TorchDriver()
    print("| function | type | Ingot, units | eager PyTorch |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.functions.split(","):
            for dtype in arguments.types.split(","):
                ours, theirs = measure(name, dtype, arguments, driver, folder)
                print(f"| {name} | {dtype} | {ours.text()} | {theirs.text()} |", flush=True)


if __name__ == "__main__":
    main()
