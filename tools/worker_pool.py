# SPDX-License-Identifier: Apache-2.0
"""Tasks in worker processes that may hang or crash: what a task does has a time limit, and a worker
that is lost is started again."""
from __future__ import annotations

import faulthandler
import importlib
import multiprocessing
import os
import pathlib
import signal
import tempfile
import time
import traceback
from collections import deque
from multiprocessing.connection import wait
from typing import Any, Iterator, NamedTuple

_CONTEXT = multiprocessing.get_context("spawn")


class Outcome(NamedTuple):
    """What a task gave, part by part, and at its end nothing or what went wrong."""
    task: Any
    part: Any = None
    is_end: bool = False
    failure: str | None = None


def _serve(connection, trace: str, module: str, function: str, settings: Any) -> None:
    with open(trace, "w", encoding="utf-8") as file:
        faulthandler.register(signal.SIGUSR1, file)
        _answer(connection, module, function, settings)


def _answer(connection, module: str, function: str, settings: Any) -> None:
    call = getattr(importlib.import_module(module), function)(settings)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            for part in call(task):
                connection.send(("part", part))
            connection.send(("end", None))
        except Exception:  # told to who asked, and the next task may do better
            connection.send(("end", traceback.format_exc(limit=-4)))


class _Worker:
    def __init__(self, module: str, function: str, settings: Any):
        self.connection, theirs = _CONTEXT.Pipe()
        self.trace = tempfile.NamedTemporaryFile()  # closed, and so deleted, by end()
        self.process = _CONTEXT.Process(
            target=_serve, args=(theirs, self.trace.name, module, function, settings), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Any = None
        self.is_busy, self.is_lost, self.since = False, False, 0.0

    def give(self, task: Any) -> None:
        self.task, self.is_busy, self.since = task, True, time.monotonic()
        self.connection.send(task)

    def take(self) -> Outcome:
        """What it says."""
        self.since = time.monotonic()
        try:
            kind, value = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(10)
            return self._lost(f"the process ended with {self.process.exitcode}")
        self.is_busy = kind == "part"
        return Outcome(self.task, value) if self.is_busy else Outcome(self.task, None, True, value)

    def late(self, limit: float) -> Outcome | None:
        """The end of a task of which a part takes too long."""
        if time.monotonic() - self.since < limit:
            return None
        return self._lost(f"{self._stacks()}no end within {limit:.0f} s")

    def _stacks(self) -> str:
        """Where the threads of the process are."""
        if self.process.pid is None or not self.process.is_alive():
            return ""
        os.kill(self.process.pid, signal.SIGUSR1)
        time.sleep(0.5)  # the handler needs no lock of the interpreter
        return pathlib.Path(self.trace.name).read_text(encoding="utf-8")

    def _lost(self, why: str) -> Outcome:
        self.is_busy, self.is_lost = False, True
        return Outcome(self.task, None, True, why)

    def end(self) -> None:
        self.connection.close()
        if not self.is_busy and not self.is_lost:
            self.process.join(5)
        self.process.kill()
        self.process.join()
        self.trace.close()


def run(tasks: deque, module: str, function: str, settings: Any, jobs: int,
        limit: float) -> Iterator[Outcome]:
    """Outcomes as they come. `function(settings)` of the module is called once in each worker and
    gives the generator function that is called with a task; each of its parts may take `limit`
    seconds. Who takes the outcomes may add tasks."""
    workers: list[_Worker] = []
    try:
        while tasks or any(worker.is_busy for worker in workers):
            for i, worker in enumerate(workers):
                if worker.is_lost:
                    worker.end()
                    workers[i] = _Worker(module, function, settings)
            while len(workers) < min(jobs, len(tasks)):
                workers.append(_Worker(module, function, settings))
            for i, worker in enumerate(workers):
                if tasks and not worker.is_busy and not worker.is_lost:
                    try:
                        worker.give(tasks[0])
                    except OSError:  # it died while it was idle
                        worker.end()
                        workers[i] = _Worker(module, function, settings)
                        workers[i].give(tasks[0])
                    tasks.popleft()
            ready = wait([worker.connection for worker in workers if worker.is_busy], timeout=1.0)
            for worker in workers:
                if worker.is_busy:
                    outcome = (worker.take() if worker.connection in ready else
                               worker.late(limit))
                    if outcome is not None:
                        yield outcome
    finally:
        for worker in workers:
            worker.end()
