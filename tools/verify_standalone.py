#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of files of ingot.torch.export on a GPU: verify_standalone.py [CHAIN ...].

Chains of tests/python/chains.py, by default 94, 37, 22 and 99, in f32 and bf16. Each is exported,
imported by a Python that finds no package ingot, made from the same seed as the original module,
and compared with it: parameters, results, another stream, a CUDA graph, a parameter that is written
to. Then file, backend and eager take turns.

Prints Markdown; exit status 1 when anything failed. Needs PyTorch with a GPU, nvcc, ninja and the
package ingot.
"""
import argparse
import concurrent.futures
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS.parent / "tests" / "python"))

import torch  # noqa: E402
from chains import CHAINS  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
DEFAULT = ("94_gemm", "37", "22", "99")


def load(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make(constructor, chain, dtype):
    torch.manual_seed(42)
    return constructor(*chain.arguments).cuda().to(dtype)


def inputs_of(chain, dtype):
    torch.manual_seed(7)
    return [torch.randn(shape, device="cuda", dtype=dtype) for shape in chain.shapes]


def check(path, name, dtype_name):
    """In a process of its own, without Ingot: the failures, and the errors against f64."""
    try:
        import ingot.torch
        sys.exit(f"this Python imports {ingot.torch}; expected one that cannot")
    except ModuleNotFoundError:
        pass
    chain, dtype = CHAINS[name], DTYPES[dtype_name]
    new, old = make(load(path).ModelNew, chain, dtype), make(chain.module, chain, dtype)
    failed = []
    state, wanted = new.state_dict(), old.state_dict()
    if list(state) != list(wanted) or not all(map(torch.equal, state.values(), wanted.values())):
        failed.append("parameters")
    inputs = inputs_of(chain, dtype)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-2
    with torch.no_grad():
        exact = old.double()(*(x.double() for x in inputs))
        eager = make(chain.module, chain, dtype)
        reference, result = eager(*inputs), new(*inputs)

        def error(value):
            return ((value.double() - exact).norm() / exact.norm()).item()
        errors = error(result), error(reference)
        if errors[0] > 1.1 * errors[1]:
            failed.append("error")
        # As strict as eager is with itself: of bf16 results some are one step apart.
        if torch.allclose(exact, reference.double(), atol=tolerance / 2, rtol=tolerance / 2) and (
                not torch.allclose(reference, result, atol=tolerance, rtol=tolerance)):
            failed.append("allclose")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            other = new(*inputs)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = new(*inputs)
        graph.replay()
        if not torch.equal(other, result) or not torch.equal(captured, result):
            failed.append("another stream or a graph")
        for module in (new, eager):
            next(module.parameters()).mul_(1.5)
        changed, wanted = new(*inputs), eager(*inputs)
        apart = (changed - wanted).norm() > 10 * tolerance * wanted.norm()
        if torch.equal(changed, result) or apart:
            failed.append("a parameter that was written to")
    verdict = "FAIL: " + ", ".join(failed) if failed else "pass"
    print(f"{errors[0]:.3g} | {errors[1]:.3g} | {verdict}")


def milliseconds(calls, rounds=30):
    """Medians of calls that take turns, behind a flush of the L2 cache."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, into in zip(calls, times):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            call()
            end.record()
            end.synchronize()
            into.append(start.elapsed_time(end))
    return [sorted(into)[rounds // 2] for into in times]


def compare(path, name, dtype_name):
    """Milliseconds of the file, the backend and eager."""
    chain, dtype = CHAINS[name], DTYPES[dtype_name]
    torch._dynamo.reset()
    inputs = inputs_of(chain, dtype)
    calls = [make(load(path).ModelNew, chain, dtype),
             torch.compile(make(chain.module, chain, dtype), backend="ingot"),
             make(chain.module, chain, dtype)]
    with torch.no_grad():
        for call in calls:
            call(*inputs)
        return milliseconds([lambda call=call: call(*inputs) for call in calls])


def measured(folder, name, dtype_name):
    """A row of the table."""
    import ingot.torch
    chain, dtype = CHAINS[name], DTYPES[dtype_name]
    path = f"{folder}/{dtype_name}_{name}.py"
    ingot.torch.export(make(chain.module, chain, dtype), inputs_of(chain, dtype), path)
    torch.cuda.empty_cache()
    return path


def isolated(path, name, dtype_name):
    """The check in a Python that does not find the package."""
    hidden = ("import sys, importlib.abc\n"
              "class Hidden(importlib.abc.MetaPathFinder):\n"
              "    def find_spec(self, name, path=None, target=None):\n"
              "        if name.split('.')[0] == 'ingot': raise ModuleNotFoundError(name)\n"
              f"sys.meta_path.insert(0, Hidden())\nsys.path.insert(0, {str(TOOLS)!r})\n"
              "import verify_standalone\n"
              f"verify_standalone.check({path!r}, {name!r}, {dtype_name!r})\n")
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else f"FAIL: {done.stderr[-500:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("chains", nargs="*", default=DEFAULT, help="how their names begin")
    arguments = parser.parse_args()
    cases = [(name, dtype) for name in CHAINS for dtype in DTYPES
             if any(name.startswith(start) for start in arguments.chains)]
    print("| chain | type | error of the file | of eager | | file ms | backend ms | eager ms | |\n"
          "|---|---|---|---|---|---|---|---|---|")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        paths = [measured(folder, *case) for case in cases]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # nvcc takes most of the time
            list(pool.map(lambda path: subprocess.run(
                [sys.executable, "-c", f"import runpy; runpy.run_path({path!r})['Chain']()"],
                check=False, capture_output=True), paths))
        for path, case in zip(paths, cases):
            verdict = isolated(path, *case)
            times = compare(path, *case)
            is_fast = times[0] <= 1.05 * times[1]
            failed |= "FAIL" in verdict or not is_fast
            print(f"| {case[0]} | {case[1]} | {verdict} | {times[0]:.4f} | {times[1]:.4f} | "
                  f"{times[2]:.4f} | {'pass' if is_fast else 'FAIL: slower'} |", flush=True)
            torch.cuda.empty_cache()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
