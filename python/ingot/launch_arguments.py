# SPDX-License-Identifier: Apache-2.0
"""The C structs of a launch, laid out once per program and written to at each launch."""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_void_p

from ingot import _structs
from ingot._structs import word_of
from ingot.compiled_graph import CompiledGraph
from ingot.launch_sizes import LaunchSizes
from ingot.param_sets import ParamSet

_WORD = 8  # bytes

# Words of ingot_launch_arguments.
PREPARED, WORKSPACE, STATE, STREAM = (
    word_of(_structs.LaunchArguments, field)
    for field in ("prepared", "workspace", "state", "stream"))
_TENSORS = tuple(word_of(_structs.LaunchArguments, field)
                 for field in ("inputs", "params", "outputs"))
_COUNTS = tuple(word_of(_structs.LaunchArguments, field)
                for field in ("num_inputs", "num_params", "num_outputs"))
_LAUNCH_WORDS = ctypes.sizeof(_structs.LaunchArguments) // _WORD

# Words of ingot_tensor.
_DATA, _SHAPE, _RANK = (word_of(_structs.Tensor, field) for field in ("data", "shape", "rank"))
_TENSOR_WORDS = ctypes.sizeof(_structs.Tensor) // _WORD


class LaunchArguments:
    """An ingot_launch_arguments and all that it points to, in one buffer of 8-byte words. A
    memoryview writes it faster than ctypes' structs do. Belongs to one call at a time.

    `inputs`, `params` and `outputs` are the words of the tensors' pointers. `param_set` and `sizes`
    are those whose memory and shapes the buffer holds."""

    def __init__(self, program: CompiledGraph) -> None:
        roles = (program.inputs, program.params, program.outputs)
        num_tensors = sum(map(len, roles))
        num_extents = sum(len(spec.shape) for specs in roles for spec in specs)
        first_extent = _LAUNCH_WORDS + _TENSOR_WORDS * num_tensors
        self._buffer = (ctypes.c_uint64 * (first_extent + num_extents + 1))()
        self.address = ctypes.addressof(self._buffer)
        self.words = memoryview(self._buffer).cast("B").cast("Q")
        self.words[word_of(_structs.LaunchArguments, "struct_size")] = (
            ctypes.sizeof(_structs.LaunchArguments))
        self._extents: list[int] = []  # the first word of each tensor's extents
        data: list[list[int]] = []
        tensor, extent = _LAUNCH_WORDS, first_extent
        for specs, tensors_word, count_word in zip(roles, _TENSORS, _COUNTS):
            self.words[tensors_word] = self._address_of(tensor)
            self.words[count_word] = len(specs)
            data.append([tensor + _TENSOR_WORDS * i + _DATA for i in range(len(specs))])
            for spec in specs:
                self.words[tensor + _SHAPE] = self._address_of(extent)
                self.words[tensor + _RANK] = len(spec.shape)
                self._extents.append(extent)
                tensor += _TENSOR_WORDS
                extent += len(spec.shape)
        self.inputs, self.params, self.outputs = data
        self.error = c_void_p()
        self.error_reference = byref(self.error)
        self.param_set: ParamSet | None = None
        self.sizes: LaunchSizes | None = None

    def _address_of(self, word: int) -> int:
        return self.address + _WORD * word

    def _set_shape(self, index: int, shape: Sequence[int]) -> None:
        first = self._extents[index]
        for i, extent in enumerate(shape):
            self.words[first + i] = extent

    def set_input_shape(self, index: int, shape: Sequence[int]) -> None:
        """Writes the extents of an input."""
        self._set_shape(index, shape)

    def set_output_shape(self, index: int, shape: Sequence[int]) -> None:
        """Writes the extents of an output."""
        self._set_shape(len(self.inputs) + len(self.params) + index, shape)

    def set_params(self, param_set: ParamSet) -> None:
        """Writes the pointers and extents of params, and their prepared memory."""
        for word, pointer in zip(self.params, param_set.pointers):
            self.words[word] = pointer
        for i, shape in enumerate(param_set.shapes):
            self._set_shape(len(self.inputs) + i, shape)
        self.words[PREPARED] = param_set.pointer
        self.param_set = param_set

    def set_sizes(self, sizes: LaunchSizes) -> None:
        """Writes the extents of inputs and outputs."""
        for i, shape in enumerate(sizes.inputs):
            self.set_input_shape(i, shape)
        for i, shape in enumerate(sizes.outputs):
            self.set_output_shape(i, shape)
        self.sizes = sizes
