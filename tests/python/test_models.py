# SPDX-License-Identifier: Apache-2.0
"""The models that need no library, beside eager and f64, by the reference interpreter."""
import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from conftest import ROOT  # noqa: E402

sys.path.append(str(ROOT / "tools"))
import reference  # noqa: E402
import verify_models  # noqa: E402
from ingot.torch import partition  # noqa: E402
from ingot.torch.rules import RULES, Refusal  # noqa: E402
from plain_models import BUILDERS, HandLstm  # noqa: E402

NAN, INF = float("nan"), float("inf")

NAMES = [f"plain_{name}" for name in BUILDERS if name != "hand_lstm"]  # of many steps


def run(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "tools" / "verify_models.py"), *arguments],
                          capture_output=True, text=True, check=False)


def test_plain_models_are_at_least_as_exact_as_eager(tmp_path):
    summary = tmp_path / "summary.json"
    done = run("--on=reference", f"--json={summary}", "--precision", "f32", "bf16", "--", *NAMES)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    rows = json.loads(summary.read_text())
    assert len(rows) == 2 * len(NAMES)
    assert [name for name, row in rows.items() if not row["pieces"]] == []


def test_an_error_beyond_eagers_is_told():
    row = {"error": [1e-6, 1e-6], "eager_error": [1e-7, 1e-7], "is_exact_enough": False, "left": []}
    assert verify_models.verdict(row) == "FAIL: error"
    skipped = {"skipped": "transformers is not installed"}
    assert verify_models.verdict(skipped).startswith("skip")


@pytest.mark.parametrize("got, wanted", [
    ([1.0, NAN], [1.0, 2.0]), ([NAN, NAN], [1.0, 2.0]), ([1.0, INF], [1.0, 2.0]),
    ([1.0, 2.0], [1.0, NAN]), ([1.0, INF], [1.0, -INF])])
def test_nan_and_infinities_are_errors(got, wanted):
    assert verify_models.error([torch.tensor(got)], [torch.tensor(wanted).double()]) == (INF, INF)


def test_nan_and_infinities_where_they_belong_are_none():
    special = torch.tensor([1.0, NAN, INF, -INF])
    assert verify_models.error([special], [special.double()]) == (0, 0)


def test_a_model_that_gives_nan_is_not_exact_enough(monkeypatch):
    reference.install(monkeypatch)
    settings = {"on": "reference", "plan": False}
    contest = verify_models.Contest(torch.nn.Linear(4, 4), settings, "f32")
    original = contest.ours.call
    contest.ours.call = lambda x: original(x) * NAN
    with torch.no_grad():
        contest.add((torch.randn(2, 4),))
    assert not contest.is_exact_enough()


class Picks(torch.nn.Module):
    """Gives integers and bools beside numbers."""

    def forward(self, x):
        return x * x, (x * x).argmax(-1), {"large": x.abs() > 1}


@pytest.mark.parametrize("fault", [None, 1, 2])
def test_integers_and_bools_are_compared(monkeypatch, fault):
    reference.install(monkeypatch)
    settings = {"on": "reference", "plan": False}
    contest = verify_models.Contest(Picks(), settings, "f32")
    original = contest.ours.call

    def call(x):
        results = original(x)
        if fault == 1:
            results[1][0] = 1 - results[1][0]
        if fault == 2:
            results[2]["large"].logical_not_()
        return results
    contest.ours.call = call
    draw = torch.tensor([[1.5, 0.5], [0.25, -3.0]]),
    with torch.no_grad():
        if fault is None:
            contest.add(draw)
            assert contest.is_exact_enough()
        else:
            with pytest.raises(AssertionError, match="are not eager's"):
                contest.add(draw)


@pytest.mark.parametrize("op, reason, is_fault", [
    ("aten.triu", "a reason that is not known", True),
    ("aten.mul.Tensor", "strides that leave gaps or overlap", True),
    ("aten.triu", partition.MOVES_ONLY, False),
    ("aten.mul.Tensor", partition.SCALARS_ONLY, False),
    ("aten.mul.Tensor", "a tensor of torch.complex64, torch.strided", False),
    ("aten.mul.Tensor", "a tensor on cpu", False),
    ("aten._scaled_dot_product_flash_attention", "PyTorch's is faster", False),
    ("aten.convolution", "no rule for this operator", False)])
def test_an_operator_that_has_a_rule_must_not_be_left(op, reason, is_fault):
    told = verify_models.verdict({"left": [[op, reason, 1]]})
    assert told == (f"FAIL: leaves {op}" if is_fault else "pass")


def test_a_rule_that_refuses_is_seen_in_a_model(monkeypatch):
    def refuse(*_, **named):
        raise Refusal("planted")
    monkeypatch.setitem(RULES, torch.ops.aten.mul.Tensor, refuse)
    reported = verify_models.Reported(lambda x: torch.relu(x * x), "reference", True)
    with torch.no_grad():
        reported.call(torch.randn(4, 6))
    assert verify_models.verdict(reported.facts()) == "FAIL: leaves aten.mul.Tensor"


def test_an_lstm_by_hand_with_sizes_that_change(monkeypatch):
    reference.install(monkeypatch)
    torch.manual_seed(0)
    module = HandLstm(16).eval()
    for batch in (3, 5):
        x = torch.randn(batch, 4, 16)
        results, reports = reference.through(module, x, dynamic=True)
        assert reference.pieces(reports)
        with torch.no_grad():
            torch.testing.assert_close(results, module(x))
