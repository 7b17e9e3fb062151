# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch through TorchDynamo and the rules, beside eager PyTorch, by the reference
interpreter. test_rules_*.py have the edges of each rule."""
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

import reference  # noqa: E402

F = torch.nn.functional
aten = torch.ops.aten


@pytest.fixture(autouse=True)
def on_reference(monkeypatch):
    reference.install(monkeypatch)
    torch.manual_seed(0)


def normal(*shape):
    return torch.randn(shape)


def positive(*shape):
    return torch.rand(shape) + 0.5


def indices(most, *shape):
    return torch.randint(0, most, shape)


X, P = normal(4, 6), positive(4, 6)
IMAGE = normal(2, 8, 4, 6)

# A name, the function, its inputs.
CASES = [(name, lambda x, f=getattr(torch, name): f(x) * 1, (P if domain else X,))
         for name, domain in [
    ("abs", 0), ("neg", 0), ("exp", 0), ("expm1", 0), ("log", 1), ("log1p", 1), ("sqrt", 1),
    ("rsqrt", 1), ("reciprocal", 1), ("sin", 0), ("cos", 0), ("tanh", 0), ("erf", 0), ("floor", 0),
    ("ceil", 0), ("round", 0), ("sign", 0), ("sgn", 0), ("sigmoid", 0), ("relu", 0), ("square", 0),
    ("log2", 1), ("log10", 1), ("exp2", 0), ("tan", 0), ("atan", 0)]]
CASES += [
    ("log2_powers", lambda x: torch.floor(torch.log2(x)),
     (torch.tensor([2.0 ** n for n in range(-149, 128)]),)),
    ("log10_powers", lambda x: torch.floor(torch.log10(x)),
     (torch.tensor([10.0 ** n for n in range(11)]),)),
    ("clamp_nan", lambda x: (x.clamp(max=math.nan) * 1, x.clamp(0, math.nan) * 1), (X,)),
    ("compare_rounded", lambda a, b: (a == 0.1, b < 70000, b >= 1 / 3),
     (torch.full((3,), 0.1).bfloat16(), torch.tensor([1 / 3, 65504, math.inf]).half())),
    ("bool_constants", lambda x: (torch.ones(4, 6, dtype=torch.bool) & (x > 0),
                                  torch.full((6,), False) | (x > 1)), (X,)),
    ("exp2_integers", lambda x: torch.exp2(x) * 1, (torch.arange(-126.0, 128),)),
]
CASES += [(name, lambda x, f=getattr(F, name): f(x), (X * 4,)) for name in (
    "silu", "mish", "hardswish", "hardsigmoid", "logsigmoid", "gelu", "softplus", "elu", "selu",
    "relu6", "softsign", "hardtanh", "tanhshrink")]
CASES += [
    ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), (X,)),
    ("softplus_beta", lambda x: F.softplus(x, 2.0, 3.0), (X * 4,)),
    ("elu_alpha", lambda x: F.elu(x, 0.5), (X,)),
    ("celu", lambda x: F.celu(x, 0.5), (X,)),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.2), (X,)),
    ("prelu", F.prelu, (X, positive(6))),
    ("threshold", lambda x: F.threshold(x, 0.1, 20.0), (X,)),
    ("glu", lambda x: F.glu(x, 1), (X,)),
    ("add_alpha", lambda a, b: torch.add(a, b, alpha=2), (X, P)),
    ("sub_scalar", lambda a: 1 - (a - 0.1), (X,)),
    ("rsub", lambda a, b: torch.rsub(a, b, alpha=3), (X, P)),
    ("div", lambda a, b: a / b + a / 3, (X, P)),
    ("pow", lambda a: a ** 2 + a ** 3 + torch.abs(a) ** 0.7 + 2.0 ** a, (X,)),
    ("pow_tensor", torch.pow, (P, X)),
    ("maximum", lambda a, b: torch.maximum(a, b) + torch.minimum(a, b) * 2, (X, P)),
    ("addcmul", lambda a, b: torch.addcmul(a, a, b, value=0.5) + torch.addcdiv(a, a, b, value=2),
     (X, P)),
    ("clamp", lambda a: a.clamp(-0.5, 0.3) + a.clamp(min=0.1) * 2 + a.clamp(max=0.2) * 3, (X,)),
    ("clamp_tensor", lambda a, b: a.clamp(max=b, min=-b) * 1, (X * 2, P)),
    ("compare", lambda a, b: torch.where((a > b) | (a <= -b) & ~(a == b), a, b * 2), (X, P)),
    ("compare_scalar", lambda a: torch.where(a >= 0.1, 1.0, a) + torch.where(a < 0, a, 2.0), (X,)),
    ("logical", lambda a, b: torch.logical_and(a, b) | torch.logical_not(b), (X > 0, P > 1)),
    ("isnan", lambda a: torch.where(torch.isnan(a) | torch.isinf(a), 0.0, a),
     (torch.tensor([1.0, float("nan"), float("inf")]),)),
    ("masked_fill", lambda a: a.masked_fill(a > 0, -3.0) * 1, (X,)),
    ("sum", lambda a: (a.sum(), a.sum(1), a.sum((0, 1), keepdim=True), (a > 0).sum(1)), (X,)),
    ("mean", lambda a: (a.mean(), a.mean(0), a.mean((0, 1), keepdim=True)), (X,)),
    ("amax", lambda a: (a.amax(1), a.amin(0, keepdim=True), a.max(), a.min()), (X,)),
    ("max_dim", lambda a: (*torch.max(a, 1), *torch.min(a, 0, keepdim=True)), (X,)),
    ("argmax", lambda a: (a.argmax(1), a.argmin(0, keepdim=True), a.argmax()), (X,)),
    ("var", lambda a: (a.var(1), a.var((0, 1), correction=0), a.std(0, keepdim=True), a.var()),
     (X,)),
    ("var_mean", lambda a: torch.var_mean(a, 1), (X,)),
    ("prod", lambda a: (a.prod(), a.prod(1)), (X,)),
    ("logsumexp", lambda a: (torch.logsumexp(a, 1), torch.logsumexp(a, (0, 1), keepdim=True)),
     (X,)),
    ("norm", lambda a: (a.norm(), a.norm(dim=1), torch.linalg.vector_norm(a, 1, 0),
                        torch.linalg.vector_norm(a, float("inf"), 1)), (X,)),
    ("softmax", lambda a: (F.softmax(a, 1), F.log_softmax(a, 0)), (X,)),
    ("softmax_to_float", lambda a: F.softmax(a, 1, dtype=torch.float32), (X.bfloat16(),)),
    ("cumsum", lambda a: (a.cumsum(1), a.cumprod(0)), (X,)),
    ("matmul", lambda a, b: (a @ b.t(), a @ b[0], a[0] @ b[0], a.t() @ b), (X, P)),
    ("bmm", lambda a, b: (torch.bmm(a, b), a @ b[0], torch.baddbmm(a[:, :, :3], a, b, beta=2)),
     (normal(2, 3, 4), normal(2, 4, 3))),
    ("addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
     (normal(4), X, normal(6, 4))),
    ("linear_3d", F.linear, (normal(2, 3, 6), normal(5, 6), normal(5))),
    ("layer_norm", lambda a, w, b: F.layer_norm(a, (6,), w, b) + F.layer_norm(a, (4, 6)),
     (X, normal(6), normal(6))),
    ("group_norm", lambda a, w, b: F.group_norm(a, 4, w, b), (IMAGE, normal(8), normal(8))),
    ("rms_norm", lambda a, w: F.rms_norm(a, (6,), w) + F.rms_norm(a, (6,), eps=0.1),
     (X, normal(6))),
    ("batch_norm", lambda a, m, v, w: F.batch_norm(a, m, v, w), (IMAGE, normal(8), positive(8),
                                                                 normal(8))),
    ("batch_norm_training", lambda a: F.batch_norm(a, None, None, training=True), (IMAGE,)),
    ("instance_norm", lambda a, w, b: F.instance_norm(a, weight=w, bias=b),
     (IMAGE, normal(8), normal(8))),
    ("losses", lambda a, b: (F.mse_loss(a, b), F.smooth_l1_loss(a, b, beta=0.5), F.l1_loss(a, b),
                             F.huber_loss(a, b, reduction="sum"),
                             F.mse_loss(a, b, reduction="none")),
     (X, P)),
    ("cross_entropy", lambda a, t: (F.cross_entropy(a, t), F.nll_loss(a, t, reduction="none"),
                                    F.cross_entropy(a, t, reduction="sum")),
     (X, indices(6, 4))),
    ("cross_entropy_ignored", F.cross_entropy, (X, torch.tensor([1, -100, 3, -100]))),
    ("views", lambda a: (a.view(2, 12) * 2, a.unsqueeze(1).squeeze(1) * 3, a.reshape(-1) + 1),
     (X,)),
    ("permute", lambda a: a.permute(0, 2, 3, 1).contiguous() * 2 + 1, (IMAGE,)),
    ("transpose", lambda a: torch.relu(a.transpose(1, 3)), (IMAGE,)),
    ("expand", lambda a: torch.exp(a[:, :1].expand(4, 6)) * 2, (X,)),
    ("cast", lambda a: torch.relu(a.half()).float() + a.int() + a.bool(), (X * 3,)),
    ("slice", lambda a: (a[1:3] * 2, a[:, 1:-1:2] * 3, a[-2:] * 4, a[:, 5] * 5, a[-1] * 6), (X,)),
    ("split", lambda a: torch.relu(torch.cat(a.split(2, 1)[::-1], 1)) + torch.cat(
        a.split([1, 5], 1), 1), (X,)),
    ("unbind", lambda a: sum(torch.exp(row) for row in a.unbind(0)), (X,)),
    ("cat", lambda a, b: torch.relu(torch.cat([a, b, a], 0)), (X, P)),
    ("stack", lambda a, b: torch.relu(torch.stack([a, b], 1)), (X, P)),
    ("flip", lambda a: torch.exp(a.flip((0, 1))), (X,)),
    ("repeat", lambda a: torch.exp(a.repeat(2, 1, 3)), (X,)),
    ("gather", lambda a, i: torch.gather(a, 1, i) * 2, (X, indices(6, 4, 3))),
    ("embedding", lambda w, i: F.embedding(i, w) * 2, (X, indices(4, 2, 5))),
    ("full", lambda a: a + torch.full((4, 6), 2.5) * torch.ones_like(a) + torch.zeros(6), (X,)),
    ("arange", lambda a: a * torch.arange(6) + torch.arange(1, 13, 2), (X,)),
    ("avg_pool1d", lambda a: F.avg_pool1d(a[None], 2)[0] + 1, (X,)),
    ("pool2d", lambda a: (F.avg_pool2d(a, 2) + 1, F.max_pool2d(a, (2, 3)) + 1), (IMAGE,)),
    ("pool_remainder", lambda a: F.max_pool2d(a, (3, 4)) + 1, (IMAGE,)),
    ("remainders", lambda a, b: (torch.fmod(a, b) * 2, torch.remainder(a, b) + 1, a % 0.3, 2.5 % a),
     (X * 3, P * X.sign())),
    ("integers", lambda a, b: (a * 2 + b - 1, (a + b).sum(1), torch.maximum(a, b)),
     (indices(9, 4, 6), indices(9, 4, 6))),
    ("integer_choice", lambda a: (torch.where(a > 3, a, 1), a.masked_fill(a > 5, -7) + 0,
                                  a + torch.full((6,), 2**53 + 1)), (indices(9, 4, 6),)),
    ("mixed_types", lambda a, b, c: a * b + c, (X, P.bfloat16(), indices(9, 4, 6))),
    ("integer_mean", lambda a: a.float().mean() + a / 2, (indices(9, 4, 6),)),
    ("special_values", lambda a: (torch.relu(a), F.mish(a), torch.clamp(a, -1, 1),
                                  torch.amax(a, 0), F.softmax(a, 0), torch.logsumexp(a, 0)),
     (torch.tensor([[1.0, float("nan"), float("inf"), -float("inf")],
                    [0.0, 1.0, 2.0, -float("inf")]]),)),
]

# Operators that TorchDynamo and AOTAutograd of this version spell otherwise, on the CPU at least.
CASES += [(f"aten_{i}", function, inputs) for i, (function, inputs) in enumerate([
    (lambda a, w: aten._fused_rms_norm(a, [6], w, 0.1)[0], (X, normal(6))),
    (lambda a: aten.clamp_min(a, 0.1) + aten.clamp_max(a, 0.2), (X,)),
    (lambda a: aten.div.Tensor_mode(a, P, rounding_mode=None), (X,)),
    (lambda a: aten.square(a) + aten.full_like(a, 2.0) + aten.zeros_like(a), (X,)),
    (lambda a, b: torch.where((a < b) | (a >= b * 2), torch.where(a != b, a, b), b), (X, P)),
    (lambda a: torch.where((a == 1) | (a != 2) & (a <= 3), a, -a), (indices(4, 4, 6),)),
    (lambda a, b: torch.logical_or(a, b), (X > 0, P > 1)),
    (lambda a: a + aten.arange.start(2, 8) + aten.ones([6]), (X,)),
    (lambda a: aten.squeeze.dims(aten.unsqueeze(a, 0), [0]) * 2, (X,)),
])]


# Functions of PyTorch that become several operators.
QUERY = normal(2, 4, 5, 8)


def attention(q, *mask, **named):
    """The math form of attention, of fewer heads of keys and values where the query says so."""
    with sdpa_kernel(SDPBackend.MATH):
        keys = q[:, :2] if named.get("enable_gqa") else q
        return F.scaled_dot_product_attention(q, keys, keys * 0.5, *mask, **named)


def written(x):
    """Parts of a copy that are written to."""
    y = x.clone()
    y[:, 1:3] = 2.0
    y[1] = x[0] * 2
    y[:, ::2] += 1
    return y * 2


CASES += [(name, function, inputs) for name, function, inputs in [
    ("attention", attention, (QUERY,)),
    ("attention_half", attention, (QUERY.bfloat16(),)),
    ("attention_causal", lambda q: attention(q, is_causal=True), (QUERY,)),
    ("attention_scale", lambda q: attention(q, scale=0.3), (QUERY,)),
    ("attention_groups", lambda q: attention(q, enable_gqa=True), (QUERY,)),
    ("attention_bias", attention, (QUERY, normal(5, 5))),
    ("attention_mask", attention, (QUERY, torch.ones(5, 5).triu(1) > 0)),  # a row without any
    ("attention_by_hand", lambda q: F.softmax((q @ q.transpose(-1, -2)).masked_fill(
        torch.ones(5, 5, dtype=torch.bool).triu(1), -torch.inf), -1) @ q, (QUERY,)),
    ("written", written, (X,)),
    ("windows", lambda x: (F.max_pool2d(x, 3, 2, 1) * 2, F.avg_pool2d(x, 3, 1, 1) - x,
                           F.max_pool1d(x[0], 3, 2, 1) * 2), (IMAGE,)),
    ("adaptive", lambda x: F.adaptive_avg_pool2d(x, (2, 3)) * 2, (IMAGE,)),
    ("interpolate", lambda x: F.interpolate(x, scale_factor=2) * 2, (IMAGE,)),
    ("lookup", lambda x, i: x[i] * x[:, i[0]].sum() + x[i, i].sum(), (X, indices(4, 2, 3))),
    ("shifted_windows", lambda x: torch.relu(torch.roll(F.pad(x, (0, 1, 2, 1)), (-1, 2), (2, 3))),
     (IMAGE,)),
    ("cosine_similarity", F.cosine_similarity, (X, P)),
    ("kl_div", lambda a, b: F.kl_div(a, b, reduction="batchmean"), (X, P)),
    ("one_hot", lambda i: F.one_hot(i, 7) * 2, (indices(7, 5),)),
    ("any_all", lambda x: torch.where((x > 2).any(1, True) | (x < 3).all(), x, -x), (X,)),
    ("integer_division", lambda i: (i // 3) * 2 + i % 3 + (-i) // 4, (indices(90, 4, 6),)),
]]


@pytest.mark.parametrize("function, inputs", [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])
def test_operator(function, inputs):
    with torch.no_grad():
        wanted = function(*(x.clone() for x in inputs))
    results, reports = reference.through(function, *inputs)
    many = isinstance(wanted, tuple)
    for got, exact in zip(results if many else (results,), wanted if many else (wanted,)):
        assert got.dtype == exact.dtype and got.shape == exact.shape
        tolerance = 1e-2 if exact.dtype in (torch.bfloat16, torch.float16) else 1e-5
        torch.testing.assert_close(got, exact, atol=tolerance, rtol=tolerance, equal_nan=True)
    left = {name: reason for report in reports for name, reason in report.left}
    assert not left, left


# Sizes that are known at launch only.
DYNAMIC = {
    "causal": lambda q: attention(q, is_causal=True),
    "triangle": lambda q: torch.tril(q @ q.transpose(-1, -2)) * 2,
    "lookup": lambda q: q[torch.tensor([0, -1])] * q[:, torch.tensor([[0, 1]])].sum(),
    "norms": lambda q: F.rms_norm(q, q.shape[-1:]) + q.softmax(1),
    "numbers": lambda q: q + torch.ones_like(q) + torch.arange(q.shape[2])[:, None] // 2,
    "truth": lambda q: torch.where((q > 2).any(-1, True), q, q.new_zeros(1)),
    "losses": lambda q: F.binary_cross_entropy_with_logits(q, q.sigmoid()),
    "extremes": lambda q: torch.stack([*torch.aminmax(q, dim=1)]).nan_to_num() + 1,
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_sizes(name):
    function, reports = DYNAMIC[name], None
    for shape in ((2, 4, 5, 8), (3, 4, 6, 8)):
        query = torch.randn(shape)
        results, reports = reference.through(function, query, dynamic=True)
        torch.testing.assert_close(results, function(query), atol=1e-5, rtol=1e-5)
    assert sum(map(len, (report.pieces for report in reports))) >= 1
    assert not [left for report in reports for left in report.left if "no rule" in left[1]]
