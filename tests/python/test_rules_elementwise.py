# SPDX-License-Identifier: Apache-2.0
"""Rules of elementwise operators: element types, NaN and infinities, numbers beside tensors."""
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from one_operator import check, refused  # noqa: E402

aten = torch.ops.aten
F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
I64, I32, BOOL = torch.int64, torch.int32, torch.bool
FLOATS, TYPES = (F32, BF16, F16), (F32, BF16, F16, I64, I32, BOOL)
NAN, INF = math.nan, math.inf

SPECIAL = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 0.3, -1.75, 2.5, 1e-3, 9.0, -9.0, 0.5, -0.5])
POSITIVE = torch.tensor([0.25, 0.5, 1.0, 1.5, 3.0, 7.0])
INTEGERS = torch.tensor([0, 1, -1, 2, -7, 9, 5])


def values(dtype):
    """Values of a type, of which some are special."""
    if dtype.is_floating_point:
        return SPECIAL.to(dtype)
    return INTEGERS.to(dtype)


def pairs(dtype, other):
    """Every value of one type beside every one of another."""
    return values(dtype)[:, None], values(other)[None, :]


UNARY = """
    abs neg exp expm1 log log1p sqrt rsqrt reciprocal sin cos tanh erf sigmoid floor ceil round
    trunc frac sign sgn exp2 log2 log10 isnan isinf isposinf isneginf logical_not relu silu mish
    hardswish hardsigmoid hardtanh nan_to_num logit softshrink hardshrink elu celu softplus
    leaky_relu deg2rad rad2deg special_entr sinc tan atan""".split()
# C leaves these functions open at an infinity; PyTorch's own differ between CPU and GPU.
FINITE = {"sin", "cos", "sinc", "mish", "gelu", "tan"}


@pytest.mark.parametrize("name", UNARY)
def test_of_one_operand(name):
    overload = getattr(aten, name).default
    taken = 0
    for dtype in TYPES:
        x = values(dtype)
        x = x[x.isfinite()] if name in FINITE else x
        taken += check(overload, x) + check(overload, x[-1])
    assert taken


@pytest.mark.parametrize("eps", [0.0, 1e-6, 0.3, 0.6, 0.7, 1.0, NAN])
def test_logit(eps):
    for dtype in FLOATS:
        assert check(aten.logit.default, torch.cat([values(dtype), torch.linspace(
            0, 1, 11).to(dtype)]), eps)


def test_gelu():
    for dtype in FLOATS:
        for form in ("none", "tanh"):
            check(aten.gelu.default, values(dtype)[3:], approximate=form)
    assert check(aten.log_sigmoid_forward.default, values(F32), takes=(0,))


BINARY = [aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.maximum.default,
          aten.minimum.default, aten.rsub.Tensor, aten.eq.Tensor, aten.ne.Tensor, aten.lt.Tensor,
          aten.le.Tensor, aten.gt.Tensor, aten.ge.Tensor, aten.logical_and.default,
          aten.logical_or.default, aten.logical_xor.default, aten.clamp_min.Tensor,
          aten.clamp_max.Tensor, aten.fmax.default, aten.fmin.default]


@pytest.mark.parametrize("overload", BINARY, ids=str)
def test_of_two_operands(overload):
    """Each type beside each other, and beside scalars, which do not widen the type."""
    taken = 0
    for dtype in (F32, BF16, I64, BOOL):
        for other in (F32, F16, I64, I32, BOOL):
            a, b = pairs(dtype, other)
            taken += check(overload, a, b)
        taken += check(overload, values(dtype), torch.tensor(2.0))
        taken += check(overload, values(dtype), torch.tensor(3))
    assert taken


FLOATING = [aten.logaddexp.default, aten.logaddexp2.default, aten.xlogy.Tensor, aten.hypot.default,
            aten.heaviside.default]


@pytest.mark.parametrize("overload", FLOATING, ids=str)
def test_of_two_floats(overload):
    for dtype in FLOATS:
        a, b = pairs(dtype, dtype)
        assert check(overload, a, b)
    if overload is aten.xlogy.Tensor:
        assert check(overload, *pairs(I64, F32)) and check(overload, *pairs(I64, I64))


NUMBERS = (2, -3, 0.1, 2.5, True, 1e6, NAN, INF)


@pytest.mark.parametrize("name", "add sub rsub mul div eq ne lt le gt ge xlogy".split())
def test_beside_numbers(name):
    """Comparisons are of rounded numbers, arithmetic is of exact ones: of sums of f16 PyTorch's CPU
    kernel rounds them, its CUDA kernel does not."""
    overload = aten.xlogy.Scalar_Other if name == "xlogy" else getattr(aten, name).Scalar
    taken = 0
    for dtype in TYPES:
        for number in NUMBERS:
            x = values(dtype)
            x = x[x.isfinite()] if dtype == F16 and number == 1e6 else x
            taken += check(overload, x, number)
    assert taken > 20


@pytest.mark.parametrize("name", "eq ne lt le gt ge".split())
def test_comparison_with_numbers_beyond_the_type(name):
    overload = getattr(aten, name).Scalar
    for dtype, numbers in {BF16: (0.1, 1e39, 257), F16: (0.1, 65510, 65530, 1e6, -1e6),
                           F32: (0.1, 1e300, 2**24 + 1), I64: (0.5, float(2**40 + 1), -1.5),
                           I32: (2**40, 2**31), BOOL: (2, 0.5)}.items():
        for number in numbers:
            near = torch.tensor([number, NAN, INF, -INF, 0.0, 65504.0]).to(dtype)
            assert check(overload, near, number), (dtype, number)


def test_scalar_forms():
    assert check(aten.xlogy.Scalar_Self, 2.0, POSITIVE)
    assert check(aten.pow.Scalar, 2.0, SPECIAL[5:]) and check(aten.pow.Scalar, 0.3, POSITIVE.half())
    assert check(aten.add.Tensor, INTEGERS, INTEGERS, alpha=3)
    assert check(aten.add.Tensor, SPECIAL, SPECIAL, alpha=0.5)
    assert check(aten.sub.Tensor, INTEGERS, 2, alpha=3)
    assert check(aten.add.Tensor, torch.tensor(3), 1)  # a counter
    assert check(aten.bitwise_and.Tensor, INTEGERS > 0, INTEGERS > 1)
    assert check(aten.bitwise_or.Tensor, INTEGERS > 0, INTEGERS > 1)
    assert check(aten.bitwise_xor.Tensor, INTEGERS > 0, INTEGERS > 1)
    for form in (aten.bitwise_and, aten.bitwise_or, aten.bitwise_xor):
        assert check(form.Scalar, INTEGERS > 0, True)
        assert "bits of integers" in refused(form.Tensor, INTEGERS, INTEGERS)
        assert "bits of integers" in refused(form.Scalar, INTEGERS, 3)
    assert check(aten.bitwise_not.default, INTEGERS > 0)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, -1, -2, 0.5, -0.5, 0.3, 2.5, -3, NAN, INF])
def test_pow(exponent):
    taken = 0
    for dtype in TYPES:
        x = values(dtype)
        # Roots of f16 are powers on the CPU and roots on a GPU, which differ at -Inf and -0.0.
        x = x[5:] if dtype == F16 and abs(exponent) == 0.5 else x
        taken += check(aten.pow.Tensor_Scalar, x, exponent)
    assert taken >= 3
    assert check(aten.pow.Tensor_Tensor, SPECIAL[:, None], SPECIAL[None])


def test_pow_of_halves():
    """The exponent is rounded, as PyTorch's is."""
    for dtype in (BF16, F16):
        x = torch.tensor([1000.0, 3e4, 1e-3]).to(dtype)
        assert check(aten.pow.Tensor_Scalar, x, 0.3)


@pytest.mark.parametrize("number", [1, 3, -3, 4, -1])
def test_division_of_integers(number):
    x = torch.arange(-9, 10)
    for dtype in (I64, I32):
        assert check(aten.floor_divide.default, x.to(dtype), number)
        assert check(aten.floor_divide.Scalar, x.to(dtype), number)
        assert check(aten.remainder.Scalar, x.to(dtype), number)
        assert check(aten.fmod.Scalar, x.to(dtype), number)
        for mode in ("floor", "trunc", None):
            assert check(aten.div.Tensor_mode, x.to(dtype), number, rounding_mode=mode)
            assert check(aten.div.Scalar_mode, x.to(dtype), number, rounding_mode=mode)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_of_floats(name):
    overloads = getattr(aten, name)
    for dtype in FLOATS:
        for other in (F32, BF16, F16, I64):
            assert check(overloads.Tensor, *pairs(dtype, other))
        for number in (0.3, -0.3, 2, -2, 1e-3, 0.0, INF, -INF, NAN):
            assert check(overloads.Scalar, values(dtype), number)
    assert check(overloads.Scalar, values(I64), 0.75)
    # The divisor rounded to the type leaves another remainder.
    large = torch.tensor([1000.0, -777.0, 12.5])
    assert all(check(overloads.Scalar, large.to(dtype), 0.1) for dtype in FLOATS)


def test_a_number_by_a_tensor_leaves_a_remainder():
    for dtype in FLOATS:
        for number in (7.3, -7.3, 2):
            assert check(aten.remainder.Scalar_Tensor, number, values(dtype))


def test_division_that_is_refused():
    x = torch.arange(1, 5)
    for overload in (aten.floor_divide.default, aten.remainder.Tensor, aten.fmod.Tensor):
        assert "may be zero" in refused(overload, x, x)
    assert "may be zero" in refused(aten.remainder.Scalar_Tensor, 7, x)
    assert "to whole numbers" in refused(aten.floor_divide.default, x * 0.5, x)


BOUNDS = [(None, 0.2), (-0.3, None), (-0.3, 0.2), (0.2, -0.3), (None, NAN), (NAN, None),
          (NAN, 1.0), (0.0, NAN), (-INF, INF), (1, 3), (0.1, 0.1)]


@pytest.mark.parametrize("low, high", BOUNDS)
def test_clamp(low, high):
    for dtype in (F32, BF16, F16, I64, I32):
        x = values(dtype)
        assert check(aten.clamp.default, x, low, high)
        if low is not None:
            assert check(aten.clamp_min.default, x, low)
        if high is not None:
            assert check(aten.clamp_max.default, x, high)
        if low is not None and high is not None:
            check(aten.hardtanh.default, x, low, high)


def test_clamp_by_tensors():
    bounds = torch.tensor([NAN, 0.1, INF])[:, None]
    for dtype in (F32, BF16, I64):
        assert check(aten.clamp.Tensor, values(dtype), bounds, bounds + 1)
        assert check(aten.clamp.Tensor, values(dtype), None, bounds)
        assert check(aten.clamp.Tensor, values(dtype), torch.tensor(1), torch.tensor(4))


def test_choices():
    condition = torch.tensor([True, False])[:, None]
    for dtype in TYPES:
        x = values(dtype)
        assert check(aten.where.self, condition, x, x.flip(0))
        assert check(aten.where.self, condition, x, torch.tensor(2.5))
        for value in (0.1, 2, True, -INF):
            check(aten.masked_fill.Scalar, x, condition, value)
        check(aten.masked_fill.Tensor, x, condition, torch.tensor(0.7))
    assert check(aten.where.self, condition, values(I64), values(BF16)[:7])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_activations_with_numbers(dtype):
    x = values(dtype)
    assert check(aten.elu.default, x, 0.7, 1.1, 0.4) and check(aten.elu.default, x, 0.3)
    assert check(aten.celu.default, x, 0.5) and check(aten.leaky_relu.default, x, 0.3)
    assert check(aten.threshold.default, x, 0.4, 20.1)
    assert check(aten.softplus.default, x, 0.5, 3)
    assert check(aten.hardshrink.default, x, 0.3) and check(aten.softshrink.default, x, 0.25)
    assert check(aten.logit.default, x, 0.1)
    assert check(aten.nan_to_num.default, x, 0.1, 5.0, -1e39)
    assert check(aten._prelu_kernel.default, x, x.flip(0))
    assert check(aten.lerp.Scalar, x, x.flip(0), 0.3) and check(aten.lerp.Scalar, x, x.flip(0), 0.7)
    assert check(aten.lerp.Tensor, x, x.flip(0), x * 0.5)
    assert check(aten.addcmul.default, x, x.flip(0), x, value=0.5)
    assert check(aten.addcdiv.default, x, x.flip(0), x[5:6], value=2)
    assert check(aten.glu.default, torch.stack([x[1:], x[:-1]]), 0)
    assert check(aten.glu.default, torch.stack([x[1:], x[:-1]], 1), -1)
