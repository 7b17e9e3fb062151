# SPDX-License-Identifier: Apache-2.0
"""Results beside those of eager PyTorch: values against f64, and all else that a user can see."""
from __future__ import annotations

import math
import struct
from typing import Any, Iterator, NamedTuple

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

NARROW = (torch.float32, torch.bfloat16, torch.float16)

#: An error may be so many times another one.
SLACK = 1.1


def draws(function, args, named) -> bool:
    """Whether a call of an ATen operator takes random numbers."""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return False
    for place, argument in enumerate(function._schema.arguments):
        if argument.name == "dropout_p":
            return (args[place] if place < len(args) else named.get("dropout_p", 0)) > 0
    return True


class Drawing(TorchDispatchMode):
    """Notes whether random numbers are taken."""

    def __init__(self):
        super().__init__()
        self.seen = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen |= draws(function, args, kwargs or {})
        return function(*args, **(kwargs or {}))


class InF64(TorchDispatchMode):
    """Computes in f64 where a function would use less, whatever the type of its arguments. Random
    numbers are those that `drawn`, a type that is less, draws: each type draws its own."""

    def __init__(self, drawn: torch.dtype = torch.float32):
        super().__init__()
        self._drawn = drawn

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        named = kwargs or {}
        if draws(function, args, named):
            return self._draw(function, args, named)
        return function(*args, **{
            name: torch.float64 if name == "dtype" and value in NARROW else value
            for name, value in named.items()})

    def _draw(self, function, args, named):
        if function is torch.ops.aten.native_dropout.default:
            x, p, is_training = args
            _, kept = function(x.to(self._drawn), p, is_training)
            return (x * kept / (1 - p) if is_training else x), kept
        narrow, named = pytree.tree_map_only(
            torch.Tensor, lambda x: x.to(self._drawn) if x.dtype == torch.float64 else x,
            (args, named))
        results = function(*narrow, **named)
        if function._schema.is_mutable:
            for x, y in zip(args, narrow):
                if isinstance(x, torch.Tensor):
                    x.copy_(y)
            return args[0]
        return pytree.tree_map_only(
            torch.Tensor, lambda x: x.double() if x.dtype in NARROW else x, results)


class Difference(NamedTuple):
    """A kind - value, nan, inf, zero, denormal, device, dtype, shape, strides, alias, writes, bits,
    exception, rule (one that is wrong), kind of result - and the observation."""
    kind: str
    text: str
    result: int | None = None    # its number among the results; of writes, among the inputs
    measure: str | None = None   # the error against f64 that is too large
    size: float = 0.0            # that error, or the number of elements that differ
    exception: type | None = None

    def is_excused_by(self, other: Difference) -> bool:
        """Whether another run differs from eager in the same way and by as much."""
        slack = 1.0 if self.measure is None else SLACK
        return (self.size <= slack * other.size and
                (self.kind, self.result, self.measure, self.exception) ==
                (other.kind, other.result, other.measure, other.exception))


def raised(error: Exception) -> Difference:
    """An exception that eager does not raise."""
    text = f"{type(error).__name__}: {str(error).strip()}".replace("\n", " ")
    return Difference("exception", text[:300], exception=type(error))


def _is_same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | (a.isnan() & b.isnan())


def _worst(difference, exact, is_relative: bool, least: float) -> tuple[float, float]:
    """(worst, root of the mean square) over the largest value, or of each over its own; values
    below `least` count as that."""
    size = exact.abs()
    by = size.clamp(min=least) if is_relative else size.max().clamp(min=least)
    error = difference.abs() / by
    return error.max().item(), error.square().mean().sqrt().item()


class Limits(NamedTuple):
    """How results are judged. Each piece and each operator of eager rounds its results, so
    `num_roundings` of the type are allowed whatever eager's error is. Of elementwise operators the
    error of each element also counts by its own size; four times as much is allowed there."""
    is_elementwise: bool = False
    num_roundings: int = 1

    def allowed(self, dtype: torch.dtype) -> Iterator[tuple[bool, float]]:
        """(whether errors are relative to each element, the error that is always allowed)."""
        rounding = torch.finfo(dtype).eps * max(self.num_roundings, 1)
        yield False, rounding
        if self.is_elementwise:
            yield True, 4 * rounding


def values(got: torch.Tensor, wanted: torch.Tensor, exact: torch.Tensor | None,
           limits: Limits) -> Iterator[Difference]:
    """Where a tensor differs from eager's by more than it may. `exact` is the result in f64."""
    if got.numel() == 0:
        return
    if not wanted.is_floating_point():
        if not torch.equal(got, wanted):
            count = (got != wanted).sum().item()
            yield Difference("value", f"{count} of {got.numel()} are not eager's", size=count)
        return
    dtype, smallest = wanted.dtype, torch.finfo(wanted.dtype).smallest_normal
    if exact is None or exact.shape != wanted.shape:
        exact = wanted.double()
    rounded = exact.to(dtype)
    for kind, of in (("nan", torch.isnan), ("inf", torch.isinf)):
        # Right where eager's intermediate results overflow is no fault.
        wrong = (of(got) != of(wanted)) & (of(got) != of(rounded))
        if kind == "inf":
            wrong |= of(got) & of(wanted) & (got != wanted) & (got != rounded)
        if wrong.any():
            at = wrong.reshape(-1).nonzero()[0].item()
            yield Difference(kind, f"{got.reshape(-1)[at].item()} at {at}, eager gives "
                             f"{wanted.reshape(-1)[at].item()}", size=wrong.sum().item())
            return
    zero = (got == 0) & (wanted == 0) & (got.signbit() != wanted.signbit())
    if zero.any():
        count = zero.sum().item()
        yield Difference("zero", f"{count} zeros of the other sign", size=count)
    finite = got.isfinite() & wanted.isfinite() & exact.isfinite()
    ours, theirs, right = (t.double()[finite] for t in (got, wanted, exact))
    if right.numel() == 0:
        return
    kept = (ours - theirs).abs() > smallest
    for is_relative, least in limits.allowed(dtype):
        sizes = least, smallest
        is_denormal = not kept.any() or not list(
            _beyond(ours[kept], theirs[kept], right[kept], is_relative, sizes))
        for name, mine, eager in _beyond(ours, theirs, right, is_relative, sizes):
            measure = f"{name} of each element" if is_relative else name
            yield Difference("denormal" if is_denormal else "value",
                             f"{measure} error {mine:.3g}, eager's {eager:.3g}",
                             measure=measure, size=mine)


def _beyond(ours, theirs, exact, is_relative: bool,
            sizes: tuple[float, float]) -> Iterator[tuple[str, float, float]]:
    """(name, ours, eager's) of the errors that are larger than allowed. `sizes` are the error that
    is always allowed and the smallest value."""
    mine = _worst(ours - exact, exact, is_relative, sizes[1])
    eager = _worst(theirs - exact, exact, is_relative, sizes[1])
    for name, a, b in zip(("worst", "rms"), mine, eager):
        if a > max(SLACK * b, sizes[0]):
            yield name, a, b


def errors(results: list[Any], wanted: list[Any], exact: list[Any],
           limits: Limits) -> list[tuple[float, float, float]]:
    """(ours, eager's, the error that is always allowed) of each tensor of numbers, worst and mean
    square. Ours is infinite where we alone give NaN or infinity."""
    found = []
    for got, like, right in zip(results, wanted, exact):
        if not isinstance(like, torch.Tensor) or not like.is_floating_point() or not got.numel():
            continue
        expected = like.isfinite() & right.to(like.dtype).isfinite()
        if (expected & ~got.isfinite()).any():
            found += [(math.inf, 0.0, least) for _, least in limits.allowed(like.dtype)
                      for _ in ("worst", "rms")]
            continue
        finite = got.isfinite() & expected
        smallest = torch.finfo(like.dtype).smallest_normal
        for is_relative, least in limits.allowed(like.dtype):
            pairs = [_worst((t.double() - right)[finite], right[finite].double(), is_relative,
                            smallest) if finite.any() else (0.0, 0.0)
                     for t in (got, like)]
            found += [(*pair, least) for pair in zip(*pairs)]
    return found


def form(got: torch.Tensor, wanted: torch.Tensor) -> Iterator[Difference]:
    """Device, type, shape and strides."""
    if got.device != wanted.device:
        yield Difference("device", f"{got.device}, eager gives {wanted.device}")
    if got.dtype != wanted.dtype:
        yield Difference("dtype", f"{got.dtype}, eager gives {wanted.dtype}")
    if got.shape != wanted.shape:
        yield Difference("shape", f"{list(got.shape)}, eager gives {list(wanted.shape)}")
    elif got.layout == torch.strided and got.numel() and _steps(got) != _steps(wanted):
        yield Difference("strides", f"{got.stride()} of {list(got.shape)}, eager gives "
                         f"{wanted.stride()}")


def _steps(tensor: torch.Tensor) -> list[int]:
    """The strides that say where elements lie: an extent of 1 has none."""
    return [stride for extent, stride in zip(tensor.shape, tensor.stride()) if extent != 1]


def sharing(results: list[Any], inputs: list[torch.Tensor]) -> list[int | None]:
    """Of each tensor among the results the first of the inputs, then of the results before it, of
    which it has the storage."""
    seen = [_storage(tensor) for tensor in inputs]
    found: list[int | None] = []
    for tensor in results:
        storage = _storage(tensor)
        found.append(seen.index(storage) if storage is not None and storage in seen else None)
        seen.append(storage)
    return found


def _storage(tensor: Any) -> int | None:
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or not tensor.numel():
        return None
    return tensor.untyped_storage().data_ptr()


def have_same_bits(a: Any, b: Any) -> bool:
    """Whether two results are alike in all bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    if not isinstance(a, torch.Tensor):
        return a == b
    if (a.shape, a.dtype, a.device) != (b.shape, b.dtype, b.device):
        return False
    if a.layout != torch.strided:
        return True
    return bool(_is_same(a, b).all()) and (not a.is_floating_point()
                                           or torch.equal(a.signbit(), b.signbit()))


def compare(results: list[Any], wanted: list[Any], exact: list[Any] | None,
            limits: Limits = Limits()) -> Iterator[Difference]:
    """Differences of results as values."""
    if len(results) != len(wanted):
        yield Difference("kind of result", f"{len(results)} results, eager gives {len(wanted)}")
        return
    for i, (got, like) in enumerate(zip(results, wanted)):
        right = exact[i] if exact and isinstance(exact[i], torch.Tensor) else None
        for difference in _of_one(got, like, right, limits):
            yield difference._replace(result=i)


def _of_one(got: Any, wanted: Any, exact: torch.Tensor | None,
            limits: Limits) -> Iterator[Difference]:
    if isinstance(got, torch.Tensor) != isinstance(wanted, torch.Tensor):
        yield Difference("kind of result",
                         f"{type(got).__name__}, eager gives {type(wanted).__name__}")
    elif not isinstance(wanted, torch.Tensor):
        if not have_same_bits(got, wanted):
            yield Difference("value", f"{got}, eager gives {wanted}")
    else:
        faults = list(form(got, wanted))
        yield from faults
        if wanted.layout == torch.strided and not wanted.is_complex() and not any(
                fault.kind in ("device", "dtype", "shape") for fault in faults):
            yield from values(got, wanted, exact, limits)
