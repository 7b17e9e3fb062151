# SPDX-License-Identifier: Apache-2.0
"""One operator of ATen by its rule, on the reference interpreter, beside eager PyTorch."""
import operator

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

import reference
from ingot.errors import Error
from ingot.torch.lowering import lower_piece
from ingot.torch.rules import Refusal

TOLERANCES = {torch.float32: 1e-5, torch.bfloat16: 2**-7, torch.float16: 2**-10}

#: Operators that a case was run for.
SEEN = set()


def eager(overload, *args, **named):
    """The result of eager PyTorch, or None where it takes no such operands."""
    try:
        return overload(*args, **named)
    except (RuntimeError, IndexError, NotImplementedError):
        return None


def by_rule(overload, args, named, wanted, takes=None):
    """The results of an operator's rule, those of the numbers `takes` where there are several."""
    SEEN.add(overload)
    mode, graph, tensors = FakeTensorMode(), fx.Graph(), {}

    def fake(tensor):
        return mode.from_tensor(tensor, static_shapes=True)

    def placed(x):
        if not isinstance(x, torch.Tensor):
            return x
        node = graph.placeholder(f"x{len(tensors)}")
        node.meta["val"], tensors[node] = fake(x), x
        return node
    args, named = pytree.tree_map(placed, (args, named))
    node = graph.call_function(overload, args, named)
    node.meta["val"] = pytree.tree_map(fake, wanted)
    outputs = [node]
    if takes is not None:
        outputs = [graph.call_function(operator.getitem, (node, i)) for i in takes]
        for i, output in zip(takes, outputs):
            output.meta["val"] = node.meta["val"][i]
    nodes = [node] + (outputs if takes is not None else [])
    lowered = lower_piece("rule", nodes, outputs, {})
    inputs = [tensors[node].contiguous() if order is None else tensors[node].permute(order)
              for node, order in zip(lowered.inputs, lowered.orders)]
    results = reference.evaluate(lowered.graph, inputs, [])
    return [reference.as_laid_out(*pair) for pair in zip(results, lowered.layouts)]


def _once_rounded(overload, args, named, wanted):
    """Eager's results in f32, rounded once: kernels of 16-bit types may round several times."""
    def wide(x):
        is_narrow = isinstance(x, torch.Tensor) and x.dtype in (torch.bfloat16, torch.float16)
        return x.float() if is_narrow else x
    results = eager(overload, *pytree.tree_map(wide, args), **pytree.tree_map(wide, named))
    return None if results is None else pytree.tree_map(lambda x, y: x.to(y.dtype), results, wanted)


def differs(got, exact, tolerance):
    """The difference, or None. Without a tolerance zeros have signs."""
    bound = TOLERANCES.get(exact.dtype, 0) if tolerance is None else tolerance
    try:
        torch.testing.assert_close(got, exact, rtol=bound, atol=bound / 8, equal_nan=True)
    except AssertionError as difference:
        return difference
    if tolerance == 0 and got.is_floating_point():
        wrong = (got == 0) & (got.signbit() != exact.signbit())
        return f"{wrong.sum()} zeros of the other sign" if wrong.any() else None
    return None


def check(overload, *args, takes=None, tolerance=None, **named):
    """Demands the rule's results to be eager's; false where eager takes no such operands."""
    wanted = eager(overload, *args, **named)
    if wanted is None:
        return False
    got = by_rule(overload, args, named, wanted, takes)
    of = (lambda results: [results]) if takes is None else (
        lambda results: [results[i] for i in takes])
    assert len(got) == len(of(wanted))
    rounded = None
    for i, (result, exact) in enumerate(zip(got, of(wanted))):
        about = f"{overload}{args}{named}"
        assert result.dtype == exact.dtype and result.shape == exact.shape, about
        difference = differs(result, exact, tolerance)
        if difference and exact.dtype in (torch.bfloat16, torch.float16):
            rounded = rounded or _once_rounded(overload, args, named, wanted)
            difference = rounded is None or differs(result, of(rounded)[i], tolerance)
        assert not difference, f"{about}\n{difference}"
    return True


def refused(overload, *args, takes=None, **named):
    """Why a rule refuses operands that eager PyTorch takes."""
    wanted = eager(overload, *args, **named)
    assert wanted is not None
    try:
        by_rule(overload, args, named, wanted, takes)
    except (Refusal, Error) as reason:
        return str(reason)
    raise AssertionError(f"{overload} was not refused")
