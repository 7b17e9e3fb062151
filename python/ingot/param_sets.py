# SPDX-License-Identifier: Apache-2.0
"""The memory that is prepared from params, and the params that it belongs to.

Prepared memory belongs to the tensors that it was computed from; several layers may share a
launcher. A param that was replaced, moved or written to since is prepared again, into new memory,
as launches on other streams may still read the old one. After a launch was captured in a CUDA graph
the memory of its params keeps its address, since replays read it.
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_int64
from typing import Any

from ingot import _library as lib
from ingot import _structs
from ingot.compiled_graph import CompiledGraph, Memory
from ingot.device import Buffer, Device
from ingot.errors import NotPreparedError
from ingot.specs import Size, dims_array


class ParamSet:
    """Params that may be launched with, their state when they were prepared, and the memory that
    was prepared from them. It does not keep the params alive: `forget` is called when one of them
    dies, before another can have its id. `versions` is None where nothing was prepared, so that
    writes to the params do not matter."""

    def __init__(self, params: Sequence[Any], versions: list[int] | None, prepared: Buffer | None,
                 forget: Callable[[tuple[int, ...]], None]) -> None:
        self.key = tuple(map(id, params))
        self.pointers = [param.data_ptr() for param in params]
        self.versions = versions
        self.shapes = _shapes(params)
        self.prepared = prepared
        self.pointer = prepared.data_ptr() if prepared is not None else 0
        self.streams: set[int] = set()
        self.is_captured = False
        key = self.key
        self._deaths = [weakref.ref(param, lambda _: forget(key)) for param in params]

    def matches(self, params: Sequence[Any]) -> bool:
        """Whether params with the same ids are unchanged since they were prepared."""
        return self.pointers == [param.data_ptr() for param in params] and (
            self.versions is None or self.versions == [param._version for param in params])


def _shapes(tensors: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(tensor.shape) for tensor in tensors)


class ParamSets:
    """The param sets of one launcher. `places` are the params' indices among the tensors of a call,
    `ranges` the sizes that will be launched. `changed` is called when a set is replaced or dies.

    `last` is the set of the last call. `is_watched`: memory is prepared from params, so that writes
    to them matter. `num_prepared` counts the preparations."""

    def __init__(self, program: CompiledGraph, device: Device, places: Sequence[int],
                 ranges: Mapping[str, Size], changed: Callable[[], None]) -> None:
        self._program, self._device, self._places = program, device, places
        self._ranges, self._changed = ranges, changed
        self.last: ParamSet | None = None
        self.num_prepared = 0
        self._sets: dict[tuple[int, ...], ParamSet] = {}
        self._captured: list[Buffer | None] = []  # memory that CUDA graphs read
        self._prepared_shapes: set[tuple[tuple[int, ...], ...]] = set()
        self._lock = threading.RLock()  # of prepare; a param may die within it
        self.is_watched = self.needs().prepared > 0

    def needs(self) -> Memory:
        """The memory at a small size, where none is given. Memory that depends on params alone is
        the same at every size."""
        return self._program.memory(**{name: self._ranges.get(name, (0, 1))
                                       for name in self._program.dims})

    def find(self, tensors: Sequence[Any]) -> ParamSet:
        """The set of the params among a call's tensors, prepared if needed."""
        params = [tensors[place] for place in self._places]
        param_set = self._sets.get(tuple(map(id, params)))
        if param_set is None or not param_set.matches(params):
            param_set = self.prepare(params)
        self.last = param_set
        return param_set

    def note_stream(self, param_set: ParamSet, stream: int) -> None:
        """Keeps the prepared memory from being reused while this stream reads it. Where the launch
        is captured, keeps it as long as the launcher lives."""
        if self._device.is_capturing():
            param_set.is_captured = True
            self._captured.append(param_set.prepared)
        elif stream not in param_set.streams:
            if param_set.prepared is not None:
                self._device.record_stream(param_set.prepared)
            param_set.streams.add(stream)

    def prepare(self, params: Sequence[Any], again: bool = False) -> ParamSet:
        """Compiles the kernels that the sizes need, computes the prepared memory, and waits for it.
        `again`: also where no write was counted."""
        with self._lock:
            before = self._sets.get(tuple(map(id, params)))
            if not again and before is not None and before.matches(params):
                return before
            self._device.check("param", self._program.params, params)
            if self.is_watched or _shapes(params) not in self._prepared_shapes:
                result = self._prepared(params, before)
            else:
                result = ParamSet(params, None, None, self._forget)
            self._sets[result.key] = result
            self.last = None
            self._changed()
            return result

    def _forget(self, key: tuple[int, ...]) -> None:
        """A param died."""
        self._sets.pop(key, None)
        self.last = None
        self._changed()

    def _prepared(self, params: Sequence[Any], before: ParamSet | None) -> ParamSet:
        device = self._device
        if device.is_capturing():
            raise NotPreparedError(
                "params must be prepared before a CUDA graph is captured, or were written to "
                "since; call once outside of the capture")
        device.use()
        keeps_memory = before is not None and (before.is_captured or not device.tracks_streams)
        needs = self.needs()
        if before is not None and keeps_memory:
            device.synchronize()
            prepared = before.prepared
        else:
            prepared = device.allocate(needs.prepared) if needs.prepared else None
        versions = [device.version(param) for param in params] if self.is_watched else None
        result = ParamSet(params, versions, prepared, self._forget)
        result.is_captured = before is not None and before.is_captured
        stream = device.current_stream()
        workspace = device.allocate(needs.workspace) if needs.workspace else None
        self._run(result, params, workspace, stream)
        result.streams.add(stream)
        self._prepared_shapes.add(result.shapes)
        self.num_prepared += 1
        return result

    def _run(self, param_set: ParamSet, params: Sequence[Any], workspace: Buffer | None,
             stream: int) -> None:
        tensors = (_structs.Tensor * max(len(params), 1))()
        for tensor, param in zip(tensors, params):
            extents = (c_int64 * max(param.dim(), 1))(*param.shape)
            tensor.data, tensor.shape, tensor.rank = param.data_ptr(), extents, param.dim()
        arguments = _structs.PrepareArguments(
            params=tensors, num_params=len(params), prepared=param_set.pointer or None,
            workspace=workspace.data_ptr() if workspace is not None else None,
            stream=stream or None, dims=dims_array(self._ranges), num_dims=len(self._ranges))
        lib.call("ingot_program_prepare", self._program._handle, byref(arguments))
        self._device.synchronize_stream()  # launches on other streams read its results
