#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps through Ingot, eager PyTorch and inductor, on one GPU: measure_training.py.

A step is a forward call, a loss and a backward call. Each model runs in a process of its own. They
compile beside each other, and nothing compiles beside a measurement. Prints a table: milliseconds
of a step, peak memory of a step, and the errors of the gradients against the same model in f64: per
parameter in the Frobenius norm, over the norm of the exact gradient. The table has the median of
them, and the largest ratio to eager's. Exit status 1 if a model failed.
"""
import argparse
import fcntl
import json
import pathlib
import statistics
import sys
import time

import measure_models

MODELS = ("mlp", "gpt2", "bert", "vit", "llama")
PRECISIONS = ("f32", "tf32", "bf16", "autocast")
BACKENDS = ("eager", "inductor", "ingot")
WARM, TIMED = 3, 12


def model_of(name):
    """A model of `name` with random weights, and its inputs by name."""
    import torch
    if name != "mlp":
        module, inputs = measure_models.model_of(name)
        for part in module.modules():  # random numbers differ between the backends
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        return module, inputs
    layers = [part for _ in range(4) for part in (torch.nn.Linear(4096, 4096), torch.nn.GELU())]
    return (torch.nn.Sequential(*layers),
            {"input": torch.randn(4096, 4096, device="cuda")})


def result_of(output):
    return output if hasattr(output, "pow") else output[0]


def step(call, inputs, precision):
    """The gradients are left in the parameters. The loss has weights, because the sum of squares
    behind a norm has no gradient."""
    import torch
    with torch.autocast("cuda", torch.bfloat16, enabled=precision == "autocast"):
        output = result_of(call(**inputs))
    weights = torch.linspace(-1, 2, output.shape[-1], device="cuda", dtype=output.dtype)
    (output * weights).float().pow(2).mean().mul(1000).backward()


def gradients(module):
    return {name: parameter.grad.double() for name, parameter in module.named_parameters()
            if parameter.grad is not None}


def measured(name, precisions, lock):
    """Rows of one model: by precision and backend, [milliseconds, megabytes, errors]."""
    import torch
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
    import ingot.torch  # noqa: F401  (registers the backend)
    torch.manual_seed(0)
    module, inputs = model_of(name)
    module = module.cuda().eval()  # eval: dropout in attention draws no random numbers
    if hasattr(module, "config"):
        module.config.use_cache = False

    def converted(dtype):
        return {key: value.to(dtype) if value.is_floating_point() else value
                for key, value in inputs.items()}
    rows = {}
    with open(lock, "w") as file:
        for precision in sorted(precisions, key=PRECISIONS.index):
            torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
            dtype = torch.bfloat16 if precision == "bf16" else torch.float32
            module = module.to(dtype).double()  # rounds the weights
            fcntl.flock(file, fcntl.LOCK_EX)
            step(module, converted(torch.float64), "f64")
            exact = gradients(module)
            total = sum(value.norm() for value in exact.values())  # some are 0 but for rounding
            torch.cuda.synchronize()
            fcntl.flock(file, fcntl.LOCK_UN)
            module.zero_grad()
            module = module.to(dtype)
            own = converted(dtype)
            rows[precision] = {}
            for backend in BACKENDS:
                torch._dynamo.reset()
                called = module if backend == "eager" else torch.compile(module, backend=backend,
                                                                         dynamic=False)
                fcntl.flock(file, fcntl.LOCK_SH)
                step(called, own, precision)  # compiles
                torch.cuda.synchronize()
                fcntl.flock(file, fcntl.LOCK_UN)
                fcntl.flock(file, fcntl.LOCK_EX)
                errors = {key: ((value - exact[key]).norm() / exact[key].norm()).item()
                          for key, value in gradients(module).items()
                          if key in exact and exact[key].norm() > 1e-9 * total}
                times = []
                for turn in range(WARM + TIMED):
                    module.zero_grad()
                    if turn == WARM:
                        torch.cuda.reset_peak_memory_stats()
                    torch.cuda.synchronize()
                    started = time.monotonic()
                    step(called, own, precision)
                    torch.cuda.synchronize()
                    times.append((time.monotonic() - started) * 1e3)
                peak = torch.cuda.max_memory_allocated() / 1e6
                fcntl.flock(file, fcntl.LOCK_UN)
                module.zero_grad()
                rows[precision][backend] = [statistics.median(times[WARM:]), peak, errors]
    return rows


def row_text(name, precision, row):
    """A row of the table."""
    times, peaks, errors = ([row[backend][i] for backend in BACKENDS] for i in range(3))
    ratios = {key: errors[2][key] / errors[0][key] for key in errors[0].keys() & errors[2].keys()
              if errors[0][key] > 0}
    worst = max(ratios, key=ratios.__getitem__)
    cells = [name, precision, *(f"{ms:.2f}" for ms in times),
             f"{min(times[:2]) / times[2]:.2f}", ", ".join(f"{peak:.0f}" for peak in peaks),
             ", ".join(f"{statistics.median(of.values()):.1e}" for of in errors),
             f"{ratios[worst]:.2f} ({worst})"]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--precisions", nargs="*", choices=PRECISIONS, default=PRECISIONS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], options.precisions, options.one[1])))
        return 0
    failed = False
    print("| model | precision | eager ms | inductor ms | Ingot ms | over the better | peak MB | "
          "median errors | largest error over eager's |\n|---|---|---|---|---|---|---|---|---|",
          flush=True)
    for name, rows in measure_models.rows_of(__file__, options.models, options.precisions):
        failed |= rows is None
        for precision, row in (rows or {}).items():
            print(row_text(name, precision, row), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
