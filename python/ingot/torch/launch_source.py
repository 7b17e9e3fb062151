# SPDX-License-Identifier: Apache-2.0
"""The call of one launcher as Python source: what the launcher knows before is written into it, so
that a call tests, loops and looks up no more than it must."""
from __future__ import annotations

import itertools
import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Sequence

from ingot.torch.launch_arguments import Arguments

_numbers = itertools.count()


@dataclass
class CallFacts:
    """What is known before the first call."""
    device: int            # the GPU's index
    inputs: Sequence[int]  # where among a call's tensors they stand
    params: Sequence[int]
    arguments: Arguments
    dims: Sequence[tuple[int, int, int]]  # place, axis, factor: extent // factor is a named size
    is_watched: bool       # memory was prepared from params, which may have changed
    is_fixed: bool         # shapes need no check
    has_workspace: bool    # at some size
    has_state: bool


def _param_lines(facts: CallFacts) -> list[str]:
    if not facts.is_watched:
        return ["param_set = launcher._last or launcher._param_set(tensors)"]
    lines = ["param_set = launcher._last",
             "if param_set is None:",
             "    param_set = launcher._param_set(tensors)"]
    if facts.params:
        known = [f"(id{i}, version{i}, pointer{i})" for i in range(len(facts.params))]
        changed = [f"id(tensors[{place}]) != id{i} or tensors[{place}]._version != version{i} or "
                   f"tensors[{place}].data_ptr() != pointer{i}"
                   for i, place in enumerate(facts.params)]
        lines += ["else:",
                  f"    {', '.join(known)}, = param_set.known",
                  "    if (" + " or\n            ".join(changed) + "):",
                  "        param_set = launcher._param_set(tensors)"]
    return lines + ["if param_set.prepared is not None and not param_set.is_captured:",
                    "    launcher._note_stream(param_set, stream)"]


def _size_lines(facts: CallFacts) -> list[str]:
    extents = [f"tensors[{place}].shape[{axis}]" + (f" // {factor}" if factor != 1 else "")
               for place, axis, factor in facts.dims]
    key = f"({', '.join(extents)},)" if extents else "()"
    made = [f"made{i}" for i in range(len(facts.arguments.outputs))]
    return [f"key = {key}",
            "sizes = known_sizes.get(key) or launcher._new_sizes(key)",
            "given = out",
            "if out is None:",
            f"    {', '.join(made)}, = sizes.made",
            f"    out = [{', '.join(f'empty(*{one})' for one in made)}]"]


def _word_lines(facts: CallFacts) -> list[str]:
    tensors = [f"tensors[{place}]" for place in facts.inputs]
    # Those of watched params are written when the set changes.
    tensors += [None if facts.is_watched else f"tensors[{place}]" for place in facts.params]
    tensors += [f"out[{i}]" for i in range(len(facts.arguments.outputs))]
    lines = [f"words[{word}] = {tensor}.data_ptr()"
             for word, tensor in zip(facts.arguments.data, tensors) if tensor]
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


def compile_call(facts: CallFacts) -> CodeType:
    """What defines the call; its names are `launcher`, the pool and sizes of it, and what it calls
    of PyTorch and the library."""
    source, file = call_source(facts), f"<ingot launch {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file  # for tracebacks
    return compile(source, file, "exec")
