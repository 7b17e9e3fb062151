# SPDX-License-Identifier: Apache-2.0
"""Calls that record gradients, without a GPU: forward and backward graphs by the reference
interpreter, beside eager PyTorch."""
import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

import reference  # noqa: E402
from chains import CHAINS  # noqa: E402
from ingot.torch import dynamo, training  # noqa: E402
from ingot.torch.lowering import RuleFault, is_view  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_reference")
F = nn.functional


def squares(results):
    """A loss with a gradient at each element."""
    results = results if isinstance(results, tuple) else (results,)
    return sum((y.double() * torch.linspace(-1, 2, y.numel()).reshape(y.shape)).square().sum()
               for y in results if y.is_floating_point())


def leaves(module, inputs):
    """The tensors that get gradients, by name."""
    own = dict(module.named_parameters()) if isinstance(module, nn.Module) else {}
    return {**{name: p for name, p in own.items() if p.requires_grad},
            **{f"input {i}": x for i, x in enumerate(inputs)
               if isinstance(x, torch.Tensor) and x.requires_grad}}


def own_inputs(inputs):
    return [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]


def same(got, wanted, tolerance, name="", scale=0.0):
    """`scale`: the norm of terms that may have cancelled out."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, name
    difference = (got.double() - wanted.double()).norm()
    assert difference <= tolerance * max(wanted.double().norm(), scale) + 1e-7, name


def check(module, *inputs, tolerance=2e-5, loss=squares, steps=1, seed=None, **named):
    """Compares results and gradients with eager's; gives the reports."""
    eager, of_eager, of_ingot = copy.deepcopy(module), own_inputs(inputs), own_inputs(inputs)
    call, reports = reference.compiled_by_backend(module, **named)
    for _ in range(steps):
        outputs = []
        for function, tensors in ((call, of_ingot), (eager, of_eager)):
            if seed is not None:
                torch.manual_seed(seed)
            outputs.append(function(*tensors))
            loss(outputs[-1]).backward()
    results, wanted = (y if isinstance(y, tuple) else (y,) for y in outputs)
    for i, (got, exact) in enumerate(zip(results, wanted)):
        assert got.requires_grad == exact.requires_grad
        same(got.detach(), exact.detach(), tolerance, f"result {i}")
    exact = leaves(eager, of_eager)
    # That of a bias before a norm is a sum that is 0.
    scale = max(leaf.grad.double().norm() for leaf in exact.values() if leaf.grad is not None)
    for name, leaf in leaves(module, of_ingot).items():
        assert (leaf.grad is None) == (exact[name].grad is None), name
        if leaf.grad is not None:
            same(leaf.grad, exact[name].grad, tolerance, name, 0.1 * scale)
    left(reports)
    if isinstance(module, nn.Module):
        for (name, got), (_, kept) in zip(module.named_buffers(), eager.named_buffers()):
            same(got, kept, tolerance, name)
    return reports


def left(reports):
    """The operators that are left to eager, of both directions: none of them by a wrong rule."""
    found = [pair for report in reports for one in (report, report.backward) if one
             for pair in one.left]
    assert not [pair for pair in found if isinstance(pair[1], RuleFault)]
    return {name for name, _ in found if name != "getitem"}


def inputs_of(chain):
    return [torch.randn(shape, requires_grad=True) for shape in chain.small_shapes]


@pytest.mark.parametrize("name", CHAINS)
def test_chain(name):
    chain = CHAINS[name]
    reports = check(chain.module(*chain.small_arguments), *inputs_of(chain))
    assert left(reports) <= {"aten.avg_pool2d_backward", "aten.expand", "aten.unsqueeze"}


@pytest.mark.parametrize("activation", [
    nn.ReLU, nn.GELU, lambda: nn.GELU("tanh"), nn.SiLU, nn.Mish, nn.Sigmoid, nn.Tanh, nn.ELU,
    nn.SELU, nn.CELU, nn.LeakyReLU, nn.Softplus, nn.Hardtanh, nn.Hardswish, nn.Hardsigmoid,
    nn.LogSigmoid, nn.Softshrink, nn.Tanhshrink, nn.PReLU, nn.GLU, nn.Softmin, nn.ReLU6,
    lambda: nn.Softmax(-1), lambda: nn.LogSoftmax(-1), lambda: nn.Threshold(0.1, 2.0)])
def test_activation(activation):
    reports = check(nn.Sequential(nn.Linear(6, 8), activation()),
                    torch.randn(5, 6, requires_grad=True))
    assert not left(reports)


@pytest.mark.parametrize("norm, shape", [
    (lambda: nn.LayerNorm(8), (5, 8)), (lambda: nn.LayerNorm((3, 4)), (2, 5, 3, 4)),
    (lambda: nn.RMSNorm(8), (5, 8)), (lambda: nn.GroupNorm(2, 6), (3, 6, 5)),
    (lambda: nn.BatchNorm1d(8), (5, 8)), (lambda: nn.BatchNorm2d(4), (3, 4, 2, 5)),
    (lambda: nn.BatchNorm2d(4).eval(), (3, 4, 2, 5)), (lambda: nn.InstanceNorm1d(4), (3, 4, 5))])
def test_norm(norm, shape):
    reports = check(norm(), torch.randn(shape, requires_grad=True), steps=2)
    assert not left(reports)


@pytest.mark.parametrize("loss", [
    lambda x, y: F.mse_loss(x, y), lambda x, y: F.l1_loss(x, y), lambda x, y: F.huber_loss(x, y),
    lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), lambda x, y: F.cross_entropy(x, y.argmax(1)),
    lambda x, y: F.cross_entropy(x, y.softmax(1), label_smoothing=0.1),
    lambda x, y: F.nll_loss(x, y.argmax(1), ignore_index=2),
    lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    lambda x, y: F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean"),
    lambda x, y: 1 - F.cosine_similarity(x, y).mean()])
def test_loss(loss):
    reports = check(loss, torch.randn(6, 5, requires_grad=True), torch.randn(6, 5))
    assert left(reports) <= {"aten.argmax"}


@pytest.mark.parametrize("function", [
    lambda x: x[:, 2:5] * 2, lambda x: x[1] + 1, lambda x: torch.cat([x, x * x], 1),
    lambda x: x.chunk(3, 1)[1].exp(), lambda x: x.reshape(8, 6).transpose(0, 1) * 3,
    lambda x: torch.where(x > 0, x, x * 0.1), lambda x: x.flip(0) * x, lambda x: x.amax(1),
    lambda x: x.cumsum(1), lambda x: x.var(0) + x.mean(0), lambda x: x.norm(dim=1),
    lambda x: x.logsumexp(0), lambda x: F.pad(x, (1, 2)) * 2, lambda x: x.prod(1),
    lambda x: x.clamp(-0.5, 0.5), lambda x: x @ x.T, lambda x: torch.stack([x, -x]).sum(0) * x,
    lambda x: x.expand(3, 4, 12) * 2, lambda x: torch.einsum("ij,kj->ik", x, x)])
def test_function(function):
    check(function, torch.randn(4, 12, requires_grad=True))


class Attention(nn.Module):
    def __init__(self, is_written_out):
        super().__init__()
        self.embed, self.norm = nn.Embedding(20, 16), nn.LayerNorm(16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.is_written_out = is_written_out

    def forward(self, words):
        x = self.embed(words)
        q, k, v = (part.view(2, 5, 4, 4).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, -1))
        if self.is_written_out:
            y = (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(2, 5, 16))


@pytest.mark.parametrize("is_written_out", [True, False])
def test_attention(is_written_out):
    reports = check(Attention(is_written_out), torch.randint(0, 20, (2, 5)))
    assert {name for name in left(reports) if "attention" not in name} <= {
        "aten.embedding_dense_backward"}
    assert is_written_out or any("attention" in name for name in left(reports))


def test_attention_of_several_layers():
    layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True)
    reports = check(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(),
                    torch.randn(2, 5, 16, requires_grad=True))
    assert len(reports[0].pieces) > 1


@pytest.mark.parametrize("options", [None, {"freeze": True}])
def test_gradients_that_a_function_turns_on(options):
    def function(x, w):
        with torch.enable_grad():
            return (x * 2) * (w * 3).cos()
    x, w = (torch.randn(3, 4, requires_grad=True) for _ in range(2))
    call, _ = reference.compiled_by_backend(function, options=options)
    with torch.no_grad():
        result, wanted = call(x, w), function(x, w)
    assert result.requires_grad
    for got, exact in zip(torch.autograd.grad(squares(result), (x, w)),
                          torch.autograd.grad(squares(wanted), (x, w))):
        same(got, exact, 2e-5)


def test_two_backward_calls_of_one_result():
    module, x = nn.Sequential(nn.Linear(6, 8), nn.GELU()), torch.randn(7, 6)
    eager = copy.deepcopy(module)
    call, _ = reference.compiled_by_backend(module)
    for function in (call, eager):
        loss = squares(function(x))
        loss.backward(retain_graph=True)
        loss.backward()
    same(module[0].weight.grad, eager[0].weight.grad, 2e-5)


def test_a_convolution_stays_with_eager_in_both_directions():
    reports = check(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
                                  nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 10)),
                    torch.randn(2, 3, 8, 8))
    assert {"aten.convolution", "aten.convolution_backward"} <= left(reports)
    assert reports[0].pieces and reports[0].backward.pieces


def test_parameters_are_inputs_though_the_call_freezes():
    module = nn.Linear(8, 8)
    reports = check(module, torch.randn(4, 8), steps=2, options={"freeze": True})
    for piece in reports[0].pieces + reports[0].backward.pieces:
        assert not piece.lowered.params


def test_a_step_of_an_optimizer_counts():
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3))
    eager, x = copy.deepcopy(module), torch.randn(7, 6)
    call, reports = reference.compiled_by_backend(module)
    for function, own in ((call, module), (eager, eager)):
        optimizer = torch.optim.AdamW(own.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad(set_to_none=True)
            squares(function(x)).backward()
            nn.utils.clip_grad_norm_(own.parameters(), 1.0)
            optimizer.step()
    for got, exact in zip(module.parameters(), eager.parameters()):
        same(got, exact, 1e-4)
    assert len(reports) == 1


def test_gradients_accumulate():
    check(nn.Linear(6, 8), torch.randn(7, 6, requires_grad=True), steps=3)


def test_frozen_parts_get_no_gradients():
    module = nn.Sequential(nn.Linear(6, 8).requires_grad_(False), nn.ReLU(), nn.Linear(8, 3))
    check(module, torch.randn(7, 6))
    assert module[0].weight.grad is None


def test_results_without_gradients_and_several_losses():
    def function(x, y):
        return (x * y).sum(1), x.argmax(1), torch.tanh(y)
    check(function, torch.randn(4, 5, requires_grad=True), torch.randn(4, 5, requires_grad=True),
          loss=lambda results: squares(results[:1]) + 2 * squares(results[2:]))


def test_dropout_draws_the_numbers_of_eager():
    module = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.GELU(), nn.Linear(8, 3))
    reports = check(module, torch.randn(7, 6, requires_grad=True), seed=5)
    assert reports[0].pieces and reports[0].backward.pieces


def test_checkpointing():
    from torch.utils.checkpoint import checkpoint
    layers = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6))

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            return x + checkpoint(self.layers, x, use_reentrant=False)
    check(Checkpointed(), torch.randn(7, 6, requires_grad=True))


def test_sizes_that_change_compile_twice_at_most():
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8))
    eager = copy.deepcopy(module)
    call, reports = reference.compiled_by_backend(module)
    for size in (3, 5, 7, 11, 2):
        x = torch.randn(size, 6)
        module.zero_grad()
        eager.zero_grad()
        squares(call(x)).backward()
        squares(eager(x)).backward()
        for got, exact in zip(module.parameters(), eager.parameters()):
            same(got.grad, exact.grad, 2e-5)
    assert len(reports) == 2


def test_one_module_with_and_without_gradients():
    module, x = nn.Linear(6, 8), torch.randn(3, 6)
    call, reports = reference.compiled_by_backend(module)
    with torch.no_grad():
        assert not call(x).requires_grad
    squares(call(x)).backward()
    assert module.weight.grad is not None
    assert [report.backward is None for report in reports] == [True, False]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits(dtype):
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).to(dtype)
    reports = check(module, torch.randn(7, 6, dtype=dtype), tolerance=3e-2)
    assert not left(reports)


def test_autocast():
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def under_autocast(x):
        with torch.autocast("cpu", torch.bfloat16):
            return module(x)
    reports = check(under_autocast, torch.randn(7, 6, requires_grad=True), tolerance=3e-2)
    assert not left(reports)


def test_a_derivative_of_a_derivative_is_refused():
    call, _ = reference.compiled_by_backend(lambda x: x * x * x)
    x = torch.randn(4, requires_grad=True)
    gradient, = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        gradient.sum().backward()


def test_a_gradient_of_other_strides():
    module = nn.Linear(6, 8)
    eager, x = copy.deepcopy(module), torch.randn(5, 6)
    call, _ = reference.compiled_by_backend(module)
    gradient = torch.randn(8, 5).T
    call(x).backward(gradient)
    eager(x).backward(gradient)
    same(module.weight.grad, eager.weight.grad, 2e-5)


def test_views_that_the_partitioner_knows_are_made_where_they_are_read(monkeypatch):
    graphs = []

    def divide(*arguments, **named):
        graphs.append((*training.divide(*arguments, **named), named["num_fwd_outputs"]))
        return graphs[-1][:2]
    monkeypatch.setattr(dynamo, "divide", divide)
    check(nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6), nn.Softmax(-1)),
          torch.randn(2, 5, 6, requires_grad=True))
    (forward, _, num_results), = graphs
    saved = forward.graph.output_node().args[0][num_results:]
    assert len(saved) > 2
    assert not [node for node in saved if is_view(node) or "detach" in str(node.target)]


def test_a_tensor_that_a_function_keeps_may_be_written_to():
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.sort(x, -1).values
            ctx.kept = y.detach()
            return y

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.kept * 2

    x, found = torch.randn(4, 5, requires_grad=True), []
    for call in (Kept.apply, reference.compiled_by_backend(Kept.apply)[0]):
        y = call(x)
        with torch.no_grad():
            y.add_(1)
        found += torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(*found)
