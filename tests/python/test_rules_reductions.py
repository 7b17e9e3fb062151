# SPDX-License-Identifier: Apache-2.0
"""Rules of reductions and scans: element types, scalars, lists of dims, NaN and ties."""
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from one_operator import check  # noqa: E402

aten = torch.ops.aten
F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
I64, I32, BOOL = torch.int64, torch.int32, torch.bool
FLOATS, TYPES = (F32, BF16, F16), (F32, BF16, F16, I64, I32, BOOL)
NAN, INF = math.nan, math.inf

TIES = torch.tensor([[1.0, 3, 3, -2], [NAN, 1, NAN, 2], [INF, INF, -INF, 0], [-INF] * 4])


def tensors(dtype):
    """A cube, rows with ties and NaN or integers, and scalars."""
    torch.manual_seed(0)
    rows = TIES if dtype.is_floating_point else torch.tensor([[1, 3, 3, -2], [0, 0, 0, 0]])
    return [(torch.randn(2, 3, 4) * 3).to(dtype), rows.to(dtype), torch.tensor(2.5).to(dtype),
            torch.tensor(0.0).to(dtype)]


def dims_of(x, lists: bool):
    """Dims as PyTorch takes them, of which some count from the end."""
    dims = [0, -1]
    if not lists:
        return dims
    several = [[0, 1], [-1, 0]] if x.dim() > 1 else []
    return [[dim] for dim in dims] + several + [[]]


@pytest.mark.parametrize("name", "sum mean amax amin logsumexp var std any all".split())
def test_over_lists_of_dims(name):
    overload = {"sum": aten.sum.dim_IntList, "mean": aten.mean.dim, "var": aten.var.correction,
                "std": aten.std.correction, "any": aten.any.dims, "all": aten.all.dims}.get(
                    name) or getattr(aten, name).default
    taken = 0
    for dtype in TYPES:
        for x in tensors(dtype):
            for dim in dims_of(x, True):
                for keepdim in (False, True):
                    taken += check(overload, x, dim, keepdim=keepdim)
    assert taken


@pytest.mark.parametrize("name", "sum mean prod max min any all argmax argmin count_nonzero nansum"
                                 .split())
def test_over_everything(name):
    taken = 0
    for dtype in TYPES:
        for x in tensors(dtype):
            taken += check(getattr(aten, name).default, x)
    assert taken


@pytest.mark.parametrize("name", "any all argmax argmin prod".split())
def test_over_one_dim(name):
    overload = {"any": aten.any.dim, "all": aten.all.dim, "prod": aten.prod.dim_int}.get(
        name) or getattr(aten, name).default
    for dtype in TYPES:
        for x in tensors(dtype):
            for dim in dims_of(x, False):
                for keepdim in (False, True):
                    check(overload, x, dim, keepdim)
    assert check(aten.argmax.default, tensors(F32)[0], None, True)
    assert check(aten.argmin.default, tensors(F32)[2], None, True)


@pytest.mark.parametrize("overload", [aten.max.dim, aten.min.dim], ids=str)
def test_extremes_with_their_places(overload):
    """The first of equal values, and the first NaN."""
    for dtype in TYPES:
        for x in tensors(dtype):
            for keepdim in (False, True):
                assert check(overload, x, -1, keepdim, takes=(0, 1))


def test_aminmax():
    for dtype in TYPES:
        for x in tensors(dtype):
            assert check(aten.aminmax.default, x, takes=(0, 1))
            assert check(aten.aminmax.default, x, dim=-1, keepdim=True, takes=(0, 1))


def test_of_other_types():
    """The operand is brought to the type of the result first."""
    x, _, scalar, _ = tensors(F32)
    for dtype in (BF16, F16, I64):
        assert check(aten.sum.dim_IntList, x, [1], dtype=dtype)
        assert check(aten.sum.dim_IntList, scalar, [], dtype=dtype)
        assert dtype == I64 or check(aten.nansum.default, x, [1], dtype=dtype)
    for dtype in (BF16, I64, BOOL):
        y = x.to(dtype)
        assert check(aten.mean.dim, y, [0], dtype=F32) and check(aten.sum.default, y, dtype=F32)
        assert check(aten.prod.dim_int, y, 1, dtype=F32)
        assert check(aten.cumsum.default, y, 1, dtype=F32)
        assert check(aten.cumprod.default, y, 1, dtype=F32)
    assert check(aten.linalg_vector_norm.default, x.bfloat16(), 2, [1], dtype=F32)
    assert check(aten.norm.ScalarOpt_dim_dtype, x.bfloat16(), 2, [1], True, dtype=F32)
    assert check(aten.norm.ScalarOpt_dtype, x.bfloat16(), 3, dtype=F32)
    assert check(aten._softmax.default, x, 1, False)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, -1, -2.5, INF, -INF])
def test_norms(order):
    for dtype in FLOATS:
        for x in tensors(dtype)[::2] + [torch.tensor([[3.0, NAN], [INF, 1.0]], dtype=dtype)]:
            for dim in [None] + dims_of(x, True):
                assert check(aten.linalg_vector_norm.default, x, order, dim)
                assert check(aten.linalg_vector_norm.default, x, order, dim, True)
            assert check(aten.norm.ScalarOpt_dim, x, order, [-1], True)
            if x.dim():
                assert check(aten.dist.default, x, x[:1] * 0.5, order)
    assert check(aten.norm.Scalar, tensors(F32)[0], order)
    assert check(aten.norm.ScalarOpt_dim, tensors(F32)[0], None, [0])


@pytest.mark.parametrize("correction", [None, 0, 1, 2, 0.5, 100])
def test_spread(correction):
    for overload in (aten.var.correction, aten.std.correction):
        for x in tensors(F32) + tensors(BF16):
            assert check(overload, x, correction=correction)
            assert check(overload, x, [-1], correction=correction, keepdim=True)
    for overload in (aten.var_mean.correction, aten.std_mean.correction):
        for x in (tensors(F32)[0], tensors(F32)[2]):
            assert check(overload, x, [0], correction=correction, keepdim=True, takes=(0, 1))
            assert check(overload, x, correction=correction, takes=(0, 1))


def test_count_nonzero_of_dims():
    for dtype in TYPES:
        assert check(aten.count_nonzero.dim_IntList, tensors(dtype)[0], [0, -1])
    assert check(aten.count_nonzero.dim_IntList, tensors(F32)[1], [])


@pytest.mark.parametrize("name", "_softmax _log_softmax _safe_softmax cumsum cumprod".split())
def test_along_a_dim(name):
    overload = getattr(aten, name).default
    more = (False,) if name in ("_softmax", "_log_softmax") else ()
    taken = 0
    for dtype in TYPES:
        for x in tensors(dtype) + ([torch.tensor(v, dtype=dtype) for v in (NAN, INF, -INF)]
                                   if dtype.is_floating_point else []):
            for dim in dims_of(x, False):
                taken += check(overload, x, dim, *more)
    assert taken


def test_safe_softmax_of_another_type():
    for dtype in (BF16, F16):
        x = torch.tensor([[-INF, -INF], [1.0, -INF], [NAN, -INF]], dtype=dtype)
        assert check(aten._safe_softmax.default, x, -1, F32)
        assert check(aten._safe_softmax.default, x, 0)
