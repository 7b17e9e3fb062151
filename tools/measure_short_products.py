#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products over few elements beside cuBLAS in TF32: measure_short_products.py.

A row for each K from 1 to 16 and a few beyond, of one product and of a batch: the error against f64
over the largest value, and the median time behind a flush of the L2 cache, of Ingot in `high` and
of PyTorch with TF32 allowed. Needs PyTorch and a GPU.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import torch  # noqa: E402

import ingot  # noqa: E402
from compare_with_torch import median_ms  # noqa: E402

SHAPES = {"one product": ((4096,), (4096,)), "batch of 64": ((64, 512), (64, 512))}


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    print("| product | K | Ingot error | cuBLAS error | Ingot ms | cuBLAS ms |\n"
          "|---|---|---|---|---|---|")
    for name, (left, right) in SHAPES.items():
        for k in (*range(1, 17), 24, 32, 64):
            a, b = (torch.randn(*extents, k, device="cuda") for extents in (left, right))
            shape = [", ".join(map(str, (*extents, k))) for extents in (left, right)]
            program = ingot.compile(
                f"graph short(a: f32[{shape[0]}], b: f32[{shape[1]}]) {{\n"
                "  return matmul(a, b, transpose_b=true)\n}", matmul_precision="high")
            bound = program.bind()
            out = bound(a, b)
            exact = a.double() @ b.double().mT
            errors = [((found.double() - exact).abs().max() / exact.abs().max()).item()
                      for found in (out, a @ b.mT)]
            times = median_ms({"ingot": lambda bound=bound, a=a, b=b: bound(a, b),
                               "cublas": lambda a=a, b=b: a @ b.mT})
            print(f"| {name} | {k} | {errors[0]:.1e} | {errors[1]:.1e} | {times['ingot']:.3f} | "
                  f"{times['cublas']:.3f} |", flush=True)


if __name__ == "__main__":
    main()
