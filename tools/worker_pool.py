# SPDX-License-Identifier: Apache-2.0
"""Tasks in worker processes that may hang or crash: each result of a task has a time limit, and a
worker that is lost is started again."""
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

#: Seconds that the start of a worker may take: its imports, and its preparation.
START_LIMIT = 300


class Failure(NamedTuple):
    """Why a task has no proper end. Its worker hung or died and was lost, or the task raised.
    `status` is the exit status of a process that died."""
    text: str
    is_lost: bool
    status: int | None = None

    def line(self, most: int) -> str:
        """The last line of the text."""
        return self.text.strip().splitlines()[-1][:most]


class Outcome(NamedTuple):
    """One result of a task, or its end with nothing or a failure."""
    task: Any
    result: Any = None
    is_end: bool = False
    failure: Failure | None = None


def _serve(connection, trace: str, module: str, function: str, settings: Any) -> None:
    with open(trace, "w", encoding="utf-8") as file:
        faulthandler.register(signal.SIGUSR1, file)
        _answer(connection, module, function, settings)


def _answer(connection, module: str, function: str, settings: Any) -> None:
    call = getattr(importlib.import_module(module), function)(settings)
    connection.send(("ready", None))
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            for result in call(task):
                connection.send(("result", result))
            connection.send(("end", None))
        except Exception:  # the failure of this task; the worker goes on with the next one
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
        self.is_ready, self.is_busy, self.is_lost, self.since = False, False, False, 0.0

    def give(self, task: Any) -> None:
        self.task, self.is_busy, self.since = task, True, time.monotonic()
        self.connection.send(task)

    def take(self) -> Outcome | None:
        """The message that has come, or the end of a process that died. None where the message says
        that the worker has started."""
        self.since = time.monotonic()
        try:
            kind, value = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(10)
            status = self.process.exitcode
            return self._lost(f"the process ended with {status}", status)
        if kind == "ready":
            self.is_ready = True
            return None
        self.is_busy = kind == "result"
        if self.is_busy:
            return Outcome(self.task, value)
        return Outcome(self.task, None, True, None if value is None else Failure(value, False))

    def late(self, limit: float) -> Outcome | None:
        """The end of a task of which a result takes too long."""
        limit = limit if self.is_ready else max(limit, START_LIMIT)
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

    def _lost(self, why: str, status: int | None = None) -> Outcome:
        if not self.is_ready:  # nor would the next one start
            raise RuntimeError(f"no worker starts: {why}")
        self.is_busy, self.is_lost = False, True
        return Outcome(self.task, None, True, Failure(why, True, status))

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
    gives the generator function that is called with a task; each of its results may take `limit`
    seconds. The caller may add tasks while it takes outcomes. RuntimeError where a worker fails
    before it takes a task; its stderr has the reason."""
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
