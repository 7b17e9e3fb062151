# SPDX-License-Identifier: Apache-2.0
"""Workers that hang, raise or crash end their own task only."""
import multiprocessing
import sys
from collections import deque

import pytest

from conftest import ROOT

sys.path.append(str(ROOT / "tools"))
import worker_pool  # noqa: E402


def test_each_task_has_an_end():
    tasks = deque([(2, ""), (1, "hang"), (0, "raise"), (3, "exit"), (1, "")])
    results: dict = {}
    ends: dict = {}
    for outcome in worker_pool.run(tasks, "pool_tasks", "prepare", 10, jobs=2, limit=20):
        if outcome.is_end:
            ends[outcome.task] = outcome.failure
            if outcome.task == (1, "hang"):
                tasks.append((4, "later"))
        else:
            results.setdefault(outcome.task, []).append(outcome.result)
    assert ends.pop((2, "")) is None and ends.pop((1, "")) is None
    assert ends.pop((4, "later")) is None
    hung = ends.pop((1, "hang"))
    assert "no end within 20 s" in hung.text and hung.is_lost
    assert "pool_tasks.py" in hung.text  # where it hangs
    raised, died = ends.pop((0, "raise")), ends.pop((3, "exit"))
    assert "planted" in raised.text and not raised.is_lost
    assert "ended with 3" in died.text and died.is_lost and died.status == 3
    assert not ends
    assert results == {(2, ""): [10, 11], (1, "hang"): [10], (3, "exit"): [10, 11, 12],
                       (1, ""): [10], (4, "later"): [10, 11, 12, 13]}


def test_a_worker_that_dies_while_idle_loses_no_task():
    tasks = deque([(1, "")])
    seen = []
    for outcome in worker_pool.run(tasks, "pool_tasks", "prepare", 10, jobs=1, limit=20):
        seen.append(outcome)
        if outcome.is_end and outcome.task == (1, ""):
            worker, = multiprocessing.active_children()
            worker.kill()
            worker.join()
            tasks.append((2, ""))
    assert [(outcome.task, outcome.result, outcome.failure) for outcome in seen] == [
        ((1, ""), 10, None), ((1, ""), None, None),
        ((2, ""), 10, None), ((2, ""), 11, None), ((2, ""), None, None)]


@pytest.mark.parametrize("settings", ["raise", "exit"])
def test_a_worker_that_does_not_start_ends_the_run(settings):
    with pytest.raises(RuntimeError, match="no worker starts: the process ended with"):
        list(worker_pool.run(deque([(1, "")]), "pool_tasks", "prepare", settings, jobs=1, limit=20))
