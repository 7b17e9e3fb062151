# SPDX-License-Identifier: Apache-2.0
"""The primary context of a GPU as the current one of a thread: one that has not called CUDA yet has
none."""
import threading

from ingot import _library as lib

_contexts = threading.local()


class _Context(lib.Handle):
    """Makes the context current in the thread that makes it."""

    _free = "ingot_gpu_free"

    def __init__(self, ordinal: int):
        super().__init__(lib.make("ingot_gpu_open", ordinal))


def has_context(ordinal: int) -> bool:
    """Whether use_context was called for this GPU in this thread."""
    return ordinal in getattr(_contexts, "opened", ())


def use_context(ordinal: int) -> None:
    """Once a thread and GPU. Where the thread goes on to another GPU, its library says so."""
    if not has_context(ordinal):
        if not hasattr(_contexts, "opened"):
            _contexts.opened = {}
        _contexts.opened[ordinal] = _Context(ordinal)
