# SPDX-License-Identifier: Apache-2.0
"""Results beside those of eager PyTorch: values against f64, and all else that a user can see."""
from __future__ import annotations

from typing import Any, Iterator, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

NARROW = (torch.float32, torch.bfloat16, torch.float16)


class InF64(TorchDispatchMode):
    """Makes f64 what a function computes in less whatever the type of its arguments."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        named = {name: torch.float64 if name == "dtype" and value in NARROW else value
                 for name, value in (kwargs or {}).items()}
        return function(*args, **named)


class Difference(NamedTuple):
    """A kind - value, nan, inf, zero, denormal, dtype, shape, strides, alias, writes, bits,
    exception, kind of result - and what was seen."""
    kind: str
    text: str


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
    """How results are judged. Each of `parts` - pieces and operators of eager - rounds what it
    gives, so that many roundings of the type are allowed whatever eager's error is; of elementwise
    operators each element's error counts by its own size, and four are allowed."""
    is_elementwise: bool = False
    parts: int = 1

    def allowed(self, dtype: torch.dtype) -> Iterator[tuple[bool, float]]:
        """(whether errors are relative to each element, the error that is always allowed)."""
        rounding = torch.finfo(dtype).eps * max(self.parts, 1)
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
            yield Difference("value", f"{count} of {got.numel()} are not eager's")
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
                             f"{wanted.reshape(-1)[at].item()}")
            return
    zero = (got == 0) & (wanted == 0) & (got.signbit() != wanted.signbit())
    if zero.any():
        yield Difference("zero", f"{zero.sum().item()} zeros of the other sign")
    finite = got.isfinite() & wanted.isfinite() & exact.isfinite()
    ours, theirs, right = (t.double()[finite] for t in (got, wanted, exact))
    if right.numel() == 0:
        return
    kept = (ours - theirs).abs() > smallest
    for is_relative, least in limits.allowed(dtype):
        sizes = least, smallest
        faults = _beyond(ours, theirs, right, is_relative, sizes)
        if faults:
            without = kept.any() and _beyond(ours[kept], theirs[kept], right[kept], is_relative,
                                             sizes)
            yield Difference("value" if without else "denormal",
                             f"error {'of each element ' if is_relative else ''}{faults}")
            return


def _beyond(ours, theirs, exact, is_relative: bool, sizes: tuple[float, float]) -> str:
    """What is larger than allowed, or nothing. `sizes` are the error that is always allowed and the
    smallest value."""
    mine = _worst(ours - exact, exact, is_relative, sizes[1])
    eager = _worst(theirs - exact, exact, is_relative, sizes[1])
    for name, a, b in zip(("worst", "rms"), mine, eager):
        if a > max(1.1 * b, sizes[0]):
            return f"{name} {a:.3g}, eager's {b:.3g}"
    return ""


def errors(results: list[Any], wanted: list[Any], exact: list[Any],
           limits: Limits) -> list[tuple[float, float, float]]:
    """(ours, eager's, what is always allowed) of each tensor of numbers, worst and mean square."""
    found = []
    for got, like, right in zip(results, wanted, exact):
        if not isinstance(like, torch.Tensor) or not like.is_floating_point() or not got.numel():
            continue
        finite = got.isfinite() & like.isfinite() & right.isfinite()
        smallest = torch.finfo(like.dtype).smallest_normal
        for is_relative, least in limits.allowed(like.dtype):
            pairs = [_worst((t.double() - right)[finite], right[finite].double(), is_relative,
                            smallest) if finite.any() else (0.0, 0.0)
                     for t in (got, like)]
            found += [(*pair, least) for pair in zip(*pairs)]
    return found


def form(got: torch.Tensor, wanted: torch.Tensor) -> Iterator[Difference]:
    """Type, shape and strides."""
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
    if not isinstance(a, torch.Tensor):
        return a == b or a != a
    if a.shape != b.shape or a.dtype != b.dtype or a.layout != torch.strided:
        return a.shape == b.shape and a.dtype == b.dtype
    return bool(_is_same(a, b).all()) and (not a.is_floating_point()
                                           or torch.equal(a.signbit(), b.signbit()))


def compare(results: list[Any], wanted: list[Any], exact: list[Any] | None,
            limits: Limits = Limits()) -> Iterator[Difference]:
    """Differences of results as values."""
    if len(results) != len(wanted):
        yield Difference("kind of result", f"{len(results)} results, eager gives {len(wanted)}")
        return
    for i, (got, like) in enumerate(zip(results, wanted)):
        if not isinstance(like, torch.Tensor):
            if not isinstance(got, torch.Tensor) and not have_same_bits(got, like):
                yield Difference("value", f"{got}, eager gives {like}")
            continue
        if not isinstance(got, torch.Tensor):
            yield Difference("kind of result", f"{type(got).__name__}, eager gives a tensor")
            continue
        faults = list(form(got, like))
        yield from faults
        if like.layout != torch.strided or any(f.kind in ("dtype", "shape") for f in faults):
            continue
        right = exact[i] if exact and isinstance(exact[i], torch.Tensor) else None
        if like.is_floating_point() or not like.is_complex():
            yield from values(got, like, right, limits)
