# SPDX-License-Identifier: Apache-2.0
"""Tasks for test_worker_pool.py, of which some raise, hang or end their process. Workers do so too,
at their start, where the settings ask for it."""
import os
import time


def prepare(settings):
    """Gives the function that a worker calls with a task: it yields results, and may fail."""
    if settings == "raise":
        raise ValueError("planted")
    if settings == "exit":
        os._exit(3)

    def call(task):
        count, then = task
        for i in range(count):
            yield settings + i
        if then == "raise":
            raise ValueError("planted")
        if then == "hang":
            time.sleep(60)
        if then == "exit":
            os._exit(3)
    return call
