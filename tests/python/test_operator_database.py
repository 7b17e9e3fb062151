# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database beside eager, by the reference interpreter: some calls of every
operator. tools/verify_operators.py makes all of them, on a GPU or here."""
import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

import torch  # noqa: E402

from conftest import ROOT  # noqa: E402

sys.path.append(str(ROOT / "tools"))
from operator_database import LOST_BY_EAGER, vary  # noqa: E402
from operator_samples import copies  # noqa: E402
from verify_operators import Step, Summary, Task, failed  # noqa: E402
from worker_pool import Failure  # noqa: E402

#: Operators of which the sampled calls run at least one piece.
LAUNCHED = pathlib.Path(__file__).parent / "launched_operators.txt"
UPDATE = ("python3 tools/verify_operators.py --on=reference --sampled "
          f"--launched={LAUNCHED.relative_to(ROOT)}")


def lost(told):
    """Operators of the list that the run called and that ran no piece. Another version of PyTorch
    may lack some."""
    return sorted(set(LAUNCHED.read_text().split("\n")) & set(told["left"] + told["failed"]))


def test_sampled_calls_of_every_operator(tmp_path):
    summary = tmp_path / "summary.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "verify_operators.py"), "--on=reference", "--sampled",
         "--jobs=2", f"--json={summary}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    told = json.loads(summary.read_text())
    assert told["differences"] == []
    assert not lost(told), f"no piece of {lost(told)} ran; where that is meant: {UPDATE}"


def test_an_operator_that_is_lost_is_named():
    assert lost({"left": ["bernoulli", "add"], "failed": ["mul"]}) == ["add", "mul"]
    assert lost({"left": ["bernoulli"], "failed": []}) == []


@pytest.mark.parametrize("reached, is_lost, sample, after", [
    (None, True, "3", 4),
    (Step(5, {}), True, "6, or another form of 5", 6),
    (Step(5, {}), False, "6, or another form of 5", None),
    (Step(None, None), True, "whole", None),
    (Step(None, {}), True, "whole", None)])
def test_a_failure_says_where_and_what_goes_on(reached, is_lost, sample, after):
    row, task = failed(Task("add", "f32", 3), reached, Failure("no end", is_lost))
    assert row["sample"] == sample and row["differences"] == [("failure", "no end")]
    assert task == (Task("add", "f32", after) if after is not None else None)


def test_a_gpu_that_eager_pytorch_lost_is_no_difference():
    row, task = failed(Task("add", "f32", 3), Step(5, {}),
                       Failure("the process ended", True, LOST_BY_EAGER))
    assert row["state"] == "lost by eager" and not row["differences"] and task.first == 6


def test_draws_keep_integers_in_range_and_shuffle_them_only_among_themselves():
    whole, real = torch.arange(10).expand(3, 10), torch.ones(4)
    mixed = [copies([whole])[0], real.clone()]
    vary(mixed)
    assert torch.equal(mixed[0], whole) and not torch.equal(mixed[1], real)
    alone, = copies([whole])
    vary([alone])
    assert not torch.equal(alone, whole) and torch.equal(alone[0].sort().values, whole[0])


def test_an_operator_that_only_failed_did_not_launch_and_was_not_left():
    summary = Summary()
    summary.add("add", "f32", failed(Task("add", "f32"), None, Failure("no end", True))[0])
    told = summary.as_json()
    assert told["launched"] == told["left"] == [] and told["failed"] == ["add"]
    assert told["states"] == {"failed": 1} and len(told["differences"]) == 1
