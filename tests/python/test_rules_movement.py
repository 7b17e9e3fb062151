# SPDX-License-Identifier: Apache-2.0
"""Rules of operators that move, make and pick elements: equal values and signs of zero, of every
element type."""
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from one_operator import by_rule, check, differs, refused  # noqa: E402

aten = torch.ops.aten
F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
I64, I32, BOOL = torch.int64, torch.int32, torch.bool
TYPES = (F32, BF16, F16, I64, I32, BOOL)
CUBE = torch.randn(3, 4, 5) * 3
CUBE[:, ::2, 1], CUBE[:, ::2, 4] = 0.0, -0.0
SCALAR = torch.tensor(2.5)


def exactly(overload, *args, **named):
    assert check(overload, *args, tolerance=0, **named)


def test_signs_of_zero_are_compared():
    zeros = torch.zeros(3)
    assert differs(zeros, -zeros, 0) and not differs(zeros, zeros, 0)
    assert torch.signbit(CUBE[CUBE == 0]).unique().numel() == 2


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_moves(dtype):
    x = CUBE.to(dtype)
    exactly(aten.view.default, x, [12, 5])
    exactly(aten.permute.default, x, [-1, 0, 1])
    exactly(aten.transpose.int, x, 0, -1)
    exactly(aten.expand.default, x[:, :1], [2, 3, -1, 5])
    exactly(aten.flip.default, x, [0, -1])
    exactly(aten.repeat.default, x, [2, 1, 3, 2])
    exactly(aten.slice.Tensor, x, -1, 1, 9, 2)
    exactly(aten.slice.Tensor, x, 0, -2)
    exactly(aten.select.int, x, -2, -1)
    exactly(aten.roll.default, x, [1, -2], [0, -1])
    exactly(aten.roll.default, x, [7], [1])
    exactly(aten.roll.default, x, [-13])
    exactly(aten.unfold.default, x, -1, 3, 2)
    exactly(aten.unfold.default, x, 0, 2, 1)
    exactly(aten.pixel_shuffle.default, x.reshape(1, 12, 1, 5), 2)
    exactly(aten.pixel_unshuffle.default, CUBE[:, :, :4].contiguous().to(dtype), 2)
    for overload in (aten.clone.default, aten.alias.default, aten.detach.default,
                     aten.contiguous.default, aten.lift_fresh_copy.default):
        exactly(overload, x)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_joins(dtype):
    x, part = CUBE.to(dtype), (-CUBE).round().to(dtype)
    exactly(aten.cat.default, [x, part[:, :1], x], 1)
    exactly(aten.cat.default, [x, CUBE.half(), CUBE > 0], 0)
    exactly(aten.stack.default, [x, part], -1)
    exactly(aten.slice_scatter.default, x, part[:, 1:3], 1, 1, 3)
    exactly(aten.slice_scatter.default, x, part[:, :, 3:], -1, -2)
    exactly(aten.slice_scatter.default, x, CUBE[:, :, :2], 2, 1, 5, 2)
    exactly(aten.slice_scatter.default, x, part[:, :, :2], 2, 0, 4, 3)
    exactly(aten.slice_scatter.default, x, part, 0)
    exactly(aten.select_scatter.default, x, CUBE[:, 2], 1, -1)
    exactly(aten.select_scatter.default, x, part[0], 0, 0)
    exactly(aten.select_scatter.default, x[:1], part[0], 0, 0)
    exactly(aten.copy.default, x, CUBE[:1, :, :1])
    for overload, sizes in ((aten.unsafe_split.Tensor, 2), (aten.split.Tensor, 2),
                            (aten.unsafe_split_with_sizes.default, [1, 3]),
                            (aten.split_with_sizes.default, [1, 3])):
        assert check(overload, x, sizes, 1, takes=(0, 1), tolerance=0)
    assert check(aten.unbind.int, x, 1, takes=(0, 3), tolerance=0)


@pytest.mark.parametrize("padding", [[1, 2], [0, 3, 2, 0], [1, 1, 2, 2, 3, 0], [-1, 2], [-1, -2],
                                     [2, -1, -1, 0], [0, 0]])
def test_constant_pad(padding):
    for dtype in TYPES:
        for value in (0, 2, 0.1, -math.inf, math.nan, True):
            if dtype.is_floating_point or math.isfinite(value):
                check(aten.constant_pad_nd.default, CUBE.to(dtype), padding, value, tolerance=0)
    exactly(aten.constant_pad_nd.default, CUBE, padding)


@pytest.mark.parametrize("kind", ["replication", "reflection"])
def test_padding_by_elements(kind):
    for dims, padding in ((1, [2, 3]), (2, [1, 0, 3, 2]), (3, [1, 2, 3, 0, 1, 2])):
        x = torch.randn([2] + [4, 5, 6][:dims])
        overload = getattr(aten, f"{kind}_pad{dims}d").default
        exactly(overload, x, padding)
        exactly(overload, x[None].bfloat16(), padding)
    exactly(aten.replication_pad1d.default, CUBE[0], [-1, 2])


@pytest.mark.parametrize("diagonal", [0, 1, -1, 2, -3, 9, -9, 2**63 - 1, -2**63])
def test_triangles(diagonal):
    for dtype in TYPES:
        for overload in (aten.triu.default, aten.tril.default):
            exactly(overload, CUBE.to(dtype), diagonal)
    exactly(aten.tril.default, torch.full((3, 3), math.nan), diagonal)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_made_of_numbers(dtype):
    x = CUBE.to(dtype)
    for value in (0.1, 2, True, 1e4, math.inf):
        if dtype.is_floating_point or math.isfinite(value):
            exactly(aten.full.default, [2, 3], value, dtype=dtype)
            exactly(aten.full.default, [], value, dtype=dtype)
            exactly(aten.new_full.default, CUBE, [2], value, dtype=dtype)
            exactly(aten.scalar_tensor.default, value, dtype=dtype)
            check(aten.full_like.default, x, value, tolerance=0)
            check(aten.fill.Scalar, x, value, tolerance=0)
    exactly(aten.fill.Tensor, x, torch.tensor(0.7))
    for name in ("ones", "zeros"):
        exactly(getattr(aten, name).default, [2, 3], dtype=dtype)
        exactly(getattr(aten, f"{name}_like").default, x)
        exactly(getattr(aten, f"new_{name}").default, CUBE, [4], dtype=dtype)
    exactly(aten.eye.default, 3, dtype=dtype)
    exactly(aten.eye.m, 2, 4, dtype=dtype)
    exactly(aten._to_copy.default, CUBE, dtype=dtype)
    exactly(aten._to_copy.default, x, dtype=F32)
    if dtype != BOOL:
        exactly(aten.arange.default, 7, dtype=dtype)
        exactly(aten.arange.start, 2, 9, dtype=dtype)
        exactly(aten.arange.start_step, 9, 2, -2, dtype=dtype)
        exactly(aten.arange.start_step, 0.5, 7, 1.25, dtype=dtype)


def test_uninitialised_memory():
    """Its elements are any; its type and shape are eager's."""
    for overload, args in ((aten.empty.memory_format, ([2, 3],)),
                           (aten.empty_like.default, (CUBE,)),
                           (aten.new_empty.default, (CUBE, [3]))):
        wanted = overload(*args, dtype=BF16)
        result, = by_rule(overload, args, {"dtype": BF16}, wanted)
        assert result.dtype == wanted.dtype and result.shape == wanted.shape


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_picks(dtype):
    x = CUBE.to(dtype)
    some = torch.tensor([3, 0, 0, 2])
    for index in (some, some.int(), torch.tensor(1)):
        exactly(aten.index_select.default, x, 1, index)
        exactly(aten.index_select.default, x, -2, index)
    exactly(aten.gather.default, x, -1, torch.randint(0, 5, (3, 4, 7)))
    exactly(aten.gather.default, x, 1, torch.randint(0, 4, (2, 6, 3)))
    exactly(aten.scatter.value, x, 1, torch.randint(0, 4, (3, 1, 5)), 1)
    exactly(aten.scatter.src, x, -1, torch.randint(0, 5, (3, 4, 1)), x[:, :, 1:2])
    exactly(aten.embedding.default, x[0], some)
    exactly(aten.embedding.default, x[0], torch.tensor(2))
    exactly(aten.embedding.default, x[0], torch.randint(0, 4, (2, 3), dtype=I32))


@pytest.mark.parametrize("overload", [aten.index.Tensor, aten._unsafe_index.Tensor], ids=str)
def test_index(overload):
    """Of one tensor, and of several for adjacent dims; indices below 0 count from the end."""
    first, second = torch.tensor([2, -1, 0]), torch.tensor([[1], [-4]])
    for dtype in TYPES:
        x = CUBE.to(dtype)
        for indices in ([first], [None, second], [None, None, first.int()], [first, second],
                        [None, second, first], [first, second, first], [torch.tensor(-1)]):
            exactly(overload, x, indices)
    assert "adjacent" in refused(overload, CUBE, [first, None, first])
    if overload is aten.index.Tensor:
        assert "bool" in refused(overload, CUBE, [torch.tensor([True, False, True])])


def test_views_by_strides():
    exactly(aten.as_strided.default, CUBE, [5, 12], [1, 5])
    exactly(aten.as_strided.default, CUBE, [3, 1, 20], [20, 7, 1])
    for size, stride in (([2, 3], [1, 1]), ([3, 4, 4], [20, 5, 1]), ([4, 5], [5, 1])):
        assert "strides" in refused(aten.as_strided.default, CUBE, size, stride)
    assert "strides" in refused(aten.as_strided.default, CUBE[1:], [8, 5], [5, 1])


def test_scalars():
    exactly(aten.roll.default, SCALAR, [1])
    exactly(aten.permute.default, SCALAR, [])
    exactly(aten.transpose.int, SCALAR, 0, -1)
    exactly(aten.t.default, SCALAR)
    exactly(aten.t.default, CUBE[0])
    exactly(aten.expand.default, SCALAR, [2, 3])
    exactly(aten.repeat.default, SCALAR, [2])
    exactly(aten.squeeze.default, CUBE[:1, :1])
    exactly(aten.squeeze.dim, CUBE[:, :1], -2)
    exactly(aten.squeeze.dims, CUBE[:1, :1], [0, 1])
    exactly(aten.unsqueeze.default, SCALAR, -1)
    exactly(aten.constant_pad_nd.default, SCALAR, [])
    exactly(aten._unsafe_view.default, CUBE, [60])
    exactly(aten.reshape.default, CUBE, [60])


def test_several_elements_of_a_scatter_stay_with_eager():
    several, fewer = torch.randint(0, 4, (3, 2, 5)), torch.randint(0, 4, (2, 1, 5))
    for index in (several, fewer):
        assert "several elements" in refused(aten.scatter.value, CUBE, 1, index, 0.0)
