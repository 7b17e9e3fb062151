# SPDX-License-Identifier: Apache-2.0
"""The call of one launcher as Python source: what the launcher knows before is written into it, so
that a call tests, loops and looks up no more than it must."""
from __future__ import annotations

import functools
import hashlib
import linecache
import math
from dataclasses import dataclass
from types import CodeType
from typing import Sequence

from ingot.torch.launch_arguments import Arguments


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Those of a contiguous tensor."""
    return tuple(math.prod(max(extent, 1) for extent in shape[axis + 1:])
                 for axis in range(len(shape)))


@dataclass
class Unguarded:
    """A tensor that may be replaced between calls without anybody's notice. Extents that have names
    are the launcher's to check."""
    place: int
    shape: tuple[int | str, ...]
    dtype: str
    device: int

    def lines(self) -> list[str]:
        """What raises AssertionError where it was."""
        tensor = f"tensors[{self.place}]"
        test = [f"{tensor}.dtype is not {self.dtype}", f"{tensor}.get_device() != {self.device}"]
        lines = []
        if all(isinstance(extent, int) for extent in self.shape):
            lines.append(f"check({tensor}, {self.shape}, {dense_strides(self.shape)})")
        else:
            test.append(f"not {tensor}.is_contiguous()")
            test.append(f"{tensor}.dim() != {len(self.shape)}")
            test += [f"{tensor}.shape[{axis}] != {extent}"
                     for axis, extent in enumerate(self.shape) if isinstance(extent, int)]
        return [*lines, f"if {' or '.join(test)}:", "    raise AssertionError"]


@dataclass
class CallFacts:
    """What is known before the first call."""
    device: int            # the GPU's index
    inputs: Sequence[int]  # where among a call's tensors they stand
    params: Sequence[int]
    arguments: Arguments
    dims: Sequence[tuple[int, int, int]]  # place, axis, factor: extent // factor is a named size
    unguarded: Sequence[Unguarded]
    is_watched: bool       # memory is prepared from params: writes to them matter
    is_fixed: bool         # shapes need no check
    has_workspace: bool    # at some size
    has_state: bool


def _guard_lines(facts: CallFacts) -> list[str]:
    if not facts.unguarded:
        return []
    return ["try:", *(f"    {line}" for one in facts.unguarded for line in one.lines()),
            "except AssertionError:",
            "    tensors = launcher._as_declared(tensors)"]


def _param_lines(facts: CallFacts) -> list[str]:
    tests = {"key": "id(tensors[{place}]) != key{i}",
             "versions": "tensors[{place}]._version != versions{i}",
             "pointers": "tensors[{place}].data_ptr() != pointers{i}"}
    if not facts.is_watched:
        tests = {"pointers": tests["pointers"]}
    lines = ["param_set = launcher._last",
             "if param_set is None:",
             "    param_set = launcher._param_set(tensors)"]
    if facts.params:
        lines.append("else:")
        for what in tests:
            names = "".join(f"{what}{i}, " for i in range(len(facts.params)))
            lines.append(f"    {names}= param_set.{what}")
        changed = [test.format(place=place, i=i) for i, place in enumerate(facts.params)
                   for test in tests.values()]
        lines += ["    if (" + " or\n            ".join(changed) + "):",
                  "        param_set = launcher._param_set(tensors)"]
    if facts.is_watched:
        lines += ["if not param_set.is_captured:",
                  "    launcher._note_stream(param_set, stream)"]
    return lines


def _size_lines(facts: CallFacts) -> list[str]:
    extents = [f"tensors[{place}].shape[{axis}]" + (f" // {factor}" if factor != 1 else "")
               for place, axis, factor in facts.dims]
    key = f"({', '.join(extents)},)" if extents else "()"
    made = [f"made{i}" for i in range(len(facts.arguments.outputs))]
    return [f"key = {key}",
            "sizes = known_sizes.get(key) or launcher._new_sizes(key)",
            *([] if facts.is_fixed else ["given = out"]),
            "if out is None:",
            f"    {', '.join(made)}, = sizes.made",
            f"    out = [{', '.join(f'empty(*{one})' for one in made)}]"]


def _word_lines(facts: CallFacts) -> list[str]:
    # Params' words are written when the set changes.
    lines = [f"words[{word}] = tensors[{place}].data_ptr()"
             for word, place in zip(facts.arguments.data, facts.inputs)]
    lines += [f"words[{word}] = out[{i}].data_ptr()"
              for i, word in enumerate(facts.arguments.outputs)]
    lines.append(f"words[{Arguments.STREAM}] = stream")
    if facts.has_workspace:
        lines += ["if sizes.workspace:",
                  "    workspace = empty((sizes.workspace,), (1,), uint8)",
                  f"    words[{Arguments.WORKSPACE}] = workspace.data_ptr()"]
    if facts.has_state:
        lines += ["if sizes.state:",
                  "    state = launcher._state(stream, sizes.state)",
                  f"    words[{Arguments.STATE}] = state.data_ptr()"]
    return lines


def call_source(facts: CallFacts) -> str:
    """Source of call(tensors, out=None)."""
    lines = [f"if current_device() != {facts.device}:",
             "    return launcher._on_device(tensors, out)",
             *_guard_lines(facts),
             f"stream = current_stream({facts.device})",
             *_param_lines(facts),
             *_size_lines(facts),
             "try:",
             "    arguments = pool.pop()",
             "except IndexError:",
             "    arguments = new_arguments()",
             "if arguments.param_set is not param_set:",
             "    arguments.set_params(param_set)",
             "if arguments.sizes is not sizes:",
             "    arguments.set_sizes(sizes)"]
    if not facts.is_fixed:
        lines.append("launcher._check_shapes(arguments, sizes, tensors, given)")
    lines += ["words = arguments.words",
              *_word_lines(facts),
              "code = launch(handle, arguments.address, arguments.error_reference)",
              "if code:",
              "    return launcher._failed(code, arguments, tensors, out)",
              "pool.append(arguments)",
              "return out"]
    return "def call(tensors, out=None):\n" + "".join(f"    {line}\n" for line in lines)


@functools.lru_cache(maxsize=256)
def compile_call(source: str) -> CodeType:
    """The code that defines the call. The globals that it expects are those of
    `Launcher.make_call`."""
    file = f"<ingot launch {hashlib.sha256(source.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file  # for tracebacks
    return compile(source, file, "exec")
