#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database through the backend: verify_operators.py [OPERATOR ...].

Every operator, in f32, bf16, f16, i64 and bool, on every sample, and on some samples with tensors
that lie otherwise, beside eager: values (against f64, beside eager's error), dtype, shape, strides,
storage that is shared, writes to inputs, NaN, infinities, signs of zero, two calls, exceptions.
Each difference is a line. Exit status 1 when there is one.

--on=reference runs on the CPU, with the reference interpreter. --sampled takes some calls of every
operator, the same at every run, as continuous integration does. --shard I/N takes one share of N.
--resume goes on from the file that --state names, to which each finished operator and type is
written: those without a difference are not run again.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
import zlib
from collections import Counter, deque
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "python")]
import conftest  # noqa: E402, F401  finds the package

import torch  # noqa: E402

import worker_pool  # noqa: E402
from operator_database import LOST_BY_EAGER  # noqa: E402


class Task(NamedTuple):
    """An operator and type, from one of its samples on."""
    op: str
    dtype: str
    first: int = 0


class Step(NamedTuple):
    """How far a task is: the row of a sample's call, or of a call through the whole of
    torch.compile, where `sample` is None. Without a row: the latter begin."""
    sample: int | None
    row: dict | None


def work(settings: dict):
    """Gives the function that a worker calls with a Task; it yields Steps."""
    torch.set_num_threads(1)
    if settings["device"] == "cpu":
        import reference
        reference.install_for_process()
    import operator_database
    import operator_samples
    runner = operator_database.Runner(settings["device"])
    extent = operator_samples.SAMPLED if settings["sampled"] else operator_samples.ALL
    if settings["most"] is not None:
        first = settings["first"]
        extent = extent._replace(samples=frozenset(range(first, first + settings["most"])))

    def one(task):
        op, dtype, first = task
        for index, result in operator_database.results(runner, op, dtype, first, extent):
            yield Step(index, _plain(result))
        if dtype == settings["whole"] and (not settings["sampled"] or extent.has(op)):
            yield Step(None, None)
            for result in operator_database.whole(runner, op, dtype):
                yield Step(None, _plain(result))
    return one


def _plain(result) -> dict:
    return {"sample": result.sample, "state": result.state, "is_between": result.is_between,
            "differences": [(difference.kind, difference.text)
                            for difference in result.differences],
            "excused": result.excused, "reasons": result.reasons}


def failed(task: Task, reached: Step | None, failure: worker_pool.Failure) -> tuple[
        dict, Task | None]:
    """The row of a failure, and the task that goes on behind it. `reached` is the task's last
    step."""
    row = {"state": "failed", "is_between": False, "excused": [], "reasons": [],
           "differences": [("failure", failure.line(300))]}
    if failure.status == LOST_BY_EAGER:
        row = {**row, "state": "lost by eager", "differences": []}
    if reached is not None and reached.sample is None:
        return {**row, "sample": "whole"}, None
    at = task.first if reached is None else reached.sample + 1
    after = None
    if failure.is_lost:
        after = task._replace(first=at + 1 if reached is None else at)
    if reached is None:
        return {**row, "sample": str(at)}, after
    return {**row, "sample": f"{at}, or another form of {reached.sample}"}, after


class Summary:
    """The observations by operator and type, and their numbers."""

    def __init__(self):
        self.states, self.excused, self.left = Counter(), Counter(), Counter()
        self.launched: set[str] = set()
        self.failed: set[str] = set()
        self.seen: set[str] = set()
        self.differences: list[list] = []

    def add(self, op: str, dtype: str, row: dict) -> None:
        self.states[row["state"]] += 1
        self.seen.add(op)
        if row["state"] == "launched" and not row["is_between"]:
            self.launched.add(op)
        if row["state"] == "failed":
            self.failed.add(op)
        self.left.update(f"{name}: {reason}" for name, reason in row["reasons"])
        self.excused.update(f"{op}: {text}" for text in row["excused"])
        for kind, text in row["differences"]:
            self.differences.append([op, dtype, row["sample"], kind, text])

    def left_to_eager(self) -> set[str]:
        """Operators of which no call launched and none failed."""
        return self.seen - self.launched - self.failed

    def print(self, seconds: float) -> None:
        states = ", ".join(f"{count} {state}" for state, count in self.states.most_common())
        print(f"\n{sum(self.states.values())} calls of {len(self.seen)} operators in "
              f"{seconds:.0f} s: {states}")
        print(f"{len(self.launched)} operators of which at least one piece ran, "
              f"{len(self.left_to_eager())} left to eager in all calls")
        print(f"{len(self.differences)} differences, of {len({d[0] for d in self.differences})} "
              f"operators; {sum(self.excused.values())} that are listed")
        for (op, kind), count in Counter((d[0], d[3]) for d in self.differences).most_common(40):
            print(f"  {count:5} {op}: {kind}")

    def as_json(self) -> dict:
        return {"states": self.states, "launched": sorted(self.launched),
                "left": sorted(self.left_to_eager()), "failed": sorted(self.failed),
                "reasons": self.left.most_common(), "excused": self.excused,
                "differences": self.differences}


def tasks_of(arguments, device: str) -> list[Task]:
    """Each operator and type that is asked for."""
    from operator_samples import DTYPES, OPERATORS, dtypes_of, sampled_dtypes_of
    for name in arguments.operators:
        if name not in OPERATORS:
            sys.exit(f"there is no operator {name!r} in PyTorch's database")
    dtypes = sampled_dtypes_of if arguments.sampled else dtypes_of
    tasks = [Task(op, dtype) for op in arguments.operators or OPERATORS
             for dtype in dtypes(OPERATORS[op], device)
             if dtype in (arguments.dtype or DTYPES)]
    # A run that is cut off has then seen operators of every kind.
    tasks.sort(key=lambda task: zlib.crc32(repr(tuple(task)).encode()))
    number, of = map(int, arguments.shard.split("/"))
    return tasks[number - 1::of]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="default: all")
    parser.add_argument("--dtype", nargs="*", help="f32, bf16, f16, i64, bool; default: all")
    parser.add_argument("--on", choices=("gpu", "reference"), default="gpu")
    parser.add_argument("--sampled", action="store_true", help="some calls of every operator")
    parser.add_argument("--most", type=int, help="samples of an operator and type; default: all")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, help="processes; default 1, or one a core on a GPU")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one sample")
    parser.add_argument("--whole", default="f32", metavar="TYPE",
                        help="the type that also goes through torch.compile; none: no type")
    parser.add_argument("--shard", default="1/1", metavar="I/N")
    parser.add_argument("--state", type=pathlib.Path, help="file of finished operators")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, help="file of the summary")
    parser.add_argument("--launched", type=pathlib.Path, help="file of operators that launched")
    arguments = parser.parse_args()
    device = "cuda" if arguments.on == "gpu" else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("no GPU; --on=reference runs without one")
    tasks, summary, started = tasks_of(arguments, device), Summary(), time.monotonic()
    done = _resumed(arguments, summary)
    queue = deque(task for task in tasks if task[:2] not in done)
    print(f"{len(queue)} of {len(tasks)} operators and types", flush=True)
    jobs = arguments.jobs or (os.cpu_count() if device == "cuda" else 1)
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("INGOT_CACHE_DIR", cache)  # shared by all processes
        settings = {"device": device, "whole": arguments.whole, "sampled": arguments.sampled,
                    "most": arguments.most, "first": arguments.first}
        try:
            _run(queue, settings, jobs, arguments, summary)
        finally:  # the results so far are worth hours
            summary.print(time.monotonic() - started)
            if arguments.json:
                arguments.json.write_text(json.dumps(summary.as_json(), indent=1))
    if arguments.launched:
        arguments.launched.write_text("".join(f"{op}\n" for op in sorted(summary.launched)))
    return 1 if summary.differences else 0


def _resumed(arguments, summary: Summary) -> set[tuple[str, str]]:
    if not (arguments.resume and arguments.state and arguments.state.exists()):
        return set()
    finished = {}
    for line in arguments.state.read_text().splitlines():
        op, dtype, rows = json.loads(line)
        finished[op, dtype] = rows
    right = {key: rows for key, rows in finished.items()
             if not any(row["differences"] for row in rows)}
    for key, rows in right.items():
        for row in rows:
            summary.add(*key, row)
    return set(right)


def _run(queue: deque, settings: dict, jobs: int, arguments, summary: Summary) -> None:
    num, ended, told = len(queue), 0, time.monotonic()
    rows: dict[tuple[str, str], list[dict]] = {}
    reached: dict[Task, Step] = {}
    state = arguments.state.open("a" if arguments.resume else "w") if arguments.state else None
    for task, step, is_end, failure in worker_pool.run(queue, "verify_operators", "work", settings,
                                                       jobs, arguments.limit):
        key, row = task[:2], None
        if step is not None:
            reached[task], row = step, step.row
        if failure is not None:
            row, after = failed(task, reached.get(task), failure)
            if after is not None:
                queue.append(after)
                is_end = False
        if row is not None:
            rows.setdefault(key, []).append(row)
            summary.add(*key, row)
            if row["state"] == "lost by eager":
                print(f"{key[0]} {key[1]} sample {row['sample']}: eager PyTorch lost the GPU",
                      flush=True)
            for kind, text in row["differences"]:
                print(f"{key[0]} {key[1]} sample {row['sample']}: {kind}: {text}", flush=True)
        if is_end:
            ended += 1
            if state is not None:
                print(json.dumps([*key, rows.pop(key, [])]), file=state, flush=True)
        if time.monotonic() - told > 15:
            told = time.monotonic()
            print(f"... {ended} of {num}, {sum(summary.states.values())} calls, "
                  f"{len(summary.differences)} differences", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
