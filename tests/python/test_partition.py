# SPDX-License-Identifier: Apache-2.0
"""Pieces of graphs, traced on fake tensors of two GPUs."""
import pytest

torch = pytest.importorskip("torch")

from ingot.torch.partition import partition  # noqa: E402
from ingot.torch.rewrites import drop_double_transposes  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

FIRST, SECOND = torch.device("cuda", 0), torch.device("cuda", 1)


def traced(function, *devices):
    """The graph of a function of one tensor on each device."""
    with FakeTensorMode():
        return make_fx(function)(*(torch.empty(4, 8, device=device) for device in devices))


def devices_of(piece):
    nodes = piece.nodes + [arg for node in piece.nodes for arg in node.all_input_nodes]
    return {node.meta["val"].device for node in nodes}


def test_a_copy_to_another_device_is_between_pieces():
    split = partition(traced(lambda a, b: torch.relu(torch.exp(a).to(SECOND)) * b + 1,
                             FIRST, SECOND))
    assert [devices_of(piece) for piece in split.pieces] == [{FIRST}, {SECOND}]
    assert "tensors on cuda:0 and cuda:1" in split.left.values()


@pytest.mark.parametrize("made", [
    lambda x: torch.zeros_like(x, device=SECOND),
    lambda x: torch.full_like(x, 2.0, device=SECOND),
    lambda x: x.new_ones(x.shape, device=SECOND)])
def test_a_tensor_that_is_made_on_another_device_is_left(made):
    split = partition(traced(lambda a: made(torch.exp(a)) * 2 + 1, FIRST))
    assert all(len(devices_of(piece)) == 1 for piece in split.pieces)
    assert "tensors on cuda:0 and cuda:1" in split.left.values()


def test_parts_on_two_devices_are_two_pieces():
    split = partition(traced(lambda a, b: (torch.exp(a) * 2, torch.exp(b) * 2), FIRST, SECOND))
    assert [devices_of(piece) for piece in split.pieces] == [{FIRST}, {SECOND}]


def test_a_counter_joins_a_piece_of_its_own_device():
    def function(a, b):
        count = torch.ones((), device=SECOND) + 1
        return torch.exp(a) * 2, count, torch.exp(b) * 2
    split = partition(traced(function, FIRST, SECOND))
    assert all(len(devices_of(piece)) == 1 for piece in split.pieces)


def convolved(tail):
    """The pieces of a convolution with a bias and a tail, and the convolution that is left."""
    def function(x):
        weight, bias = torch.empty(6, 3, 3, 3, device=FIRST), torch.empty(6, device=FIRST)
        return tail(torch.nn.functional.conv2d(x, weight, bias, padding=1))
    with FakeTensorMode():
        graph = make_fx(function)(torch.empty(2, 3, 4, 5, device=FIRST))
    split = partition(graph)
    (left,) = [node for node in split.left if "convolution" in str(node.target)]
    return split.pieces, left


def test_the_bias_of_a_convolution_is_added_by_the_piece_behind_it():
    (piece,), convolution = convolved(lambda x: torch.relu(x) * 2)
    assert convolution.args[2] is None
    assert "aten.add.Tensor" in [str(node.target) for node in piece.nodes]


@pytest.mark.parametrize("tail", [
    lambda x: x,
    lambda x: (torch.relu(x) * 2, x),
    lambda x: (torch.relu(x) * 2, x.flatten(1)),
    lambda x: (torch.relu(x), torch.linalg.svd(x)[1])])
def test_a_convolution_that_others_read_too_keeps_its_bias(tail):
    _, convolution = convolved(tail)
    assert convolution.args[2] is not None


@pytest.mark.parametrize("empty, others", [
    (lambda: torch.empty(0, device=FIRST), 1),          # of another rank, as PyTorch allows
    (lambda: torch.empty(4, 0, device=FIRST), 1),
    (lambda: torch.empty(4, 0, device=FIRST), 2)])
def test_a_concatenation_without_empty_parts_is_taken(empty, others):
    split = partition(traced(lambda a: torch.cat([empty(), *[torch.exp(a)] * others], -1) * 2,
                             FIRST))
    (piece,) = split.pieces
    assert not split.left
    (cat,) = [node for node in piece.nodes if node.target is torch.ops.aten.cat.default]
    assert len(cat.args[0]) == others and cat.meta["val"].shape == (4, 8 * others)


def test_a_concatenation_of_empty_parts_alone_stays():
    split = partition(traced(lambda a: (torch.cat([torch.empty(4, 0, device=FIRST)] * 2, 1),
                                        torch.exp(a)), FIRST))
    (cat,) = [node for node in split.left if node.target is torch.ops.aten.cat.default]
    assert len(split.pieces) == 1 and len(cat.args[0]) == 2


def test_an_empty_part_may_decide_the_type():
    split = partition(traced(
        lambda a: torch.cat([torch.empty(4, 0, device=FIRST, dtype=torch.float64),
                             torch.exp(a)], 1), FIRST))
    (cat,) = [node for node in split.left if node.target is torch.ops.aten.cat.default]
    assert len(cat.args[0]) == 2


def test_an_empty_part_may_decide_the_order_in_memory():
    def function(a):
        image = torch.exp(a).view(1, 2, 4, 4).to(memory_format=torch.channels_last)
        return torch.cat([torch.empty(0, device=FIRST), image], 1)
    split = partition(traced(function, FIRST))
    nodes = [node for piece in split.pieces for node in piece.nodes] + list(split.left)
    (cat,) = [node for node in nodes if node.target is torch.ops.aten.cat.default]
    assert len(cat.args[0]) == 2


def test_the_last_step_of_a_result_is_in_the_piece_that_makes_it():
    def function(x):
        scale = torch.exp(x).sum(-1, keepdim=True)
        order = torch.sort(x / scale).values  # left
        late = torch.sort(torch.relu(order)).values  # left
        return torch.tanh(late), (scale / 8).reshape(-1) * 2
    split = partition(traced(function, FIRST))
    assert [len(piece.outputs) for piece in split.pieces] == [2, 1, 1]


def test_a_part_that_waits_for_an_operator_left_is_a_piece_of_its_own():
    def function(x):
        made = torch.exp(x)
        return made * 2, torch.relu(torch.sort(made).values)
    split = partition(traced(function, FIRST))
    assert len(split.pieces) == 2


def test_a_part_joins_two_that_have_become_one():
    def function(x):
        scale = torch.exp(x).sum(-1, keepdim=True)
        order = torch.sort(x / scale).values  # left
        late = torch.sort(torch.relu(order)).values  # left
        first = (scale / 8).reshape(-1) * 2
        return torch.tanh(late), first, torch.cat([first, (scale + 1).reshape(-1)])
    split = partition(traced(function, FIRST))
    assert len(split.pieces) == 3


def test_transposes_of_transposes_are_dropped():
    module = traced(lambda x: torch.relu(x).t().t(), FIRST)
    drop_double_transposes(module.graph)
    module.graph.eliminate_dead_code()
    assert [str(node.target) for node in module.graph.nodes
            if node.op == "call_function"] == ["aten.relu.default"]
