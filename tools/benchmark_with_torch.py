#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times compiled graphs beside PyTorch: one Markdown row a graph.

    benchmark_with_torch.py OUT.json ... [--modes eager,default,max-autotune] [--rounds 20]

Each graph is one that torch_models.py knows, compiled ahead. The file name tells the precision,
NAME.PRECISION.json: highest and pedantic run beside f32, high beside TF32, medium and bf16 (a
graph of bf16 tensors) beside bf16 tensors. Contenders take turns in one process, each call behind
a flush of the L2 cache: Ingot, eager, torch.compile in each mode, and cuBLAS's product of the
graph's x and w alone. Times are medians in milliseconds; in brackets a contender's over Ingot's.
Graphs whose product a rewrite removes come in a table of their own.
"""
import argparse
import json
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit("benchmark_with_torch.py: needs PyTorch, and a GPU that it can use")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare_with_torch import (Graph, TorchDriver, eager_tensors,  # noqa: E402
                                median_ms, outputs_of)
from torch_models import MODELS, REWRITTEN  # noqa: E402


MODES = ("eager", "default", "max-autotune")


def product_of(tensors):
    """The product of a graph's x and w by itself, where it has them."""
    x, w = tensors.get("x"), tensors.get("w")
    if x is None or w is None or x.dim() != 2 or w.dim() != 2 or x.shape[1] != w.shape[1]:
        return None
    return lambda: torch.nn.functional.linear(x, w)


def contenders_of(graph, model, precision, modes):
    """What takes turns, by name."""
    tensors = eager_tensors(graph.tensors, precision)
    calls = {"ingot": graph.run}
    for mode in modes:
        call = model
        if mode != "eager":
            torch._dynamo.reset()
            call = torch.compile(model, mode=mode, dynamic=False)
        calls[mode] = lambda call=call: outputs_of(call, tensors)
    product = product_of(tensors)
    if product:
        calls["cuBLAS product"] = product
    return calls


def print_table(title, rows, modes, rounds, driver):
    """One Markdown table of (name, manifest path) rows, each printed as it is measured."""
    columns = [*modes, "cuBLAS product"]
    print(f"\n{title}\n\n| graph | precision | Ingot ms | " + " | ".join(columns) + " |")
    print("|---|---|---|" + "---|" * len(columns), flush=True)
    for name, path in rows:
        graph = Graph(path, driver)
        precision = pathlib.Path(path).name.split(".")[-2]
        graph.draw()
        times = median_ms(contenders_of(graph, MODELS[name], precision, modes), rounds)
        cells = [f"{times[c]:.3f} ({times[c] / times['ingot']:.2f})" if c in times else "-"
                 for c in columns]
        print(f"| {name} | {precision} | {times['ingot']:.3f} | " + " | ".join(cells) + " |",
              flush=True)
        del graph
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("manifests", nargs="+")
    parser.add_argument("--modes", default="eager,default", help=f"of {', '.join(MODES)}")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    modes = arguments.modes.split(",")
    for mode in modes:
        if mode not in MODES:
            parser.error(f"--modes: '{mode}', expected of {', '.join(MODES)}")
    for path in arguments.manifests:
        if not pathlib.Path(path).is_file():
            parser.error(f"{path}: no such file; expected what ingot compile -o writes, as .json")
    driver = TorchDriver()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    named = [(json.loads(pathlib.Path(path).read_text())["name"], path)
             for path in arguments.manifests]
    for name, path in named:
        if name not in MODELS:
            print(f"{path}: torch_models.py has no graph {name}", file=sys.stderr)
    for title, is_apart in (("Chains", False), ("Chains whose product a rewrite removes", True)):
        rows = [(name, path) for name, path in named
                if name in MODELS and (name in REWRITTEN) == is_apart]
        if rows:
            print_table(title, rows, modes, arguments.rounds, driver)


if __name__ == "__main__":
    main()
