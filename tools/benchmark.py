#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures every figure of docs/benchmarks.md on the GPU that is present, into one JSON file.

    benchmark.py --state COMMIT --json OUT.json [PART ...]

beside-torch  each chain of tests/chains in bf16, TF32 and f32, beside eager PyTorch, torch.compile
              in its default mode and cuBLAS's product of the chain's x and w alone. Contenders take
              turns in one process, each call behind a flush of the L2 cache
feed-forward  the same of a SwiGLU block in bf16, whose spec is in this file
families      each chain by the sources of sm_80 and by those of the card's best family, in turns;
              nothing where sm_80 is the best
chains        `ingot bench` of products with a tail: shares of the GPU's rate of products, the
              tail's time, the host's time of a launch
rows          `ingot bench` of rows without a product: shares of the rate of the driver's copy
classes       the problems of shape_classes.py through torch.compile(backend="ingot"), beside eager
              PyTorch and torch.compile, and as ratios to each class's bounds
compile       seconds of `ingot compile` as a process without a cache, on two cores

Times are medians. Rows that OUT.json has of the same state, GPU and software are kept, so that a
run that was cut off goes on; others are dropped, so that one file never mixes two states.
tools/benchmark_tables.py makes tables and plots of it.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

#: Precision of the tables: how the spec's f32 tensors are typed, --matmul-precision, and the
#: precision as compare_with_torch.py names it.
PRECISIONS = {"bf16": ("bf16", "highest", "medium"), "TF32": ("f32", "high", "high"),
              "f32": ("f32", "highest", "highest")}

#: Chains of the part `chains`, by the number that begins their file's name.
TAILS = ("12", "22", "37", "94", "99")

#: Expression and shape.
ROWS = {
    "layer norm": ("layer_norm(x)", (16384, 8192)),
    "group norm, 256 groups": ("group_norm(x, groups=256)", (16384, 8192)),
    "softmax": ("softmax(x)", (16384, 8192)),
    "softmax, 4096 rows of 393216": ("softmax(x)", (4096, 393216)),
    "softmax, 128 rows of 262144": ("softmax(x)", (128, 262144)),
    "logsumexp over rows": ("logsumexp(x, axis=1)", (16384, 8192)),
    "mish(gelu(1.5 x + 0.25))": ("mish(gelu(x * 1.5 + 0.25))", (16384, 8192)),
    "sum over rows": ("sum(x, axis=1)", (16384, 8192)),
    "sum over columns": ("sum(x, axis=0)", (16384, 8192)),
    "cumsum over rows": ("cumsum(x, axis=1)", (16384, 8192)),
}

FEED_FORWARD = """graph feed_forward(x: bf16[4096, 4096], param gate: bf16[11008, 4096],
                   param up: bf16[11008, 4096], param down: bf16[4096, 11008]) {
  return linear(swish(linear(x, gate)) * linear(x, up), down)
}
"""


def spec_of(path, dtype):
    return path.read_text().replace("f32[", f"{dtype}[")


def chain_files():
    """The development chains, in the order of their numbers."""
    return sorted((ROOT / "tests" / "chains").glob("*.ingot"),
                  key=lambda path: (int(path.stem.split("_")[0]), path.stem))


class Ingot:
    """The command line."""

    def __init__(self, folder):
        self.program, self.cores = folder / "ingot", None

    def __call__(self, *arguments, spec, environment=None):
        done = subprocess.run([*(self.cores or ()), self.program, *arguments], input=spec,
                              text=True, capture_output=True, check=False,
                              env={**os.environ, **(environment or {})})
        if done.returncode:
            sys.exit(f"ingot {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout


def compiled(ingot, folder, found, families):
    """(chain, precision, manifests by family) of each row that is not found yet. TF32 says nothing
    where nothing is multiplied."""
    rows = [(path, precision) for path in chain_files() for precision in PRECISIONS
            if not any((row["chain"], row["precision"]) == (path.stem, precision) for row in found)
            and (precision != "TF32" or any(word in path.read_text()
                                            for word in ("linear", "matmul")))]

    def compile_one(row):
        path, precision = row
        dtype, option, name = PRECISIONS[precision]
        manifests = {family: manifest_of(ingot, spec_of(path, dtype), family, option,
                                         folder / f"{path.stem}.{family}.{name}.ptx")
                     for family in families}
        return path.stem, precision, manifests
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, rows))


def manifest_of(ingot, spec, family, option, out):
    """Compiles to PTX for the GPU that is present."""
    ingot("compile", "-", "--device=native", f"--target={family}", f"--matmul-precision={option}",
          "-o", out, spec=spec)
    return out.with_suffix(".json")


def product_of(tensors):
    """The product of a graph's x and w by itself, where it has them."""
    import torch
    x, w = tensors.get("x"), tensors.get("w")
    if x is None or w is None or x.dim() != 2 or w.dim() != 2 or x.shape[1] != w.shape[1]:
        return None
    return lambda: torch.nn.functional.linear(x, w)


def contenders_of(graph, model, precision):
    """The contenders, by name."""
    import torch
    from compare_with_torch import eager_tensors, outputs_of
    tensors = eager_tensors(graph.tensors, precision)
    torch._dynamo.reset()
    compiled_model = torch.compile(model, dynamic=False)
    calls = {"ingot": graph.run, "eager": lambda: outputs_of(model, tensors),
             "compile": lambda: outputs_of(compiled_model, tensors)}
    product = product_of(tensors)
    if product:
        calls["product"] = product
    return calls


def beside_torch(ingot, options, found):
    import torch
    from compare_with_torch import TorchDriver
    from torch_models import REWRITTEN
    driver, family = TorchDriver(), best_family()
    with tempfile.TemporaryDirectory() as folder:
        for chain, precision, manifests in compiled(ingot, pathlib.Path(folder), found, [family]):
            manifest = manifests[family]
            found.append({"chain": chain, "precision": precision,
                          "loses_product": json.loads(manifest.read_text())["name"] in REWRITTEN,
                          "ms": times_beside_torch(manifest, driver, precision, options)})
            yield
            torch.cuda.empty_cache()


def rounded(times):
    return {name: round(ms, 4) for name, ms in times.items()}


def times_beside_torch(manifest, driver, precision, options):
    """The contenders' milliseconds by name."""
    from compare_with_torch import Graph, median_ms
    from torch_models import MODELS
    graph = Graph(manifest, driver)
    graph.draw()
    model = MODELS[graph.plan.manifest["name"]]
    return rounded(median_ms(contenders_of(graph, model, PRECISIONS[precision][2]),
                             options.rounds))


def feed_forward(ingot, options, found):
    from compare_with_torch import TorchDriver
    if found:
        return
    with tempfile.TemporaryDirectory() as folder:
        manifest = manifest_of(ingot, FEED_FORWARD, best_family(), "highest",
                               pathlib.Path(folder) / "feed_forward.medium.ptx")
        found.append({"graph": "SwiGLU, 4096 x 4096 x 11008", "precision": "bf16",
                      "ms": times_beside_torch(manifest, TorchDriver(), "bf16", options)})
        yield


def by_family(ingot, options, found):
    import torch
    from compare_with_torch import Graph, TorchDriver, median_ms
    if best_family() == "sm_80":
        return
    driver, both = TorchDriver(), ["sm_80", best_family()]
    with tempfile.TemporaryDirectory() as folder:
        for chain, precision, manifests in compiled(ingot, pathlib.Path(folder), found, both):
            graphs = {family: Graph(path, driver) for family, path in manifests.items()}
            for graph in graphs.values():
                graph.draw()
            times = median_ms({family: graph.run for family, graph in graphs.items()},
                              options.rounds)
            found.append({"chain": chain, "precision": precision, "ms": rounded(times)})
            yield
            del graphs, graph
            torch.cuda.empty_cache()


def bench(ingot, name, precision, option, spec):
    report = json.loads(ingot("bench", "-", f"--matmul-precision={option}", "--untuned", "--json",
                              spec=spec))
    row = {"graph": name, "precision": precision, "kernels": report["kernels"],
           "ms": round(report["launch"]["median_ms"], 4),
           "of_copy": round(report["bytes_per_second"] / report["copy_ceiling"], 3),
           "host_us": round(report["host_us"], 2), "bare_us": round(report["bare_host_us"], 2)}
    if "unit" in report:
        row["of_unit"] = round(report["flops_per_second"] / report["unit_ceiling"], 3)
        row["unit"] = report["unit"]
        row["unit_tflops"] = round(report["unit_ceiling"] / 1e12, 1)
    if "product" in report:
        row["product_ms"] = round(report["product"]["median_ms"], 4)
    return row


def tails():
    """(path, precision, type, --matmul-precision) of the parts `chains` and `compile`."""
    return [(path, precision, dtype, option) for path in chain_files()
            if path.stem.split("_")[0] in TAILS and "mse" not in path.stem
            for precision, (dtype, option, _) in PRECISIONS.items()]


def is_new(found, graph, precision):
    return not any((row["graph"], row["precision"]) == (graph, precision) for row in found)


def chains(ingot, _options, found):
    for path, precision, dtype, option in tails():
        if is_new(found, path.stem, precision):
            found.append(bench(ingot, path.stem, precision, option, spec_of(path, dtype)))
            yield


def rows(ingot, _options, found):
    for name, (expression, (count, columns)) in ROWS.items():
        for dtype in ("f32", "bf16"):
            if is_new(found, name, dtype):
                spec = (f"graph rows(x: {dtype}[{count}, {columns}]) {{\n"
                        f"  return y = {expression}\n}}\n")
                found.append(bench(ingot, name, dtype, "highest", spec))
                yield


def shape_classes(_ingot, options, found):
    import torch
    from shape_classes import CLASSES
    torch.set_float32_matmul_precision("highest")
    for name, shape_class in CLASSES.items():
        with torch.device("cuda"):
            problems = shape_class.problems()
        while problems:
            problem = problems.pop(0)
            if any((row["class"], row["problem"]) == (name, problem.name) for row in found):
                continue
            times, difference = times_of_problem(problem, options.rounds)
            better = min(times["eager"], times["compile"])
            ratios = {of: round(times.get(of, better) / times["ingot"], 3)
                      for of in shape_class.bounds}
            found.append({"class": name, "problem": problem.name, "ms": rounded(times),
                          "ratios": ratios, "bounds": shape_class.bounds,
                          "difference": float(f"{difference:.2g}")})
            yield
            del problem
            torch.cuda.empty_cache()


def times_of_problem(problem, rounds):
    """The contenders' milliseconds by name, and the largest relative difference of an output of
    Ingot from eager PyTorch's, in the Frobenius norm."""
    import ingot.torch
    import torch
    from compare_with_torch import median_ms
    torch._dynamo.reset()

    def call_of(model, draw, backend):
        with torch.device("cuda"):
            tensors = draw()
        if backend == "ingot":
            model = torch.compile(model, backend=ingot.torch.backend, dynamic=False,
                                  options={"freeze": True})
        elif backend == "compile":
            model = torch.compile(model, dynamic=False)
        return lambda: model(*tensors)
    with torch.no_grad():
        tensors = []

        def draw():
            tensors[:] = tensors or problem.inputs()
            return tensors
        calls = {backend: call_of(problem.model, draw, backend)
                 for backend in ("ingot", "eager", "compile")}
        for name, (model, inputs) in problem.others.items():
            calls[name] = call_of(model, inputs, name.split()[0])
        return median_ms(calls, rounds), largest_difference(calls["ingot"](), calls["eager"]())


def largest_difference(results, expected):
    pairs = zip(results, expected) if isinstance(results, tuple) else [(results, expected)]
    return max(((a.double() - b.double()).norm() / b.double().norm().clamp(min=1e-30)).item()
               for a, b in pairs)


def seconds_of(call):
    """The median of three calls behind one that is not counted."""
    seconds = []
    for _ in range(4):
        started = time.monotonic()
        call()
        seconds.append(time.monotonic() - started)
    return round(statistics.median(seconds[1:]), 3)


def compile_times(ingot, _options, found):
    """A whole process on two cores, without and with entries in the cache."""
    ingot.cores = ["taskset", "-c", "0,1"]
    for path, precision, dtype, option in tails():
        if not is_new(found, path.stem, precision):
            continue
        row = {"graph": path.stem, "precision": precision}
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("compile", "-", "--device=native", f"--target={best_family()}",
                         f"--matmul-precision={option}", "--emit=cubin", "-o",
                         pathlib.Path(folder) / "out.cubin")
            for name, environment in (("cold_s", {"INGOT_CACHE": "0"}),
                                      ("warm_s", {"INGOT_CACHE_DIR": folder})):
                row[name] = seconds_of(lambda kept=environment: ingot(
                    *arguments, spec=spec_of(path, dtype), environment=kept))
        found.append(row)
        yield
    ingot.cores = None


PARTS = {"beside-torch": beside_torch, "feed-forward": feed_forward, "families": by_family,
         "chains": chains, "rows": rows, "classes": shape_classes, "compile": compile_times}


def best_family():
    """The family that launches use on this GPU."""
    import torch
    return "sm_90a" if torch.cuda.get_device_capability() == (9, 0) else "sm_80"


def state_of(options):
    import torch
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.split()[0]
    return {"commit": options.state, "date": time.strftime("%Y-%m-%d"),
            "gpu": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda,
            "pytorch": torch.__version__.split("+")[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    parser.add_argument("--state", required=True, help="the commit that was built")
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--rounds", type=int, default=12, help="of contenders in turns")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"unknown part '{part}'; expected {', '.join(PARTS)}")
    if not (options.bin / "ingot").is_file():
        parser.error(f"--bin: {options.bin} has no program ingot; build first")
    try:
        import torch
    except ImportError:
        sys.exit("benchmark.py: needs PyTorch")
    if not torch.cuda.is_available():
        sys.exit("benchmark.py: needs a GPU that PyTorch can use")
    result = {"state": state_of(options)}
    if options.json.exists():
        kept = json.loads(options.json.read_text())
        if kept["state"] == result["state"]:
            result = kept
    ingot = Ingot(options.bin)
    for part in options.parts or PARTS:
        found = result.setdefault(part, [])
        for _ in PARTS[part](ingot, options, found):
            print(json.dumps(found[-1]), flush=True)
            options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
