#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Problems beside the beaten path: classes of shapes and operands for which a compiler that is fast
on aligned, dense, large problems can be slow.

    shape_classes.py [--device CARD] [--target FAMILY] [CLASS ...]

prints the predictions of Ingot for a card: milliseconds, kernels of a call, and the operators that
stay with eager PyTorch. It needs PyTorch and the package ingot, and no GPU: tensors have no data.
`benchmark.py classes` measures the problems beside eager PyTorch and torch.compile.
"""
import argparse
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch import nn

F = nn.functional
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
SHORT = {F32: "f32", F16: "f16", BF16: "bf16"}


@dataclass
class Problem:
    """A module or function, and `inputs()`, which draws its arguments on the default device.
    `others` are contenders of this problem alone, as (model, inputs) by name."""
    name: str
    model: Callable[..., Any]
    inputs: Callable[[], list[torch.Tensor]]
    others: dict[str, tuple[Callable[..., Any], Callable[[], list[torch.Tensor]]]] = field(
        default_factory=dict)


@dataclass
class ShapeClass:
    """`bounds`: by contender, the least ratio of its time to Ingot's. `better` is the faster one of
    eager and torch.compile; `ingot NAME` is another problem by Ingot, `eager NAME` one by PyTorch.
    `problems()` makes modules on the default device."""
    what: str
    bounds: dict[str, float]
    problems: Callable[[], list[Problem]]


def normal(*shapes: tuple[int, ...], dtype: torch.dtype = F32) -> Callable[[], list[torch.Tensor]]:
    return lambda: [torch.randn(shape, dtype=dtype) for shape in shapes]


class Linear(nn.Module):
    """x by a weight [n, k], or [k, n] with `columns`."""

    def __init__(self, n: int, k: int, dtype: torch.dtype, columns: bool = False):
        super().__init__()
        shape = (k, n) if columns else (n, k)
        self.weight = nn.Parameter(torch.randn(shape, dtype=dtype) * k ** -0.5)
        self.columns = columns

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight if self.columns else F.linear(x, self.weight))


def unaligned() -> list[Problem]:
    problems = []
    for dtype in (BF16, F16):
        for columns in (False, True):
            for m, n, k in ((4096, 4096, 4095), (4096, 4095, 4096), (2048, 4097, 8190)):
                aligned = [-(-extent // 64) * 64 for extent in (n, k)]
                problems.append(Problem(
                    f"{SHORT[dtype]} {m} x {n} x {k}{' columns' * columns}",
                    Linear(n, k, dtype, columns), normal((m, k), dtype=dtype),
                    {"ingot aligned": (Linear(*aligned, dtype, columns),
                                       normal((m, aligned[1]), dtype=dtype))}))
    return problems


def triangular(x: torch.Tensor) -> torch.Tensor:
    return torch.tril(x)


def banded(x: torch.Tensor) -> torch.Tensor:
    return torch.tril(torch.triu(x, -48), 48)


def sparse(x: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.rand_like(x) < 0.01, x, torch.zeros_like(x))


def few_nonzeros() -> list[Problem]:
    def inputs(shape: Callable[..., torch.Tensor], m: int, n: int,
               k: int) -> Callable[[], list[torch.Tensor]]:
        return lambda: [shape(torch.randn(m, k)), torch.randn(k, n)]
    return [Problem(f"{shape.__name__} {m} x {n} x {k}", torch.matmul, inputs(shape, m, n, k))
            for shape in (triangular, banded, sparse)
            for m, n, k in ((4096, 4096, 4096), (2048, 3072, 8192))]


def products(*sizes: tuple[int, int, int]) -> Callable[[], list[Problem]]:
    return lambda: [Problem(f"{m} x {n} x {k}", torch.matmul, normal((m, k), (k, n)))
                    for m, n, k in sizes]


def stored_products(*sizes: tuple[int, int, int]) -> Callable[[], list[Problem]]:
    def problems() -> list[Problem]:
        found = products(*sizes)()
        for problem, (m, n, _) in zip(found, sizes):
            problem.others["eager store"] = (torch.zero_, normal((m, n)))
        return found
    return problems


def of_each(models: dict[str, Callable[..., Any]], *shapes: tuple[int, ...],
            dtypes: tuple[torch.dtype, ...] = (BF16, F32),
            arguments: int = 1) -> Callable[[], list[Problem]]:
    return lambda: [Problem(f"{name} {SHORT[dtype]} {list(shape)}", model,
                            normal(*[shape] * arguments, dtype=dtype))
                    for name, model in models.items() for dtype in dtypes for shape in shapes]


def exclusive(x: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(x, 1) - x


def masked(x: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(x * (x > 0), 1)


def statistics(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.mean(x, (0, 2, 3)), torch.var(x, (0, 2, 3))


def divergence(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")


def triplet(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return F.triplet_margin_loss(x, y, z)


def cosine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return 1 - F.cosine_similarity(x, y).mean()


def errors(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    difference = x - y
    return difference.abs().mean(), (difference * difference).mean(), difference.abs().amax()


def losses() -> list[Problem]:
    return [Problem(f"{model.__name__} {m} x {n}", model, normal(*[(m, n)] * count))
            for model, count in ((divergence, 2), (triplet, 3), (cosine, 2), (errors, 2))
            for m, n in ((8192, 4096), (128, 262144))]


class Convolved(nn.Module):
    """A convolution, which stays with eager PyTorch, and a tail."""

    def __init__(self, channels: int, tail: nn.Module):
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1)
        self.tail = tail

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tail(self.convolution(x))


def behind_convolutions() -> list[Problem]:
    channels, size, batch = 64, 128, 32

    def inputs(layout: torch.memory_format) -> Callable[[], list[torch.Tensor]]:
        return lambda: [torch.randn(batch, channels, size, size).to(memory_format=layout)]
    tails = {"norm, relu, pooling": lambda: nn.Sequential(
                 nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(2)),
             "group norm, mish": lambda: nn.Sequential(nn.GroupNorm(8, channels), nn.Mish()),
             "softmax over channels": lambda: nn.Softmax(dim=1),
             "average pooling, sigmoid": lambda: nn.Sequential(nn.AvgPool2d(2), nn.Sigmoid())}
    problems = []
    for name, tail in tails.items():
        for layout in (torch.contiguous_format, torch.channels_last):
            last = layout == torch.channels_last
            problems.append(Problem(
                name + ", channels last" * last,
                Convolved(channels, tail()).to(memory_format=layout).eval(), inputs(layout)))
    return problems


class Steps(nn.Module):
    """A recurrent cell over the steps of a sequence."""

    def __init__(self, cell: nn.Module, steps: int):
        super().__init__()
        self.cell, self.steps = cell, steps

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        state = (state, state) if isinstance(self.cell, nn.LSTMCell) else state
        for step in range(self.steps):
            state = self.cell(x[step], state)
        return state[0] if isinstance(state, tuple) else state


class GraphLayer(nn.Module):
    """A graph convolution over a dense adjacency, and its normalised residual."""

    def __init__(self, features: int):
        super().__init__()
        self.linear, self.norm = nn.Linear(features, features), nn.LayerNorm(features)

    def forward(self, adjacency: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        degree = adjacency.sum(1, keepdim=True).abs() + 1
        return self.norm(x + F.elu(adjacency @ self.linear(x) / degree))


def small_layers() -> list[Problem]:
    steps, batch, features = 8, 64, 512
    cells = {"LSTM": nn.LSTMCell(features, features), "GRU": nn.GRUCell(features, features),
             "RNN": nn.RNNCell(features, features)}
    recurrent = [Problem(f"{name}, {steps} steps", Steps(cell, steps),
                         normal((steps, batch, features), (batch, features)))
                 for name, cell in cells.items()]
    return recurrent + [Problem(f"graph layer, {nodes} nodes", GraphLayer(256),
                                normal((nodes, nodes), (nodes, 256))) for nodes in (512, 2000)]


def normalised_products() -> list[Problem]:
    problems = []
    for norm in (nn.RMSNorm, nn.LayerNorm):
        for m, n, k in ((4096, 4096, 4096), (8192, 6144, 2048), (2048, 11008, 4096)):
            linear = nn.Linear(k, n, bias=False, dtype=BF16)
            problems.append(Problem(
                f"{norm.__name__} {m} x {n} x {k}", nn.Sequential(norm(k, dtype=BF16), linear),
                normal((m, k), dtype=BF16),
                {"eager product": (linear, normal((m, k), dtype=BF16))}))
    return problems


class Shared(nn.Module):
    """Linear layers of one input."""

    def __init__(self, k: int, *widths: int):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(k, n, bias=False, dtype=BF16) for n in widths)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(layer(x) for layer in self.layers)


class Gated(Shared):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = super().forward(x)
        return F.silu(gate) * up


def shared_inputs() -> list[Problem]:
    return [Problem(name, model, normal((m, 4096), dtype=BF16)) for m in (512, 4096)
            for name, model in ((f"q, k and v, {m} rows", Shared(4096, 4096, 1024, 1024)),
                                (f"gate and up, {m} rows", Gated(4096, 11008, 11008)))]


WHOLE = {"sum": torch.sum, "frobenius": torch.linalg.vector_norm,
         "l1": lambda x: torch.linalg.vector_norm(x, 1)}
LONG = {"sum of rows": lambda x: torch.sum(x, 1),
        "norm of rows": lambda x: torch.linalg.vector_norm(x, dim=1)}
ARG = {"argmax": lambda x: torch.argmax(x, 0), "argmin": lambda x: torch.argmin(x, 0),
       "argmax in the middle": lambda x: torch.argmax(x.view(64, -1, x.shape[1]), 1)}


def reductions() -> list[Problem]:
    return [*of_each(WHOLE, (8192, 16384))(), *of_each(LONG, (64, 2097152), dtypes=(BF16,))(),
            *of_each({"statistics": statistics}, (64, 256, 56, 56))(),
            *of_each({"exclusive": exclusive, "masked": masked}, (4096, 16384))()]


CLASSES = {
    "unaligned": ShapeClass("16-bit products whose rows do not start at 16 bytes",
                            {"ingot aligned": 0.9}, unaligned),
    "few-nonzeros": ShapeClass("f32 products of triangular, banded and sparse operands",
                               {"eager": 2.0}, few_nonzeros),
    "long-k": ShapeClass("f32 products of long K and few tiles", {"better": 1.5},
                         products((256, 256, 262144), (512, 512, 131072), (300, 200, 400000),
                                  (768, 256, 200000))),
    "short-k": ShapeClass("f32 products of short K", {"better": 1.0, "eager store": 0.85},
                          stored_products((8192, 8192, 32), (16384, 8192, 64), (4096, 32768, 128),
                                          (6000, 10000, 100))),
    "narrow": ShapeClass("f32 products of 16 to 64 columns or rows", {"better": 1.3},
                         products((65536, 16, 1024), (32768, 64, 4096), (48, 50000, 2048),
                                  (16, 32768, 4096))),
    "arg": ShapeClass("argmax and argmin over other axes than the last", {"better": 1.0},
                      of_each(ARG, (8192, 8192), (65536, 1000))),
    "reductions": ShapeClass("sums and norms of whole tensors and long rows, statistics, scans",
                             {"better": 1.0}, reductions),
    "losses": ShapeClass("losses to a scalar, several results of one pass", {"better": 1.0},
                         losses),
    "convolutions": ShapeClass("chains behind a convolution", {"compile": 1.0},
                               behind_convolutions),
    "small-layers": ShapeClass("recurrent and graph layers", {"better": 1.0}, small_layers),
    "norm-linear": ShapeClass("RMSNorm and LayerNorm before a linear layer",
                              {"eager product": 1 / 1.05}, normalised_products),
    "shared-input": ShapeClass("linear layers of one input", {"better": 1.0}, shared_inputs),
}


def print_predictions(names: list[str], options: dict[str, Any]) -> None:
    import ingot.torch
    for name in names:
        shape_class = CLASSES[name]
        print(f"{name}: {shape_class.what}")
        with torch.device("meta"):
            for problem in shape_class.problems():
                explanation = ingot.torch.explain(problem.model, *problem.inputs(),
                                                  options=options)
                predicted = sum(facts["predicted_ms"] for facts in explanation.facts)
                left = sorted({node for report in explanation.reports for node, _ in report.left
                               if "getitem" not in node})
                print(f"  {problem.name}: {predicted:.4f} ms, {explanation.num_kernels} kernels"
                      + f"; eager: {', '.join(left)}" * bool(left), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("classes", nargs="*", metavar="CLASS", help=f"of {', '.join(CLASSES)}")
    parser.add_argument("--device", default="h100", choices=("a100", "h100", "h200"))
    parser.add_argument("--target", choices=("sm_80", "sm_90a"), help="default: the card's best")
    options = parser.parse_args()
    for name in options.classes:
        if name not in CLASSES:
            parser.error(f"unknown class '{name}'; expected {', '.join(CLASSES)}")
    target = options.target or ("sm_80" if options.device == "a100" else "sm_90a")
    print_predictions(options.classes or list(CLASSES),
                      {"device": options.device, "target": target, "freeze": True})


if __name__ == "__main__":
    main()
