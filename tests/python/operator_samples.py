# SPDX-License-Identifier: Apache-2.0
"""The calls of PyTorch's own operator database: operators, samples, and the same samples with
tensors that lie otherwise in memory."""
from __future__ import annotations

import random
import sys
import types
import unittest
import zlib
from typing import Any, Callable, Iterator, NamedTuple

import numpy
import torch
from torch.utils import _pytree as pytree

try:
    import expecttest  # noqa: F401
except ImportError:
    # The database imports it for PyTorch's own test classes, which are not used here.
    _stand_in = types.ModuleType("expecttest")
    _stand_in.TestCase, _stand_in.ACCEPT = unittest.TestCase, False
    sys.modules["expecttest"] = _stand_in

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.opinfo.core import (BinaryUfuncInfo, OpInfo,  # noqa: E402
                                                 UnaryUfuncInfo)

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64,
          "bool": torch.bool}


class Extent(NamedTuple):
    """How much of the database is called."""
    samples: frozenset[int] | None  # their indices; None: all
    in_layouts: int                 # samples that launch and are also called in other layouts
    layouts: int                    # of these calls, one in so many
    between: int                    # samples that are also called between other operators

    def has(self, *key: Any) -> bool:
        """Whether one of the layouts' calls is among them."""
        return zlib.crc32(repr(key).encode()) % self.layouts == 0


ALL = Extent(None, 2, 1, 2)
#: For continuous integration: the same at every run.
SAMPLED = Extent(frozenset(2 ** i - 1 for i in range(12)), 1, 3, 1)


def key_of(op: OpInfo) -> str:
    """The name of an operator in the database, with its variant."""
    return op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")


OPERATORS: dict[str, OpInfo] = {key_of(op): op for op in op_db}


def is_elementwise(op: OpInfo) -> bool:
    return isinstance(op, (UnaryUfuncInfo, BinaryUfuncInfo))


class Call(NamedTuple):
    """A function of tensors alone: it holds the sample's other arguments."""
    label: str
    function: Callable
    tensors: list[torch.Tensor]
    is_between: bool = False  # other operators compute before it and after it

    def __call__(self, tensors) -> list[Any]:
        """Its results, flat."""
        return pytree.tree_leaves(self.function(*tensors))


def _call(label: str, function: Callable, sample: Any) -> Call:
    leaves, spec = pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    constants = [None if i in places else leaf for i, leaf in enumerate(leaves)]

    def call(*tensors):
        filled = list(constants)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        x, args, named = pytree.tree_unflatten(filled, spec)
        return function(x, *args, **named)
    return Call(label, call, [leaves[place].detach() for place in places])


def dtypes_of(op: OpInfo, device: str) -> list[str]:
    """Names of those of DTYPES that an operator takes."""
    supported = op.supported_dtypes(device)
    return [name for name, dtype in DTYPES.items() if dtype in supported]


def sampled_dtypes_of(op: OpInfo, device: str) -> list[str]:
    """Two of them at most: f32, and one of the others."""
    names = dtypes_of(op, device)
    others = [name for name in names if name != "f32"]
    kept = names[:1] if "f32" in names else []
    return kept + ([others[zlib.crc32(key_of(op).encode()) % len(others)]] if others else [])


def calls(op: OpInfo, dtype: str, device: str) -> Iterator[tuple[int, Call]]:
    """(index, call) of the samples as they are, then of one that writes where there is such a
    form. The same in every process."""
    seed = 7
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)
    first, index = None, -1
    for index, sample in enumerate(op.sample_inputs(device, DTYPES[dtype], requires_grad=False)):
        first = first or sample
        yield index, _call(str(index), op.op, sample)
    if first is not None and op.inplace_variant is not None:
        yield index + 1, _call(f"{index + 1} in place", op.inplace_variant, first)


def _before(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype == torch.bool:
        return torch.logical_or(tensor, tensor)
    return tensor * 1


def _after(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or leaf.dtype not in DTYPES.values():
        return leaf
    return torch.logical_not(leaf) if leaf.dtype == torch.bool else leaf + leaf


def between_others(call: Call) -> Call:
    """The call between operators that compute, with which it makes one piece; its results and
    theirs are seen."""
    def function(*tensors):
        results = pytree.tree_leaves(call.function(*map(_before, tensors)))
        return results, [_after(leaf) for leaf in results]
    return Call(f"{call.label} between", function, call.tensors, True)


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() == 0:
        return tensor
    apart = tensor.new_ones((*tensor.shape[:-1], 2 * tensor.shape[-1]))
    apart[..., ::2] = tensor
    return apart[..., ::2]


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2:
        return tensor
    return tensor.transpose(0, -1).contiguous().transpose(0, -1)


def _offset(tensor: torch.Tensor) -> torch.Tensor:
    whole = tensor.new_ones(tensor.numel() + 3)
    whole[3:] = tensor.reshape(-1)
    return whole[3:].view(tensor.shape)


def _expanded(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() == 0 or tensor.shape[0] < 2 or not tensor.is_floating_point():
        return tensor
    return tensor[:1].expand(tensor.shape)


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() != 4:
        return tensor
    return tensor.contiguous(memory_format=torch.channels_last)


LAYOUTS = {"strided": _strided, "transposed": _transposed, "offset": _offset,
           "expanded": _expanded, "channels last": _channels_last}


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor lies in memory by strides."""
    return type(tensor) is torch.Tensor and tensor.layout == torch.strided and not (
        tensor.is_quantized or tensor.is_nested)


def in_other_layouts(op: OpInfo, call: Call) -> Iterator[Call]:
    """The same call with tensors that lie otherwise, and of elementwise operators with an empty
    tensor and with one of rank 0."""
    if not all(is_plain(tensor) for tensor in call.tensors):
        return
    for name, move in LAYOUTS.items():
        moved = [move(tensor) for tensor in call.tensors]
        if any(a is not b for a, b in zip(moved, call.tensors)):
            yield Call(f"{call.label} {name}", call.function, moved)
    if is_elementwise(op) and call.tensors and call.tensors[0].numel() > 0:
        yield Call(f"{call.label} empty", call.function,
                   [tensor.new_empty((2, 0)) for tensor in call.tensors])
        yield Call(f"{call.label} rank 0", call.function,
                   [tensor.reshape(-1)[:1].reshape(()).clone() for tensor in call.tensors])


def copies(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Tensors of the same values, strides, offsets and sharing of storage."""
    storages: dict[int, Any] = {}
    results = []
    for tensor in tensors:
        if not is_plain(tensor):
            results.append(tensor.clone())
            continue
        storage = tensor.untyped_storage()
        if storage._cdata not in storages:
            storages[storage._cdata] = storage.clone()
        results.append(torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(
            storages[storage._cdata], tensor.storage_offset(), tensor.shape, tensor.stride()))
    return results
