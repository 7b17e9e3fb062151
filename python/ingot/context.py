# SPDX-License-Identifier: Apache-2.0
"""Makes the primary context of a GPU current in a thread. A thread that has not called CUDA yet has
no context."""
from __future__ import annotations

import threading

from ingot import _library as lib

_contexts = threading.local()


class _Context(lib.Handle):
    """Makes the context current in the thread that makes this object."""

    _free = "ingot_gpu_free"

    def __init__(self, ordinal: int) -> None:
        super().__init__(lib.make("ingot_gpu_open", ordinal))


def has_context(ordinal: int) -> bool:
    """Whether use_context was called for this GPU in this thread."""
    return ordinal in getattr(_contexts, "opened", ())


def use_context(ordinal: int) -> None:
    """Makes the context of a GPU current in this thread, at the first call for this GPU. Later
    switches between GPUs are those of the thread's tensor library."""
    if not has_context(ordinal):
        if not hasattr(_contexts, "opened"):
            _contexts.opened = {}
        _contexts.opened[ordinal] = _Context(ordinal)
