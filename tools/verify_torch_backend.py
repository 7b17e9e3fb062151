#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of torch.compile(backend="ingot") on a GPU: verify_torch_backend.py [SECTION ...].

chains    every development chain as a module, in f32, TF32 and bf16: its error against f64 beside
          eager's, KernelBench's comparison, and launch steps beside those of the spec
models    a deep MLP, an operator in the middle that Ingot lacks, dropout, gradients
batches   20 batch sizes: results, and how many programs are compiled
overhead  microseconds of a call, beside a backend that does nothing
capture   a CUDA graph that is replayed 1,000 times, and params that change
threads   8 threads that launch 4 programs on streams of their own (--seconds)
dlpack    tensors of which nothing is known but that they speak DLPack
errors    the messages for bad use

Prints Markdown; exit status 1 when anything failed. Needs PyTorch with a GPU and the package ingot.
"""
import argparse
import copy
import gc
import pathlib
import sys
import threading
import time
import warnings

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

import ingot  # noqa: E402
import ingot.torch  # noqa: E402
from chains import CHAINS  # noqa: E402
from ingot.torch import compiled, dynamo  # noqa: E402

PRECISIONS = {"f32": (torch.float32, "highest", 1e-4), "tf32": (torch.float32, "high", 1e-4),
              "bf16": (torch.bfloat16, "highest", 1e-2)}
failures = []


def verdict(what, is_right):
    if not is_right:
        failures.append(what)
    return "pass" if is_right else "FAIL"


def spec_of(name):
    """The spec of a chain."""
    return (ROOT / "tests" / "chains" / f"{name}.ingot").read_text()


def compile_reported(module):
    """The module through the backend, and the reports of its graphs, filled at the first call."""
    reports = []

    def reported(graph, inputs):
        reports.append(dynamo.Report())
        return dynamo.compile_graph(graph, inputs, reports[-1])
    torch._dynamo.reset()
    return torch.compile(module, backend=reported), reports


def errors(result, exact):
    """(Frobenius error, worst error over the largest value), both squared or not as they add."""
    difference = (result.double() - exact).abs_()
    scale = exact.norm().item(), exact.abs().max().item()
    return difference.norm().item() / max(scale[0], 1e-300), difference.max().item() / max(
        scale[1], 1e-300)


def milliseconds(call, rounds=8):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.zero_()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def num_draws(size):
    """Of the inputs: few values say little of an error."""
    return 64 if size <= 16 else 24 if size <= 4096 else 6


def one_chain(name, chain, precision):
    dtype, setting, tolerance = PRECISIONS[precision]
    torch.set_float32_matmul_precision(setting)
    torch.manual_seed(42)
    module = chain.module(*chain.arguments).cuda().to(dtype)
    exact_module = copy.deepcopy(module).double()
    eager = copy.deepcopy(module)
    ours, reports = compile_reported(module)
    sums, allclose = [[0.0, 0.0], [0.0, 0.0]], True
    draws, draw = 1, 0
    while draw < draws:
        inputs = [torch.randn(shape, device="cuda", dtype=dtype) for shape in chain.shapes]
        exact = exact_module(*(x.double() for x in inputs))
        wanted, result = eager(*inputs), ours(*inputs)
        draws = num_draws(exact.numel()) if exact.numel() < 1 << 28 else 1
        for total, value in zip(sums, (result, wanted)):
            for i, error in enumerate(errors(value, exact)):
                total[i] += error ** 2 if i == 0 else error
        half = tolerance / 2
        if torch.allclose(exact, wanted.double(), atol=half, rtol=half):
            allclose &= torch.allclose(wanted, result, atol=tolerance, rtol=tolerance)
        draw += 1
    ours_error, eager_error = ((total[0] ** 0.5, total[1]) for total in sums)
    within = all(a <= 1.1 * b for a, b in zip(ours_error, eager_error))
    steps = sum(piece.program.num_kernels for report in reports for piece in report.pieces)
    text = spec_of(name) if dtype == torch.float32 else spec_of(name).replace("f32[", "bf16[")
    asked = ingot.compile(text, matmul_precision=setting).num_kernels
    times = milliseconds(lambda: ours(*inputs)), milliseconds(lambda: eager(*inputs))
    scale = draws ** 0.5, draws
    shown = [", ".join(f"{value / by:.3g}" for value, by in zip(pair, scale))
             for pair in (ours_error, eager_error)]
    print(f"| {name} | {precision} | {shown[0]} | {shown[1]} | {steps} / {asked} | "
          f"{times[0]:.3f} | {times[1]:.3f} | "
          f"{verdict(f'{name} {precision}', within and allclose and steps <= asked)}"
          f"{'' if within else ' error'}{'' if allclose else ' allclose'} |", flush=True)


def chains(arguments):
    print("| chain | precision | Ingot (rms, worst) | eager (rms, worst) | steps / of the spec | "
          "Ingot ms | eager ms | |\n|---|---|---|---|---|---|---|---|")
    for name, chain in CHAINS.items():
        if arguments.only and not any(name.startswith(only) for only in arguments.only):
            continue
        for precision in PRECISIONS:
            with torch.no_grad():
                try:
                    one_chain(name, chain, precision)
                except Exception as error:  # the others are still worth seeing
                    print(f"| {name} | {precision} | {verdict(f'{name} {precision}', False)}: "
                          f"{type(error).__name__}: {str(error)[:300]} |", flush=True)
            gc.collect()
            torch.cuda.empty_cache()
    torch.set_float32_matmul_precision("highest")


class Mlp(nn.Module):
    """Four layers, each a linear, a LayerNorm and a GELU."""

    def __init__(self, width=1024):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width),
                                                  nn.GELU()) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


class WithSort(nn.Module):
    """An operator in the middle that Ingot does not have."""

    def __init__(self, width=512):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        x = torch.sort(torch.relu(self.first(x)), dim=1).values
        return torch.softmax(self.second(x), dim=1)


class WithDropout(nn.Module):
    """Random numbers stay with eager PyTorch."""

    def __init__(self, width=512):
        super().__init__()
        self.linear, self.dropout = nn.Linear(width, width), nn.Dropout(0.5)

    def forward(self, x):
        return torch.relu(self.dropout(torch.tanh(self.linear(x))))


class Views(nn.Module):
    """Operands that lie in another order, outputs that share memory, an input that is written."""

    def forward(self, x, y):
        y.add_(1.0)
        z = torch.relu(x.t() @ y)
        return z, z.t(), x[:, :8] * 2, x


def compare(name, ours, eager, inputs, tolerance=1e-3):
    copies = [x.clone() for x in inputs]
    with torch.no_grad():
        results, wanted = ours(*inputs), eager(*copies)
    results = results if isinstance(results, tuple) else (results,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    same = all(a.stride() == b.stride() and torch.allclose(a, b, atol=tolerance, rtol=tolerance)
               for a, b in zip((*results, *inputs), (*wanted, *copies)))
    print(f"- {name}: {verdict(name, same)}")


def models(_):
    torch.manual_seed(0)
    for name, module, shapes in (("MLP of 4 layers", Mlp(), [(256, 1024)]),
                                 ("an operator that Ingot lacks", WithSort(), [(100, 512)]),
                                 ("views and writes", Views(), [(64, 48), (64, 32)])):
        module = module.cuda()
        inputs = [torch.randn(shape, device="cuda") for shape in shapes]
        ours, reports = compile_reported(module)
        compare(name, ours, copy.deepcopy(module), inputs)
        pieces = [len(taken) for report in reports for taken in report.taken]
        print(f"  pieces of {pieces} operators; left: "
              f"{sorted({reason for report in reports for reason in report.left})}")
    module = WithDropout().cuda()
    x = torch.randn(64, 512, device="cuda")
    ours, reports = compile_reported(module)
    with torch.no_grad():
        y = ours(x)
    zeros = (y == 0).float().mean().item()
    with torch.no_grad():
        is_random = not torch.equal(y, ours(x))
    print(f"- dropout in training mode: {verdict('dropout', 0.4 < zeros < 0.95 and is_random)}, "
          f"{zeros:.2f} of the results are zero")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch._dynamo.reset()
        trained = torch.compile(nn.Linear(64, 64).cuda(), backend="ingot")
        trained(torch.randn(8, 64, device="cuda")).sum().backward()
    told = [str(w.message) for w in caught if "gradients" in str(w.message)]
    print(f"- gradients: {verdict('gradients', len(told) == 1)}, warned: {told}")


def batches(_):
    torch.manual_seed(0)
    module = Mlp(512).cuda()
    eager = copy.deepcopy(module)
    torch._dynamo.reset()
    ours = torch.compile(module, backend="ingot")
    counts = []
    for i in range(20):
        x = torch.randn(17 * i + 3, 512, device="cuda")
        with torch.no_grad():
            y = ours(x)
            if not torch.allclose(y, eager(x), atol=1e-3, rtol=1e-3):
                failures.append(f"batch {len(x)}")
        counts.append(compiled.num_compiled())
    print(f"- 20 batch sizes: programs compiled after each: {counts}; "
          f"{verdict('batches', counts[-1] == counts[1])}")


def microseconds(call, count=300):
    """Of the calling thread; the launch queue holds more than `count`."""
    for _ in range(20):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    elapsed = time.perf_counter() - start
    torch.cuda.synchronize()
    return elapsed / count * 1e6


def overhead(_):
    """Chain 94 at a size that the GPU is done with sooner than the host. Backends take turns."""
    chain = CHAINS["94_gemm_biasadd_hardtanh_mish_groupnorm"]
    torch.manual_seed(0)
    module = chain.module(128, 128, 4).cuda().bfloat16()
    x = torch.randn(16, 128, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        callables = []

        def ours(graph, inputs):
            callables.append((ingot.torch.backend(graph, inputs), inputs))
            return callables[-1][0]

        def nothing(graph, inputs):
            out = torch.empty(16, 128, device="cuda", dtype=torch.bfloat16)
            return lambda *arguments: (out,)
        times = {}
        for _ in range(5):
            for name, backend in (("ingot", ours), ("nothing", nothing), ("inductor", "inductor")):
                torch._dynamo.reset()
                call = torch.compile(module, backend=backend)
                call(x)
                times.setdefault(name, []).append(microseconds(lambda: call(x)))
            function, inputs = callables[-1]
            times.setdefault("inside", []).append(microseconds(lambda: function(*inputs)))
            times.setdefault("eager", []).append(microseconds(lambda: module(x)))
        times = {name: sorted(values)[2] for name, values in times.items()}
    print(f"- inside the callable: {times['inside']:.1f} us with the launch; "
          f"{verdict('callable', times['inside'] <= 15)}")
    print(f"- torch.compile: ingot {times['ingot']:.1f}, a backend that does nothing "
          f"{times['nothing']:.1f}, inductor {times['inductor']:.1f}, eager {times['eager']:.1f} "
          f"us; {verdict('call', times['ingot'] - times['nothing'] <= 15)}")


def capture(_):
    for width, rows, prepares in (512, 64, False), (1024, 1024, True):
        capture_of(width, rows, prepares)


def capture_of(width, rows, prepares):
    """prepares: memory is prepared from the params of these sizes."""
    torch.manual_seed(0)
    module = Mlp(width).cuda()
    eager = copy.deepcopy(module)
    torch._dynamo.reset()
    ours = torch.compile(module, backend="ingot", dynamic=False, options={"freeze": prepares})
    x = torch.randn(rows, width, device="cuda")

    def is_right(y):
        return torch.allclose(y, eager(x), atol=1e-3, rtol=1e-3)
    with torch.no_grad():
        ours(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = ours(x)
        right = True
        for i in range(1000):
            if i % 100 == 0:
                x.copy_(torch.randn(rows, width, device="cuda"))
            graph.replay()
            if i % 100 == 0:
                right &= is_right(y)
        what = f"capture [{rows}, {width}]"
        print(f"- {what}, replayed 1,000 times: {verdict(what, right)}")
        for target in (module, eager):
            target.layers[0][0].weight.mul_(2.0)
        changed = is_right(ours(x))
        graph.replay()
        print(f"- a param that was written to: {verdict(what + ', changed', changed)}; the graph "
              f"replayed after that call: {verdict(what + ', replayed', is_right(y))}")
        for target in (module, eager):
            target.layers[0][0].weight.mul_(0.5)
        told = ""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                y = ours(x)
        except ingot.NotPreparedError as error:
            told = str(error)
        if not told:
            graph.replay()
        good = bool(told) if prepares else not told and is_right(y)
        print(f"- written to before a capture: {verdict(what + ', written to', good)}: "
              f"{told or 'taken'}")


def threads(arguments):
    torch.manual_seed(0)
    programs, wanted = [], []
    for i, width in enumerate((256, 512, 768, 1024)):
        x, w = torch.randn(64 + i, width, device="cuda"), torch.randn(512, width, device="cuda")
        program = ingot.compile(f"graph g{i}(x: f32[m, {width}], param w: f32[512, {width}]) "
                                "{ return softmax(linear(x, w), axis=1) }")
        bound = program.bind(w)
        programs.append((bound, x))
        wanted.append(bound(x).clone())
    torch.cuda.synchronize()
    stop, wrong, launches = time.time() + arguments.seconds, [], [0] * 8

    def work(index):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            while time.time() < stop:
                for (bound, x), exact in zip(programs, wanted):
                    for _ in range(20):
                        y = bound(x)
                    launches[index] += 20
                    if not torch.equal(y, exact):
                        wrong.append(index)
    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    time.sleep(arguments.seconds / 4)
    early = torch.cuda.memory_reserved(), _resident()
    for worker in workers:
        worker.join()
    late = torch.cuda.memory_reserved(), _resident()
    grown = late[0] - early[0], late[1] - early[1]
    print(f"- 8 threads, 4 programs, {arguments.seconds:.0f} s, {sum(launches):,} launches: "
          f"{verdict('threads', not wrong)}; memory from a quarter of the time on: GPU "
          f"{grown[0] >> 20} MiB, host {grown[1] >> 20} MiB more; "
          f"{verdict('memory', grown[0] <= 0 and grown[1] < 8 << 20)}")


def _resident():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def bad_uses():
    program = ingot.compile("graph g(x: f32[m, 64], param w: f32[32, 64]) { return linear(x, w) }")
    w = torch.randn(32, 64, device="cuda")
    x = torch.randn(8, 64, device="cuda")
    bound = program.bind(w)
    yield "a tensor on the CPU", lambda: bound(x.cpu())
    yield "another type", lambda: bound(x.half())
    yield "another shape", lambda: bound(x[:, :32].contiguous())
    yield "another rank", lambda: bound(x[0])
    yield "strides", lambda: bound(torch.randn(64, 8, device="cuda").t())
    yield "no tensor", lambda: bound("x")
    yield "a tensor less", lambda: bound()
    yield "an output that overlaps an input", lambda: ingot.compile(
        "graph h(x: f32[8, 64]) { return relu(x) }")(x, out=x)
    yield "an output of another shape", lambda: bound(x, out=torch.empty(8, 31, device="cuda"))
    yield "no params", lambda: program(x)
    yield "a wrong name", lambda: program.bind(v=w)
    if torch.cuda.device_count() > 1:
        yield "another GPU", lambda: bound(x.to("cuda:1"))


def bad_use(_):
    for name, call in bad_uses():
        told = ""
        try:
            call()
        except ingot.Error as error:
            told = f"{type(error).__name__}: {error}"
        print(f"- {name}: {verdict(name, bool(told))}: {told}")


class Anonymous:
    """A tensor that speaks DLPack and nothing else."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, **named):
        return self._tensor.__dlpack__(**named)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


def dlpack(_):
    torch.manual_seed(0)
    x, w = torch.randn(40, 64, device="cuda"), torch.randn(32, 64, device="cuda")
    spec = "graph g(x: f32[m, 64], param w: f32[32, 64]) { return softmax(linear(x, w), axis=1) }"
    wanted = torch.softmax(x @ w.T, 1)
    for name, program in (("compiled", ingot.compile(spec)),
                          ("from a bundle", ingot.load(ingot.bundle(spec)))):
        bound, out = program.bind(Anonymous(w)), torch.empty(32, 32, device="cuda")
        part = x[8:]  # a byte offset
        bound(Anonymous(part), out=Anonymous(out))
        torch.cuda.synchronize()
        print(f"- {name}: {verdict(name, torch.allclose(out, wanted[8:], atol=1e-5))}")
        y = program.bind(w)(part)
        print(f"- {name}, torch: {verdict(name, torch.equal(y, out))}")
    told = ""
    try:
        bound(Anonymous(part.t()), out=Anonymous(out))
    except ingot.Error as error:
        told = str(error)
    print(f"- strides: {verdict('strides', 'contiguous' in told)}: {told}")


SECTIONS = {"chains": chains, "models": models, "batches": batches, "overhead": overhead,
            "capture": capture, "threads": threads, "dlpack": dlpack, "errors": bad_use}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--only", nargs="*", default=[], help="chains whose names begin so")
    parser.add_argument("--seconds", type=float, default=60, help="of the section threads")
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        if name not in SECTIONS:
            parser.error(f"there is no section {name!r}; expected {', '.join(SECTIONS)}")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Ingot {ingot.__version__}")
    for name in arguments.sections or SECTIONS:
        print(f"\n## {name}\n", flush=True)
        started = time.time()
        try:
            SECTIONS[name](arguments)
        except Exception as error:  # the other sections are still worth seeing
            failures.append(name)
            import traceback
            traceback.print_exc()
            print(f"- {name}: FAIL: {type(error).__name__}: {error}")
        print(f"\n{time.time() - started:.0f} s", flush=True)
    if failures:
        print(f"\nfailed: {', '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
