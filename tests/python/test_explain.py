# SPDX-License-Identifier: Apache-2.0
"""ingot.torch.explain without a GPU: models on the CPU and on tensors without data."""
import logging

import pytest

torch = pytest.importorskip("torch")

import ingot  # noqa: E402
import ingot.torch  # noqa: E402
from torch import nn  # noqa: E402

F = nn.functional
DEVICES = ["cpu", "meta"]


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_left_has_its_reason(device):
    explanation = ingot.torch.explain(
        lambda x: torch.relu(torch.sort(torch.exp(x) + 1).values),
        torch.empty(4, 8, device=device), device="h100")
    head, _, *pieces, left = str(explanation).splitlines()
    kernels = explanation.num_kernels
    assert explanation.num_pieces == 2 and kernels >= 2
    assert head.startswith(f"1 graph, 2 pieces by Ingot, {kernels} kernels a call, predicted ")
    assert head.endswith(" ms on h100")
    assert pieces == ["  piece 0, 1 kernel a call: aten.exp, aten.add.Tensor",
                      "  piece 1, 1 kernel a call: aten.relu"]
    assert left == "  left to eager PyTorch: aten.sort: no rule for this operator"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("card", ["a100", "h100"])
def test_the_plan_is_that_of_the_card(device, card):
    with torch.device(device):
        model, x = nn.Sequential(nn.Linear(512, 512), nn.LayerNorm(512)), torch.empty(64, 512)
    explanation = ingot.torch.explain(model, x, device=card)
    piece, = explanation.pieces
    wanted = ingot.compile(piece.lowered.graph, device=card)
    assert explanation.num_kernels == wanted.num_kernels
    assert piece.program.code("cuda") == wanted.code("cuda")
    assert explanation.facts[0]["device"] == card
    frozen = ingot.torch.explain(model, x, options={"device": card, "freeze": True})
    assert frozen.pieces[0].lowered.params and not piece.lowered.params


@pytest.mark.parametrize("shape", [(2048, 64), (8, 256, 64), (8, 100, 64), (4, 4, 128, 64)])
@pytest.mark.parametrize("options", [{}, {"freeze": True}, {"target": "sm_90a"}])
def test_linear_layers_in_a_row_are_one_kernel_whatever_their_rows(shape, options):
    with torch.device("meta"):
        x = torch.empty(shape, dtype=torch.float16)
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 96), nn.GELU(),
                              nn.Linear(96, 32)).half()
    explanation = ingot.torch.explain(model, x, options={"device": "h200", **options})
    assert explanation.num_pieces == 1 and explanation.num_kernels == 1


def test_views_between_linear_layers_take_no_kernel():
    class Viewing(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = (nn.Linear(64, 64) for _ in range(3))

        def forward(self, x):
            b, t, c = x.shape
            h = torch.relu(self.first(x.reshape(-1, c))).view(b, t, c)
            h = torch.relu(self.second(h)).view(t, b, 4, c // 4)
            return self.third(torch.tanh(h).reshape(b * t, c)).view(b, t, c)
    with torch.device("meta"):
        model, x = Viewing().half(), torch.empty(8, 256, 64, dtype=torch.float16)
    explanation = ingot.torch.explain(model, x, device="h200")
    assert explanation.num_pieces == 1 and explanation.num_kernels == 1


def test_kernels_that_run_once_per_parameter_set_are_told_beside_those_of_a_call():
    with torch.device("meta"):
        model, x = nn.Linear(4096, 4096), torch.empty(1024, 4096)
    explanation = ingot.torch.explain(model, x, device="a100")
    frozen = ingot.torch.explain(model, x, options={"device": "a100", "freeze": True})
    # The halves of the weights.
    assert explanation.num_prepare_kernels == 0 and frozen.num_prepare_kernels == 1
    assert explanation.num_kernels == frozen.num_kernels + 1
    number = f"{frozen.num_kernels} kernels a call, 1 more once per parameter set"
    head, _, of_piece, _ = str(frozen).splitlines()
    assert f", {number}, predicted " in head and f"  piece 0, {number}: " in of_piece


def test_the_model_runs_in_eager_pytorch_once():
    calls = []

    def model(x):
        y = torch.relu(x) * 2
        calls.append(float(y.sum()))  # needs a value: the graph ends here
        return torch.tanh(y)
    explanation = ingot.torch.explain(model, torch.tensor([-1.0, 3.0]))
    assert calls == [6.0]
    assert len(explanation.reports) == 2 and explanation.breaks
    text = str(explanation)
    assert "graph 1:\n  piece 1, 1 kernel a call: aten.tanh" in text and "graph break: " in text


@pytest.mark.parametrize("device", DEVICES)
def test_attention_is_said_to_stay_with_eager(device):
    with torch.device(device):
        q = torch.empty(2, 4, 16, 200)  # heads too large for one kernel in float32
    text = str(ingot.torch.explain(lambda q: F.scaled_dot_product_attention(q, q, q), q))
    assert "left to eager PyTorch: aten._scaled_dot_product" in text or (
        "note: attention was traced on tensors without data" in text)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        math = ingot.torch.explain(lambda q: F.scaled_dot_product_attention(q, q, q), q)
    assert math.num_pieces == 1 and bool(math.notes) == (device == "meta")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_attention_is_taken(dtype):
    """Twice, with products between: PyTorch says of its operator that it may have an effect."""
    q = torch.empty(2, 4, 16, 64, dtype=dtype)

    def model(q):
        h = F.scaled_dot_product_attention(q, q, q, is_causal=True) @ q.transpose(-1, -2)
        return F.scaled_dot_product_attention(h @ q, q, q)
    explanation = ingot.torch.explain(model, q)
    assert explanation.num_pieces == 1
    assert "left to eager" not in str(explanation)


def test_nothing_taken_has_no_prediction():
    text = str(ingot.torch.explain(lambda x: torch.sort(x).values, torch.ones(4)))
    assert text.splitlines()[0] == "1 graph, 0 pieces by Ingot, 0 kernels a call"


class OfAll(nn.Module):
    """Takes every kind of argument of models, and has parameters that need gradients."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, others=(), *, scale=1.0):
        x = x["x"] if isinstance(x, dict) else x[0] if isinstance(x, (tuple, list)) else x
        return sum((torch.relu(other) for other in others), self.linear(x) * scale)


@pytest.mark.parametrize("arguments, named", [
    (lambda x: [x], {}), (lambda x: [x.requires_grad_()], {}), (lambda x: [(x, x)], {}),
    (lambda x: [[x, x]], {}), (lambda x: [{"x": x}], {}), (lambda x: [x, [x, x]], {}),
    (lambda x: [x], {"scale": 2.0}), (lambda x: [], {"x": torch.ones(4, 8), "scale": 2.0}),
])
def test_modules_that_need_gradients_with_arguments_of_every_kind(arguments, named, recwarn):
    assert torch.is_grad_enabled()
    explanation = ingot.torch.explain(OfAll(), *arguments(torch.ones(4, 8)), **named)
    assert explanation.num_pieces == 1
    assert torch.is_grad_enabled() and not [w for w in recwarn if "gradients" in str(w.message)]


def test_a_call_without_tensors_says_so():
    text = str(ingot.torch.explain(lambda x: None, torch.ones(4)))
    assert text.splitlines() == ["0 graphs, 0 pieces by Ingot, 0 kernels a call",
                                 "TorchDynamo found no operator on tensors in this call"]


GRADIENTS = "note: a parameter or an input requires gradients"


def test_a_model_that_needs_gradients_is_told_that_it_is_for_no_grad():
    x = torch.ones(4, 8)
    needing, frozen = OfAll(), OfAll().requires_grad_(False)
    for explanation, is_needing in [
            (ingot.torch.explain(needing, x), True), (ingot.torch.explain(frozen, x), False),
            (ingot.torch.explain(frozen, x.clone().requires_grad_()), True)]:
        assert explanation.needs_gradients == is_needing and explanation.num_pieces == 1
        last = str(explanation).splitlines()[-1]
        assert last.startswith(GRADIENTS) == is_needing
        assert last.endswith("torch.no_grad()") == is_needing


@pytest.fixture
def logged_errors():
    """The records of torch's loggers at the level of errors, while the test runs."""
    records = []

    class Keeper(logging.Handler):
        def emit(self, record):
            records.append(record)

    keeper = Keeper(logging.ERROR)
    loggers = [logging.getLogger(name) for name in ("", "torch", "torch._dynamo")]
    for logger in loggers:
        logger.addHandler(keeper)
    yield records
    for logger in loggers:
        logger.removeHandler(keeper)


def test_mistakes_are_told(logged_errors):
    model, x = nn.ReLU(), torch.ones(2)
    for text, options in [("no option 'tiles'", {"options": {"tiles": 3}}),
                          ("h900", {"device": "h900"}),
                          ("give it once", {"device": "a100", "options": {"device": "h100"}})]:
        with pytest.raises(ingot.InvalidArgumentError, match=text):
            ingot.torch.explain(model, x, **options)
    for text, wrong in [("got None", (None,)), ("got type <class", (nn.ReLU, x)),
                        ("got int 3", (3, x)), ("refuses a tuple as its one argument: .*; write "
                                                r"explain\(model, \*inputs\)", (model, (x,)))]:
        with pytest.raises(ingot.InvalidArgumentError, match=text):
            ingot.torch.explain(*wrong)
    for text, wrong in [(r"refuses these arguments: .*\[4, 9\]",
                         (nn.Linear(8, 8), torch.ones(4, 9))),
                        (r"refuses a tuple .*; write explain\(model, \*inputs\)",
                         (nn.Linear(8, 8), (torch.ones(4, 8), torch.ones(4, 8)))),
                        ("refuses these arguments: ", (lambda a, b: a @ b, torch.ones(2, 3),
                                                       torch.ones(2, 3)))]:
        with pytest.raises(ingot.InvalidArgumentError, match=text) as raised:
            ingot.torch.explain(*wrong)
        assert "\n" not in str(raised.value) and raised.value.__cause__ is not None
    assert not logged_errors
    with pytest.raises(TypeError, match="forward"):  # PyTorch's own
        ingot.torch.explain(model)


class OfPair(nn.Module):
    """Takes one tuple, and has a mistake of its own."""

    def __init__(self, mistake):
        super().__init__()
        self.mistake = mistake

    def forward(self, pair):
        first, _ = pair
        return self.mistake(torch.relu(first))


def _raise(error):
    raise error


@pytest.mark.parametrize("mistake, error, text", [
    (lambda x: _raise(TypeError("three are needed")), TypeError, "^three are needed$"),
    (lambda x: x + len(5), TypeError, "^object of type 'int' has no len"),
    (lambda x: x + "text", ingot.InvalidArgumentError,
     r"refuses these arguments: unsupported operand type\(s\) for \+"),
])
def test_an_error_of_the_models_own_is_no_refused_tuple(mistake, error, text):
    x = torch.ones(2)
    with pytest.raises(error, match=text):
        ingot.torch.explain(OfPair(mistake), (x, x))


def test_a_model_that_takes_several_arguments_refuses_a_tuple():
    x = torch.ones(2)
    with pytest.raises(ingot.InvalidArgumentError, match="refuses a tuple .*missing 1 required"):
        ingot.torch.explain(lambda a, b: a + b, (x, x))
