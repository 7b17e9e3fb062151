# SPDX-License-Identifier: Apache-2.0
"""The Python source of a launcher's call. Facts that the launcher knows before are written into it,
so that a call tests, loops and looks up as little as it can.

The source uses these globals, which Launcher.make_call gives it. The launcher's are `launcher`,
`params` (its ParamSets), `known_sizes`, `workspaces`, `states`, `pool`, `new_arguments`, `launch`,
`handle`, and `dtype_f32` and so on. The device's are `current_device`, `current_stream`,
`is_capturing`, `empty` (empty_strided) and `assert_size_stride`; a device that tracks no streams
has none of them.
"""
from __future__ import annotations

import functools
import hashlib
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType

from ingot.launch_arguments import STATE, STREAM, WORKSPACE, LaunchArguments
from ingot.launch_sizes import DimSource, dense_strides


@dataclass
class UnguardedTensor:
    """A tensor that may be replaced between calls without notice, and the properties that it must
    have. The launcher checks extents that have names."""
    place: int
    shape: tuple[int | str, ...]
    dtype: str
    device: int

    def lines(self) -> list[str]:
        """Lines that raise AssertionError where the tensor is another."""
        tensor = f"tensors[{self.place}]"
        test = [f"{tensor}.dtype is not dtype_{self.dtype}",
                f"{tensor}.get_device() != {self.device}"]
        lines = []
        if all(isinstance(extent, int) for extent in self.shape):
            strides = dense_strides([int(extent) for extent in self.shape])
            lines.append(f"assert_size_stride({tensor}, {self.shape}, {strides})")
        else:
            test.append(f"not {tensor}.is_contiguous()")
            test.append(f"{tensor}.dim() != {len(self.shape)}")
            test += [f"{tensor}.shape[{axis}] != {extent}"
                     for axis, extent in enumerate(self.shape) if isinstance(extent, int)]
        return [*lines, f"if {' or '.join(test)}:", "    raise AssertionError"]


@dataclass
class CallFacts:
    """The facts that are known before the first call."""
    device: int            # the GPU's index
    tracks_streams: bool   # else the caller names the stream
    inputs: Sequence[int]  # their indices among a call's tensors
    params: Sequence[int]
    arguments: LaunchArguments
    dims: Sequence[DimSource]
    unguarded: Sequence[UnguardedTensor]
    is_watched: bool       # memory is prepared from params: writes to them matter
    is_fixed: bool         # shapes need no check
    has_workspace: bool    # at some size
    has_state: bool


def _guard_lines(facts: CallFacts) -> list[str]:
    if not facts.unguarded:
        return []
    return ["try:", *(f"    {line}" for one in facts.unguarded for line in one.lines()),
            "except AssertionError:",
            "    tensors = launcher.as_declared(tensors)"]


def _current_lines(facts: CallFacts) -> list[str]:
    if not facts.tracks_streams:
        return []
    return [f"if current_device() != {facts.device}:",
            "    return launcher.on_device(tensors, out)",
            *_guard_lines(facts),
            f"stream = current_stream({facts.device})"]


def _param_lines(facts: CallFacts) -> list[str]:
    tests = {"key": "id(tensors[{place}]) != key{i}",
             "versions": "tensors[{place}]._version != versions{i}",
             "pointers": "tensors[{place}].data_ptr() != pointers{i}"}
    if not facts.is_watched:
        tests = {"pointers": tests["pointers"]}
    lines = ["param_set = params.last",
             "if param_set is None:",
             "    param_set = params.find(tensors)"]
    if facts.params:
        lines.append("else:")
        for field in tests:
            names = "".join(f"{field}{i}, " for i in range(len(facts.params)))
            lines.append(f"    {names}= param_set.{field}")
        changed = [test.format(place=place, i=i) for i, place in enumerate(facts.params)
                   for test in tests.values()]
        lines += ["    if (" + " or\n            ".join(changed) + "):",
                  "        param_set = params.find(tensors)"]
    if facts.is_watched and facts.tracks_streams:
        lines += ["if not param_set.is_captured and (",
                  "        stream not in param_set.streams or is_capturing()):",
                  "    params.note_stream(param_set, stream)"]
    return lines


def _size_lines(facts: CallFacts) -> list[str]:
    extents = [f"tensors[{facts.inputs[dim.input]}].shape[{dim.axis}]"
               + (f" // {dim.factor}" if dim.factor != 1 else "") for dim in facts.dims]
    key = f"({', '.join(extents)},)" if extents else "()"
    lines = [f"key = {key}",
             "sizes = known_sizes.get(key) or launcher.new_sizes(key)",
             *([] if facts.is_fixed else ["given = out"])]
    if facts.tracks_streams:
        made = [f"made{i}" for i in range(len(facts.arguments.outputs))]
        lines += ["if out is None:",
                  f"    {', '.join(made)}, = sizes.made",
                  f"    out = [{', '.join(f'empty(*{one})' for one in made)}]"]
    return lines


def _argument_lines(facts: CallFacts) -> list[str]:
    lines = ["try:",
             "    arguments = pool.pop()",
             "except IndexError:",
             "    arguments = new_arguments()",
             "if arguments.param_set is not param_set:",
             "    arguments.set_params(param_set)",
             "if arguments.sizes is not sizes:",
             "    arguments.set_sizes(sizes)"]
    if not facts.is_fixed:
        differs = ["given is not None"]
        if facts.inputs:
            lines.append("".join(f"shape{i}, " for i in range(len(facts.inputs)))
                         + "= sizes.inputs")
            differs += [f"tensors[{place}].shape != shape{i}"
                        for i, place in enumerate(facts.inputs)]
        lines += [f"if {' or '.join(differs)}:",
                  "    launcher.write_shapes(arguments, sizes, tensors, given)"]
    return lines


def _word_lines(facts: CallFacts) -> list[str]:
    # The words of params are written when the set changes.
    lines = [f"words[{word}] = tensors[{place}].data_ptr()"
             for word, place in zip(facts.arguments.inputs, facts.inputs)]
    lines += [f"words[{word}] = out[{i}].data_ptr()"
              for i, word in enumerate(facts.arguments.outputs)]
    lines.append(f"words[{STREAM}] = stream")
    if facts.has_workspace:
        made = (["    workspace = empty(*sizes.workspace)"] if facts.tracks_streams
                else _buffer_lines("workspace", ""))
        lines += ["if sizes.workspace:", *made,
                  f"    words[{WORKSPACE}] = workspace.data_ptr()"]
    if facts.has_state:
        # A captured launch has a state of its own.
        captured = " or is_capturing()" if facts.tracks_streams else ""
        lines += ["if sizes.state_size:", *_buffer_lines("state", captured),
                  f"    words[{STATE}] = state.data_ptr()"]
    return lines


def _buffer_lines(name: str, renewed: str) -> list[str]:
    """Lines that find a stream's buffer. `renewed`: a test more for a new one."""
    return [f"    {name} = {name}s.get(stream)",
            f"    if {name} is None or {name}.numel() < sizes.{name}_size{renewed}:",
            f"        {name} = launcher.new_{name}(stream, sizes.{name}_size)"]


def call_source(facts: CallFacts) -> str:
    """Source of call(tensors, out=None), or of call(tensors, out, stream) where the device tracks
    no streams."""
    lines = [*_current_lines(facts), *_param_lines(facts), *_size_lines(facts),
             *_argument_lines(facts),
             "words = arguments.words",
             *_word_lines(facts),
             "code = launch(handle, arguments.address, arguments.error_reference)",
             "if code:",
             "    return launcher.failed(code, arguments, tensors, out)",
             "pool.append(arguments)",
             "return out"]
    parameters = "tensors, out=None" if facts.tracks_streams else "tensors, out, stream"
    return f"def call({parameters}):\n" + "".join(f"    {line}\n" for line in lines)


@functools.lru_cache(maxsize=256)
def compile_call(source: str) -> CodeType:
    """The code that defines the call. Tracebacks show its lines."""
    file = f"<ingot launch {hashlib.sha256(source.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    return compile(source, file, "exec")
