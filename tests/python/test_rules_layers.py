# SPDX-License-Identifier: Apache-2.0
"""Rules of layers: norms, losses, products, pooling, cells, attention."""
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from one_operator import by_rule, check, refused  # noqa: E402

F = torch.nn.functional
aten = torch.ops.aten
F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
FLOATS = (F32, BF16, F16)
NAN, INF = math.nan, math.inf


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


# --- norms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rms_norm_without_eps(dtype):
    """Small values, beside which the epsilon of a 16-bit type would be large."""
    x, w = (torch.randn(4, 6) * 1e-3).to(dtype), torch.randn(6).to(dtype)
    for eps, weight in ((None, None), (None, w), (1e-5, w)):
        wanted = F.rms_norm(x, (6,), weight, eps), torch.zeros(4, 1)
        result, = by_rule(aten._fused_rms_norm.default, (x, [6], weight, eps), {}, wanted, (0,))
        torch.testing.assert_close(result, wanted[0])
        assert result.dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_norms(dtype):
    """Weights of x's type, and f32 weights of 16-bit tensors."""
    x = torch.randn(2, 6, 4, 3).to(dtype)
    for of_weights in {dtype, F32}:
        w, b, mean = (torch.randn(6).to(of_weights) for _ in range(3))
        var = torch.rand(6).to(of_weights) + 0.5
        rows = x.permute(0, 2, 3, 1).contiguous()
        assert check(aten.native_layer_norm.default, rows, [6], w, b, 1e-5, takes=(0,))
        assert check(aten.native_group_norm.default, x, w, b, 2, 6, 12, 3, 1e-5, takes=(0,))
        assert check(aten._native_batch_norm_legit_no_training.default, x, w, b, mean, var, 0.1,
                     1e-5, takes=(0,))
        assert check(aten._native_batch_norm_legit.no_stats, x, w, b, True, 0.1, 1e-5, takes=(0,))
        for training in (True, False):
            assert check(aten._native_batch_norm_legit_functional.default, x, w, b, mean, var,
                         training, 0.1, 1e-5, takes=(0, 3, 4))
    assert check(aten.native_layer_norm.default, x, [4, 3], None, None, 1e-5, takes=(0,))


# --- losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_losses(reduction):
    for dtype in FLOATS:
        x, target = torch.randn(3, 4).to(dtype), torch.randn(3, 4).to(dtype)
        for a, b in ((x, target), (x[0, 0], target[0, 0])):
            assert check(aten.mse_loss.default, a, b, reduction)
            assert check(aten.soft_margin_loss.default, a, b, reduction)
            for beta in (0.0, 0.5):
                assert check(aten.smooth_l1_loss.default, a, b, reduction, beta)
            assert check(aten.huber_loss.default, a, b, reduction, 0.7)
            weight = b.abs()
            for more in ((), (weight,), (weight, weight + 1), (None, weight)):
                more = more + (None,) * (2 - len(more))
                assert check(aten.binary_cross_entropy_with_logits.default, a, b, *more, reduction)
    assert check(aten.mse_loss.default, torch.randn(3, 4), torch.randn(4), reduction)
    assert check(aten.mse_loss.default, torch.randn(3), torch.arange(3), reduction)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_binary_cross_entropy(reduction):
    x, target = torch.rand(3, 4), torch.rand(3, 4)
    x[0] = torch.tensor([0.0, 1.0, 1e-45, 0.5])
    target[0, :2] = torch.tensor([1.0, 0.0])
    for dtype in FLOATS:
        a, b = x.to(dtype), target.to(dtype)
        assert check(aten.binary_cross_entropy.default, a, b, None, reduction)
        assert check(aten.binary_cross_entropy.default, a, b, b + 1, reduction)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_nll_loss(reduction):
    takes = (0, 1) if reduction else (0,)
    for dtype in FLOATS:
        x, w = torch.randn(5, 4).to(dtype), torch.rand(4).to(dtype)
        target = torch.tensor([1, -100, 3, 0, 3])
        for weight in (None, w):
            assert check(aten.nll_loss_forward.default, x, target, weight, reduction, -100,
                         takes=takes)
            assert check(aten.nll_loss_forward.default, x, target.clamp(min=0), weight, reduction,
                         3, takes=takes)
            assert check(aten.nll_loss_forward.default, x[0], target[2], weight, reduction, -100,
                         takes=takes)
            image = torch.randn(2, 4, 3, 2).to(dtype)
            assert check(aten.nll_loss2d_forward.default, image, torch.randint(0, 4, (2, 3, 2)),
                         weight, reduction, 1, takes=takes)
    nothing = torch.full((5,), -100)
    assert check(aten.nll_loss_forward.default, torch.randn(5, 4), nothing, None, reduction, -100,
                 takes=takes)


# --- products ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products(dtype):
    def normal(*shape):
        return torch.randn(shape).to(dtype)
    a, b, v = normal(3, 4), normal(4, 5), normal(4)
    assert check(aten.mm.default, a, b) and check(aten.mv.default, a, v)
    assert check(aten.dot.default, v, v.flip(0))
    assert check(aten.bmm.default, normal(2, 3, 4), normal(2, 4, 5))
    assert check(aten.linear.default, normal(2, 3, 4), b.t().contiguous(), normal(5))
    assert check(aten.linear.default, a, b.t().contiguous(), bias=normal(5))
    for beta, alpha in ((1, 1), (0.5, 2), (0, 1)):
        bias = torch.full((5,), NAN).to(dtype) if beta == 0 else normal(5)
        named = {"beta": beta, "alpha": alpha}
        assert check(aten.addmm.default, bias, a, b, **named)
        assert check(aten.baddbmm.default, normal(1, 3, 5), normal(2, 3, 4), normal(2, 4, 5),
                     **named)
        assert check(aten.addbmm.default, bias, normal(2, 3, 4), normal(2, 4, 5), **named)
        assert check(aten.addmv.default, normal(3), a, v, **named)
        assert check(aten.addr.default, normal(3, 4), normal(3), v, **named)
    assert check(aten.dot.default, torch.arange(4), torch.arange(4))


@pytest.mark.parametrize("beta", [0, 0.5])
def test_a_product_that_counts_nothing_is_not_computed(beta):
    a, b, bias = torch.full((64, 64), NAN), torch.ones(64, 64), torch.rand(64, 64)
    named = {"beta": beta, "alpha": 0}
    assert check(aten.addmm.default, bias, a, b, **named)
    assert check(aten.addmm.default, bias[0], a, b, **named)
    assert check(aten.addmv.default, bias[0], a, b[0], **named)
    assert check(aten.baddbmm.default, bias[None], a[None], b[None], **named)
    assert check(aten.addr.default, bias, a[0], b[0], **named)  # eager multiplies


# --- pooling -------------------------------------------------------------------------------------

# kernel, stride, padding, dilation, ceil_mode
WINDOWS = [([2], [], [0], [1], False), ([3], [2], [1], [1], False), ([3], [1], [1], [1], False),
           ([2, 3], [2, 1], [1, 0], [1, 1], False), ([3], [2], [1], [1], True),
           ([2], [3], [0], [1], True), ([2], [2], [0], [1], True), ([3], [2], [1], [2], False),
           ([2], [4], [0], [1], False)]


@pytest.mark.parametrize("kernel, stride, padding, dilation, ceil_mode", WINDOWS)
def test_pooling(kernel, stride, padding, dilation, ceil_mode):
    for dtype in FLOATS + (torch.int64,):
        x = (torch.randn(2, 3, 7, 8) * 4).to(dtype)
        cube = (torch.randn(2, 5, 6, 7) * 4).to(dtype)
        if dtype == F32:
            x[0, 0, 0, 0], x[0, 1] = NAN, -INF
        assert check(aten.max_pool2d_with_indices.default, x, kernel, stride, padding, dilation,
                     ceil_mode, takes=(0,))
        if len(kernel) == 1:
            check(aten.max_pool3d_with_indices.default, cube, kernel, stride, padding, dilation,
                  ceil_mode, takes=(0,))
        if not dtype.is_floating_point or dilation[0] != 1:
            continue
        for count_include_pad in (True, False):
            for divisor in (None, 5):
                assert check(aten.avg_pool2d.default, x, kernel, stride, padding, ceil_mode,
                             count_include_pad, divisor)
        if len(kernel) == 1 and dtype == F32:
            assert check(aten.avg_pool3d.default, cube, kernel, stride, padding, ceil_mode, False)


def test_pooling_that_is_refused():
    x = torch.randn(1, 1, 20, 20)
    assert "overlap" in refused(aten.max_pool2d_with_indices.default, x, [13], [1], takes=(0,))
    assert "result 1" in refused(aten.max_pool2d_with_indices.default, x, [2], takes=(0, 1))
    assert "several sizes" in refused(aten._adaptive_avg_pool2d.default, x, [3, 3])


def test_adaptive_pooling():
    for dtype in FLOATS:
        x = torch.randn(2, 3, 6, 8).to(dtype)
        for size in ([1, 1], [3, 4], [6, 2]):
            assert check(aten._adaptive_avg_pool2d.default, x, size)
            assert check(aten.adaptive_max_pool2d.default, x, size, takes=(0,))


# --- cells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("biased", [True, False])
def test_lstm_cell(biased):
    """Of CUDA tensors only: beside the cell of the CPU."""
    cell = torch.nn.LSTMCell(5, 4, bias=biased).requires_grad_(False)
    x, h, c = torch.randn(3, 5), torch.randn(3, 4), torch.randn(3, 4)
    wanted = (*cell(x, (h, c)), torch.zeros(3, 16))
    gates = x @ cell.weight_ih.t(), h @ cell.weight_hh.t()
    biases = (cell.bias_ih, cell.bias_hh) if biased else ()
    got = by_rule(aten._thnn_fused_lstm_cell.default, (*gates, c, *biases), {}, wanted, (0, 1))
    for result, exact in zip(got, wanted):
        torch.testing.assert_close(result, exact)


@pytest.mark.parametrize("biased", [True, False])
def test_gru_cell(biased):
    cell = torch.nn.GRUCell(5, 4, bias=biased).requires_grad_(False)
    x, h = torch.randn(3, 5), torch.randn(3, 4)
    wanted = (cell(x, h), torch.zeros(3, 20))
    gates = x @ cell.weight_ih.t(), h @ cell.weight_hh.t()
    biases = (cell.bias_ih, cell.bias_hh) if biased else ()
    result, = by_rule(aten._thnn_fused_gru_cell.default, (*gates, h, *biases), {}, wanted, (0,))
    torch.testing.assert_close(result, wanted[0])


# --- attention -----------------------------------------------------------------------------------


def fused_attentions(q, k, v):
    """Operands of each fused operator, and where a mask or bias goes; none: it takes none."""
    return [(aten._scaled_dot_product_flash_attention_for_cpu.default, (q, k, v, 0.0), "attn_mask"),
            (aten._scaled_dot_product_flash_attention.default, (q, k, v, 0.0), None),
            (aten._scaled_dot_product_efficient_attention.default, (q, k, v, None, False, 0.0), 3),
            (aten._scaled_dot_product_cudnn_attention.default, (q, k, v, None, False, 0.0), 3),
            (aten._scaled_dot_product_fused_attention_overrideable.default, (q, k, v, None, 0.0),
             3)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_fused_attention(is_causal, scale, dtype):
    q, k, v = (torch.randn(2, 4, 6, 8, dtype=dtype) for _ in range(3))
    wanted = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), scale=scale,
                                            is_causal=is_causal)
    for overload, args, _ in fused_attentions(q, k, v):
        result, = by_rule(overload, (*args, is_causal), {"scale": scale},
                          (wanted.to(dtype), torch.zeros(2, 4, 6)), (0,))
        tolerance = 0.02 if dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(result.double(), wanted, rtol=tolerance, atol=tolerance)


def test_fused_attention_with_a_bias_and_shared_heads():
    q, bias = torch.randn(2, 4, 6, 8).half(), torch.randn(2, 1, 6, 7).half()
    k, v = (torch.randn(2, 2, 7, 8).half() for _ in range(2))
    wanted = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), bias.double(),
                                            enable_gqa=True)
    for overload, args, place in fused_attentions(q, k, v):
        if place is None:
            continue
        named = {place: bias} if isinstance(place, str) else {}
        args = args if named else (*args[:place], bias, *args[place + 1:])
        result, = by_rule(overload, args, named, (wanted.half(), torch.zeros(2, 4, 6)), (0,))
        torch.testing.assert_close(result.double(), wanted, rtol=0.01, atol=0.01)


def test_fused_attention_that_is_left():
    q, wide = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 512).half()
    for overload, args, _ in fused_attentions(wide, wide, wide):
        with pytest.raises(Exception, match="heads of more than 256 elements"):
            by_rule(overload, args, {}, (wide,), (0,))
    for overload, args, _ in fused_attentions(*[wide[..., :200].float()] * 3):
        with pytest.raises(Exception, match="heads of more than 128 elements"):
            by_rule(overload, args, {}, (wide[..., :200].float(),), (0,))
    for overload, args, _ in fused_attentions(*[q.half()] * 3):
        with pytest.raises(Exception, match="random numbers of dropout"):
            by_rule(overload, (*args[:-1], 0.1), {}, (q.half(),), (0,))
