# SPDX-License-Identifier: Apache-2.0
"""The comparison with eager finds planted errors, and lets correct results pass."""
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

import comparison  # noqa: E402
import operator_database  # noqa: E402
import reference  # noqa: E402
from ingot.torch import compiled  # noqa: E402
from ingot.torch.rules import RULES  # noqa: E402
from operator_samples import Call, copies  # noqa: E402

NAN, INF = float("nan"), float("inf")


def kinds(got, wanted, exact=None, each=False):
    return {d.kind for d in comparison.compare(
        [got], [wanted], [exact], comparison.Limits(each))}


def test_right_results_pass():
    exact = torch.linspace(-3, 3, 60, dtype=torch.float64).reshape(6, 10).exp()
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        assert kinds(exact.to(dtype), exact.to(dtype), exact, True) == set()
    ints = torch.arange(5)
    assert kinds(ints, ints.clone()) == set()
    special = torch.tensor([NAN, INF, -INF, 0.0, -0.0])
    assert kinds(special, special.clone(), special.double()) == set()


@pytest.mark.parametrize("kind, got, wanted", [
    ("value", torch.tensor([1.0, 2.0001]), torch.tensor([1.0, 2.0])),
    ("value", torch.tensor([1, 3]), torch.tensor([1, 2])),
    ("value", torch.tensor([True]), torch.tensor([False])),
    ("nan", torch.tensor([1.0, 0.0]), torch.tensor([1.0, NAN])),
    ("nan", torch.tensor([1.0, NAN]), torch.tensor([1.0, 0.0])),
    ("inf", torch.tensor([1.0, -INF]), torch.tensor([1.0, INF])),
    ("inf", torch.tensor([1.0, 3e38]), torch.tensor([1.0, INF])),
    ("zero", torch.tensor([1.0, -0.0]), torch.tensor([1.0, 0.0])),
    ("denormal", torch.tensor([0.0]), torch.tensor([1e-40])),
    ("dtype", torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float16)),
    ("shape", torch.tensor([1.0]), torch.tensor(1.0)),
    ("strides", torch.ones(3, 4), torch.ones(4, 3).t())])
def test_a_planted_difference_is_found(kind, got, wanted):
    assert kinds(got, wanted, wanted.double()) == {kind}


def test_small_elements_count_where_each_is_judged():
    wanted = torch.tensor([1e4, 1e-4])
    got = torch.tensor([1e4, 1.001e-4])
    assert kinds(got, wanted, wanted.double(), False) == set()
    assert kinds(got, wanted, wanted.double(), True) == {"value"}


def test_an_error_as_large_as_eagers_passes_and_a_larger_one_does_not():
    exact = torch.linspace(1, 2, 100, dtype=torch.float64)
    eager = (exact * (1 + 1e-5)).float()
    assert kinds((exact * (1 - 1e-5)).float(), eager, exact) == set()
    assert kinds((exact * (1 + 1.3e-5)).float(), eager, exact) == {"value"}


def test_each_piece_and_operator_may_round_once():
    exact = torch.linspace(1, 2, 100, dtype=torch.float64)
    got = (exact * (1 + 3e-7)).float()
    assert kinds(got, exact.float(), exact) == {"value"}
    many = comparison.Limits(num_roundings=3)
    assert list(comparison.compare([got], [exact.float()], [exact], many)) == []


@pytest.mark.parametrize("kind, got, wanted", [
    ("kind of result", torch.tensor(5.0), 1.0), ("kind of result", 1.0, torch.tensor(5.0)),
    ("value", 5, NAN), ("value", NAN, 5.0), ("value", 0.0, -0.0), ("value", 1, True)])
def test_a_difference_of_numbers_is_found(kind, got, wanted):
    assert {d.kind for d in comparison.compare([got], [wanted], None)} == {kind}


def test_equal_numbers_pass():
    assert kinds(NAN, NAN) == kinds(2, 2) == kinds(None, None) == kinds(-0.0, -0.0) == set()


def test_bits_are_compared():
    assert not comparison.have_same_bits(NAN, 5)
    assert not comparison.have_same_bits(torch.tensor(1.0), 1.0)
    assert not comparison.have_same_bits(torch.tensor(0.0), torch.tensor(-0.0))
    assert comparison.have_same_bits(torch.tensor(NAN), torch.tensor(NAN))


def test_a_difference_is_excused_by_the_same_one_that_is_as_large():
    def beside(*errors):
        exact = torch.linspace(1, 2, 100, dtype=torch.float64)
        found = comparison.compare([torch.ones(2), *((exact * (1 + e)).float() for e in errors)],
                                   [torch.ones(2)] + [exact.float()] * 2,
                                   [torch.ones(2).double(), exact, exact])
        return {(d.result, d.measure): d for d in found}
    small, large = beside(1e-5, 0), beside(2e-5, 0)
    other = beside(0, 2e-5)
    for measure in ("worst", "rms"):
        assert small[1, measure].is_excused_by(large[1, measure])
        assert not large[1, measure].is_excused_by(small[1, measure])
        assert not small[1, measure].is_excused_by(other[2, measure])
    assert not small[1, "worst"].is_excused_by(small[1, "rms"])


def test_right_where_eager_overflows_passes():
    exact = torch.tensor([1.0, 300.0], dtype=torch.float64)
    assert kinds(exact.half(), torch.tensor([1.0, INF]).half(), exact) == set()


def test_storage_that_is_shared_is_seen():
    x = torch.ones(4, 4)
    y = torch.relu(x)
    assert comparison.sharing([x.t(), y, y[0], torch.ones(1)], [x]) == [0, None, 2, None]


def test_copies_keep_strides_offsets_and_sharing():
    x = torch.randn(4, 6)
    tensors = [x.t()[1:], x, torch.randn(1, 3).expand(5, 3)]
    again = copies(tensors)
    for a, b in zip(tensors, again):
        assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
        assert torch.equal(a, b) and a.data_ptr() != b.data_ptr()
    assert again[0].untyped_storage().data_ptr() == again[1].untyped_storage().data_ptr()


class Runs:
    """The launcher of the reference, with a fault in its results."""

    def __init__(self, fault):
        self.fault = fault

    def __call__(self, *arguments, **named):
        launcher = reference.ReferenceLauncher(*arguments, **named)
        right, calls = launcher.call, []

        def call(tensors, out=None):
            calls.append(None)
            return self.fault(right(tensors, out), tensors, len(calls))
        launcher.call = call
        return launcher


class Piece(compiled.CompiledPiece):
    """A piece that tells the launcher inside of the fault its graph."""

    def _switch(self):
        call = super()._switch()
        call.__closure__[[name for name in call.__code__.co_freevars].index("right")] \
            .cell_contents.__self__.graph = self.lowered.graph
        return call


def _write(results, tensors, _):
    tensors[0].add_(1)
    return results


def _fail(results, tensors, _):
    raise RuntimeError("planted")


@pytest.mark.parametrize("kind, fault", [
    ("value", lambda results, tensors, _: [results[0] + 0.1]),
    ("nan", lambda results, tensors, _: [results[0] * NAN]),
    ("dtype", lambda results, tensors, _: [results[0].half()]),
    ("shape", lambda results, tensors, _: [results[0][None]]),
    ("strides", lambda results, tensors, _: [results[0].t().contiguous().t()]),
    ("alias", lambda results, tensors, _: [tensors[0].copy_(results[0])]),
    ("writes", _write), ("exception", _fail),
    ("bits", lambda results, tensors, count: [results[0] + 1e-7 * count])])
def test_a_fault_in_a_launch_is_found(monkeypatch, kind, fault):
    monkeypatch.setattr(compiled, "Launcher", Runs(fault))
    monkeypatch.setattr(operator_database.dynamo, "CompiledPiece", Piece)
    runner = operator_database.Runner("cpu")
    with torch.no_grad():
        result = runner.run("exp", "f32", Call("0", torch.exp, [torch.randn(4, 6)]))
    assert result.state == "launched"
    assert kind in {difference.kind for difference in result.differences}


def test_a_difference_of_pytorch_itself_excuses_no_larger_one(monkeypatch):
    """PyTorch without pieces misses the result too, but by less."""
    original = operator_database.compiled

    def compiled_badly(call, tensors, report, devices):
        function = original(call, tensors, report, devices)
        factor = 1.1 if devices else 1.01
        return lambda *inputs: [result * factor for result in function(*inputs)]
    monkeypatch.setattr(operator_database, "compiled", compiled_badly)
    monkeypatch.setattr(compiled, "Launcher", reference.ReferenceLauncher)
    monkeypatch.setattr(operator_database.dynamo, "CompiledPiece", reference.ReferencePiece)
    with torch.no_grad():
        result = operator_database.Runner("cpu").run(
            "exp", "f32", Call("0", torch.exp, [torch.randn(4, 6)]))
    assert {difference.kind for difference in result.differences} == {"value"}


def test_a_rule_that_gives_another_shape_is_a_difference(monkeypatch):
    reference.install(monkeypatch)
    runner = operator_database.Runner("cpu")
    call = Call("0", torch.tanh, [torch.randn(4, 6)])
    for planted in (lambda g, x: g.call("sum", x, axis=1), lambda g, x: {}["planted"]):
        monkeypatch.setitem(RULES, torch.ops.aten.tanh.default, planted)
        with torch.no_grad():
            found = runner.run("tanh", "f32", call)
        assert [d.kind for d in found.differences] == ["rule"], found


DRAWS = operator_database.NUM_DRAWS


@pytest.mark.parametrize("draws, passes", [
    ([[(1.0, 1.0, 0.1)]] * DRAWS, True), ([[(1.2, 1.0, 0.1)]] * DRAWS, False),
    ([[(1.2, 1.0, 1.3)]] * DRAWS, True),                                # within roundings
    ([[(1.4, 0.5, 1.3)], [(0.0, 0.5, 1.3)]] * (DRAWS // 2), True),
    ([[(1.4, 0.5, 1.3)]] * DRAWS, False),
    ([[(2.0, 1.0, 0.1)], [(1.0, 2.0, 0.1)]] * (DRAWS // 2), True),      # now one, now the other
    ([[(1.0, 1.0, 0.1), (2.0, 1.0, 0.1)]] * DRAWS, False),              # one of two results
    ([[(1.0, 1.0, 0.1)]] * (DRAWS - 1) + [[(float("inf"), 0.0, 0.1)]], False),
    ([], False), ([[]] * DRAWS, False), ([[(1.0, 1.0, 0.1)]] * 9, False),
    ([[(1.0, 1.0, 0.1)]] * (DRAWS - 1) + [[]], False),
    ([[(0.0, 0.0, 0.0)]] * DRAWS, True), ([[(1e-9, 0.0, 0.0)]] * DRAWS, False)])
def test_draws_decide(draws, passes):
    assert operator_database.are_within_limits(draws) == passes


def test_a_result_that_is_nan_in_a_draw_is_an_infinite_error():
    right = torch.tensor([1.0, 2.0])
    for wrong in (NAN, INF):
        errors = comparison.errors([torch.tensor([1.0, wrong])], [right], [right.double()],
                                   comparison.Limits())
        assert [mine for mine, _, _ in errors] == [INF, INF]


def test_an_exception_is_excused_by_one_of_its_type_alone():
    error = comparison.raised(RuntimeError("ours"))
    assert error.is_excused_by(comparison.raised(RuntimeError("theirs")))
    assert not error.is_excused_by(comparison.raised(TypeError("theirs")))
    value = comparison.Difference("value", "", 0, "rms", 1.0)
    assert not value.is_excused_by(error)


@pytest.mark.parametrize("function", [
    lambda x: torch.nn.functional.dropout(x, 0.5, training=True), torch.rand_like,
    torch.bernoulli, lambda x: x.clone().uniform_(), torch.randn_like])
@pytest.mark.parametrize("dtype", comparison.NARROW)
def test_f64_draws_what_the_type_draws(function, dtype):
    x = torch.full((40, 9), 0.5, dtype=dtype)
    torch.manual_seed(3)
    wanted = function(x)
    torch.manual_seed(3)
    with comparison.InF64(dtype):
        got = function(x.double())
    assert got.dtype == torch.float64
    assert torch.equal(got.to(dtype), wanted)


def test_a_call_that_draws_is_compared_with_pytorchs_own_graph(monkeypatch):
    """Eager's dropout on a CPU draws in another order than the graph's."""
    reference.install(monkeypatch)
    seen = []
    exactly = operator_database._exactly

    def watched(call, tensors):
        exact, written = exactly(call, tensors)
        seen.append(exact[0])
        return exact, written
    monkeypatch.setattr(operator_database, "_exactly", watched)
    call = Call("0", lambda x: torch.nn.functional.dropout((x * 2).softmax(-1), 0.5), [
        torch.randn(16, 33, generator=torch.Generator().manual_seed(5))])
    result = operator_database.Runner("cpu").run("softmax", "f32", call)
    assert result.state == "launched" and not result.differences
    graph = operator_database.compiled(call, call.tensors, operator_database.dynamo.Report(), ())
    torch.manual_seed(3)
    drawn, = graph(*copies(call.tensors))
    assert torch.equal(drawn == 0, seen[0] == 0)
