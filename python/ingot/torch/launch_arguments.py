# SPDX-License-Identifier: Apache-2.0
"""The C structs of a launch, laid out once for a program and written to at each launch."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import Sequence

from ingot import _library as lib
from ingot.program import Program


class Arguments:
    """An ingot_launch_arguments and all that it points to, in one buffer of 8-byte words, which a
    memoryview writes quicker than ctypes' structs. Of one call at a time."""

    PREPARED, WORKSPACE, STATE, STREAM = 7, 8, 9, 10  # words of ingot_launch_arguments

    def __init__(self, program: Program):
        roles = (program.inputs, program.params, program.outputs)
        num_tensors = sum(map(len, roles))
        first_tensor = ctypes.sizeof(lib.LaunchArguments) // 8
        words_of_tensor = ctypes.sizeof(lib.Tensor) // 8
        ranks = [len(spec.shape) for specs in roles for spec in specs]
        extents = first_tensor + words_of_tensor * num_tensors
        self._buffer = (ctypes.c_uint64 * (extents + sum(ranks) + 1))()
        self.address = ctypes.addressof(self._buffer)
        self.words = memoryview(self._buffer).cast("B").cast("Q")
        self.words[0] = ctypes.sizeof(lib.LaunchArguments)
        self.data = []     # the word of each tensor's pointer: inputs, params, outputs
        self.extents = []  # the first word of its extents
        for role, specs in enumerate(roles):
            self.words[1 + 2 * role] = self.address + 8 * (first_tensor + words_of_tensor *
                                                           len(self.data))
            self.words[2 + 2 * role] = len(specs)
            for spec in specs:
                tensor = first_tensor + words_of_tensor * len(self.data)
                self.data.append(tensor)
                self.extents.append(extents)
                self.words[tensor + 1] = self.address + 8 * extents
                self.words[tensor + 2] = len(spec.shape)
                extents += len(spec.shape)
        self.params = self.data[len(roles[0]):num_tensors - len(roles[2])]
        self.outputs = self.data[num_tensors - len(roles[2]):]
        self.error = c_void_p()
        self.error_reference = byref(self.error)
        self.param_set = None  # whose memory and shapes are written
        self.sizes = None      # whose shapes are

    def set_shape(self, index: int, shape: Sequence[int]) -> None:
        """Of the tensor with that index among inputs, params and outputs."""
        first = self.extents[index]
        for i, extent in enumerate(shape):
            self.words[first + i] = extent

    def set_params(self, param_set) -> None:
        first = len(self.data) - len(self.outputs) - len(self.params)
        for word, pointer in zip(self.params, param_set.pointers):
            self.words[word] = pointer
        for i, shape in enumerate(param_set.shapes):
            self.set_shape(first + i, shape)
        self.words[self.PREPARED] = param_set.pointer
        self.param_set = param_set

    def set_sizes(self, sizes) -> None:
        first = len(self.data) - len(self.outputs)
        for i, shape in enumerate(sizes.inputs):
            self.set_shape(i, shape)
        for i, shape in enumerate(sizes.outputs):
            self.set_shape(first + i, shape)
        self.sizes = sizes
