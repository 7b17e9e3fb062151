# SPDX-License-Identifier: Apache-2.0
"""Launches through DLPack without a GPU: arrays in CPU memory that claim to be in CUDA memory, and
stand-ins for the library's launches and its device memory."""
import ctypes

import pytest

numpy = pytest.importorskip("numpy")

import ingot  # noqa: E402
from ingot import dlpack  # noqa: E402
from stand_in import Library  # noqa: E402

SMALL = "graph g(x: f32[m, 64], param w: f32[32, 64]) { return relu(linear(x, w)) }"
LARGE = "graph g(x: f32[m, 512], param w: f32[1024, 512]) { return relu(linear(x, w)) }"
STATE = "graph g(x: f32[16, 32768], param w: f32[64, 32768]) { return linear(x, w) }"


class Memory:
    """Device memory; the class keeps the memory that lives."""

    living = set()

    def __init__(self, ordinal, size=0):
        self._bytes = ctypes.create_string_buffer(max(size, 1))
        self._size = size
        Memory.living.add(self.data_ptr())

    def __del__(self):
        Memory.living.discard(self.data_ptr())

    def data_ptr(self):
        return ctypes.addressof(self._bytes)

    def numel(self):
        return self._size

    def synchronize(self):
        pass


class Array:
    """Speaks DLPack, and has no namespace. `streams` are those that it was asked for."""

    def __init__(self, array, index=0):
        self.array, self.index, self.streams = array, index, []

    def __dlpack_device__(self):
        return 2, self.index

    def __dlpack__(self, stream, max_version=None):
        self.streams.append(stream)
        return self.array.__dlpack__(max_version=max_version)

    @property
    def address(self):
        return self.array.ctypes.data


class Namespaced(Array):
    """Has a namespace that makes arrays."""

    device = "cuda:0"

    def __array_namespace__(self):
        class Namespace:
            float32 = numpy.float32

            @staticmethod
            def empty(shape, dtype, device):
                assert device == Namespaced.device
                return Namespaced(numpy.empty(shape, dtype))
        return Namespace


def zeros(*shape, dtype="f4", kind=Array):
    return kind(numpy.zeros(shape, dtype))


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setattr(dlpack, "GpuMemory", Memory)
    return Library(monkeypatch)


def bind(spec, *params, **named):
    return ingot.compile(spec, device="a100").bind(*params, **named)


def test_pointers_shapes_and_streams_reach_the_library(library):
    w, out = zeros(32, 64), zeros(8, 32)
    bound = bind(SMALL, w)
    part = Array(numpy.zeros((10, 64), "f4")[2:])
    assert bound(part, out=out, stream=9) is out
    launched = library.launched[-1]
    assert launched.x == part.address and launched.outputs == [out.address]
    assert launched.params == [(w.address, [32, 64])] and launched.stream == 9
    assert launched.shapes == [[8, 64], [8, 32]]
    assert part.streams == out.streams == [9] and w.streams[-1] == 9
    bound(zeros(5, 64), out=zeros(5, 32))
    assert library.launched[-1].stream is None and w.streams[-1] == 1  # DLPack's default stream
    assert library.launched[-1].shapes == [[5, 64], [5, 32]]


def test_outputs_come_from_the_namespace_of_an_input(library):
    y = bind(SMALL, zeros(32, 64))(zeros(8, 64, kind=Namespaced))
    assert isinstance(y, Namespaced) and y.array.shape == (8, 32)
    with pytest.raises(ingot.InvalidArgumentError, match="no array namespace .*; give out="):
        bind(SMALL, zeros(32, 64))(zeros(8, 64))


def test_prepared_memory_stays_where_it_is(library):
    w = zeros(1024, 512)
    bound = bind(LARGE, w)
    for _ in range(3):
        bound(zeros(8, 512), out=zeros(8, 1024))
    assert library.prepared == [(library.launched[0].prepared, w.address)]
    bound.prepare()  # a captured launch may read the memory
    bound(zeros(8, 512), out=zeros(8, 1024))
    assert len(library.prepared) == 2 and len(set(library.prepared)) == 1
    assert library.launched[-1].prepared == library.prepared[0][0] in Memory.living


def test_memory_of_a_stream_grows_and_nothing_is_freed(library):
    bound = bind(STATE, zeros(64, 32768))
    x, out = zeros(16, 32768), zeros(16, 64)
    for stream in (1, 2, 1):
        bound(x, out=out, stream=stream)
    first, second, third = ((launched.workspace, launched.state) for launched in library.launched)
    assert first == third and first != second and first[1] and second[1]
    needs = bound.program.memory()
    launcher = next(iter(bound._launchers.values()))._launcher
    assert launcher._states[1].numel() == needs.state
    grown = launcher.new_state(1, needs.state + 1)
    assert grown.numel() == needs.state * 3 // 2 and first[1] in Memory.living


def test_a_graph_without_params_runs_on_the_gpu_of_its_first_input(library):
    program = ingot.compile("graph g(x: f32[m, 4]) { return relu(x) }", device="a100")
    x = Array(numpy.zeros((3, 4), "f4"))
    assert program(x, out=zeros(3, 4)).array.shape == (3, 4)
    assert library.launched[-1].params == [] and library.opened == [0]


@pytest.mark.parametrize("x, expected", [
    (zeros(8, 64, dtype="f8"), "input 'x': expected elements of f32, got float64; convert it"),
    (zeros(8, 64, dtype="i4"), "got i32"), (zeros(8, 64, dtype="?"), "got bool"),
    (zeros(8, 64, dtype="u1"), "got uint8"), (zeros(8, 64, dtype="c8"), "got complex64"),
    (zeros(8), r"expected shape \['m', 64\], got \[8\]"),
    (Array(numpy.zeros((64, 8), "f4").T), r"strides \[1, 8\]; make it contiguous\(\)"),
])
def test_tensors_that_do_not_fit_are_refused(library, x, expected):
    with pytest.raises(ingot.InvalidArgumentError, match=expected):
        bind(SMALL, zeros(32, 64))(x, out=zeros(8, 32))
    assert not library.launched


def test_a_number_of_tensors_that_does_not_fit_is_refused(library):
    bound = bind(SMALL, zeros(32, 64))
    with pytest.raises(ingot.InvalidArgumentError, match=r"expected 1 inputs \(x\), got 2"):
        bound(zeros(8, 64), zeros(8, 64), out=zeros(8, 32))


def test_shapes_that_do_not_fit_are_shown_to_the_library(library):
    bind(SMALL, zeros(32, 64))(zeros(8, 63), out=zeros(7, 32))
    assert library.launched[-1].shapes == [[8, 63], [7, 32]]  # which the library refuses


def test_outputs_that_are_read_only_are_refused(library):
    out = zeros(8, 32)
    out.array.flags.writeable = False
    with pytest.raises((ingot.InvalidArgumentError, BufferError), match="read-?only"):
        bind(SMALL, zeros(32, 64))(zeros(8, 64), out=out)


def test_a_dimension_of_params_alone_has_its_size_from_them(library):
    spec = "graph g(x: f32[4, 64], param w: f32[n, 64]) { return linear(x, w) }"
    bind(spec, zeros(32, 64))(zeros(4, 64), out=zeros(4, 32))
    assert library.launched[-1].shapes == [[4, 64], [4, 32]]


def test_an_error_of_a_launch_is_raised(library):
    bound = bind(SMALL, zeros(32, 64))
    library.code = 8
    with pytest.raises(ingot.LaunchError):
        bound(zeros(8, 64), out=zeros(8, 32))
