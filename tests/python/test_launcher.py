# SPDX-License-Identifier: Apache-2.0
"""The launcher without a GPU: tensors on the CPU, and stand-ins for the driver's part. The tests
see when it prepares, with which memory, and its arguments to the library."""
import ctypes
import linecache
import threading
import weakref
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

import ingot  # noqa: E402
from ingot import context, launcher, torch_device  # noqa: E402
from ingot.launch_sizes import OutputLayout  # noqa: E402
from stand_in import Library  # noqa: E402

SPEC = "graph g(x: f32[m, 64], param w: f32[32, 64]) { return relu(linear(x, w)) }"
LARGE = "graph g(x: f32[m, 512], param w: f32[1024, 512]) { return relu(linear(x, w)) }"


class StandIn(Library):
    """The library and PyTorch's part of CUDA."""

    def __init__(self, monkeypatch):
        super().__init__(monkeypatch)
        self.device, self.stream, self.is_capturing = 0, 7, False
        patch = monkeypatch.setattr
        patch(torch._C, "_cuda_getDevice", lambda: self.device, raising=False)
        patch(torch._C, "_cuda_getCurrentRawStream", lambda index: self.stream, raising=False)
        patch(torch.cuda, "is_current_stream_capturing", lambda: self.is_capturing)
        patch(torch.cuda, "current_device", lambda: self.device)
        patch(torch.cuda, "set_device", self._set_device)
        patch(torch.cuda, "synchronize", lambda device=None: None)
        patch(torch.cuda, "current_stream", lambda device=None: SimpleNamespace(
            cuda_stream=self.stream, synchronize=lambda: None))
        patch(torch.Tensor, "record_stream", lambda tensor, stream: None, raising=False)
        patch(torch.Tensor, "get_device", lambda tensor: 0, raising=False)
        patch(torch_device, "empty_strided_on",
              lambda device: lambda shape, strides, dtype: torch.empty_strided(
                  shape, strides, dtype=dtype))

    def _set_device(self, index):
        self.device = index


@pytest.fixture
def stand_in(monkeypatch):
    return StandIn(monkeypatch)


class Made:
    """A launcher and its call."""

    def __init__(self, spec, named):
        device = torch_device.TorchDevice(torch.device("cpu"))
        device.index = 0  # that of StandIn
        self.launcher = launcher.Launcher(ingot.compile(spec, device="a100"), device, **named)
        self.params = self.launcher.params
        self.call = self.launcher.make_call()

    def __getattr__(self, name):
        return getattr(self.launcher, name)


def make(spec=SPEC, **named):
    return Made(spec, named)


def test_params_are_prepared_once_and_when_they_change(stand_in):
    launch, x, w = make(LARGE), torch.zeros(8, 512), torch.zeros(1024, 512)
    for _ in range(3):
        y, = launch.call((x, w))
    assert y.shape == (8, 1024) and len(stand_in.prepared) == 1 and len(stand_in.launched) == 3
    w.add_(1)  # written to
    launch.call((x, w))
    w.data = torch.zeros(1024, 512)  # lies elsewhere
    launch.call((x, w))
    other = torch.zeros(1024, 512)
    launch.call((x, other))  # of another layer
    assert launch.params.num_prepared == len(stand_in.prepared) == 4
    assert stand_in.launched[-1].prepared == stand_in.prepared[-1][0]
    for _ in range(3):
        launch.call((x, w))
        launch.call((x, other))
    assert launch.params.num_prepared == 4  # both are kept


@pytest.mark.parametrize("fixed", [False, True])
def test_params_that_nothing_is_prepared_from_are_given_as_they_are(stand_in, fixed):
    launch, x = make(fixed=fixed), torch.zeros(8, 64)
    assert launch.program.memory(m=8).prepared == 0
    w, other = torch.zeros(32, 64), torch.zeros(32, 64)
    with torch.inference_mode():
        unversioned = torch.zeros(32, 64)
    for param in (w, other, w, unversioned):
        launch.call((x, param))
        assert stand_in.launched[-1].params == [(param.data_ptr(), [32, 64])]
    w.add_(1)
    launch.call((x, w))
    del w, param
    stand_in.is_capturing = True
    launch.call((x, other))
    assert launch.params.num_prepared == 1


@pytest.mark.parametrize("spec", ["SPEC", "LARGE"])
def test_a_param_that_became_another_is_refused_or_shown(stand_in, spec):
    spec = globals()[spec]
    launch = make(spec, fixed=True)
    shapes = [tuple(tensors[0].shape) for tensors in (launch.program.inputs, launch.program.params)]
    x, w = torch.zeros(8, shapes[0][1]), torch.zeros(shapes[1])
    launch.call((x, w))
    for data, expected in ((torch.zeros(shapes[1], dtype=torch.float64), "elements of"),
                           (torch.zeros(shapes[1][::-1]).t(), "dense"),
                           (torch.zeros(*shapes[1], 1), "expected shape"),
                           (torch.zeros(shapes[1], device="meta"), "expected a tensor on cpu")):
        changed = torch.nn.Parameter(torch.zeros(shapes[1]), requires_grad=False)
        launch.call((x, changed))
        if data.device.type == "meta":
            changed = data  # which .data does not allow
        else:
            changed.data = data
        with pytest.raises(ingot.InvalidArgumentError, match=expected):
            launch.call((x, changed))
    w.data = torch.zeros(3, shapes[1][1])
    launch.call((x, w))
    assert stand_in.launched[-1].params[0][1] == [3, shapes[1][1]]  # which the library refuses


def test_params_that_die_are_forgotten(stand_in):
    launch, x, addresses = make(LARGE), torch.zeros(8, 512), set()
    for _ in range(4):  # a new tensor may have the id and the address of the one before
        w = torch.zeros(1024, 512)
        addresses.add(w.data_ptr())
        launch.call((x, w))
        del w
    assert launch.params.num_prepared == 4 and not launch.params._sets
    dying = weakref.ref(launch.launcher)
    del launch
    assert dying() is None  # and the memory with it


def test_each_size_has_its_shapes_and_memory(stand_in):
    launch, w = make(), torch.zeros(32, 64)
    for rows in (8, 3000, 8, 0, 1):
        x = torch.zeros(rows, 64)
        y, = launch.call((x, w))
        launched = stand_in.launched[-1]
        assert y.shape == (rows, 32) and launched.shapes == [[rows, 64], [rows, 32]]
        assert launched.x == (x.data_ptr() or None) and launched.stream == 7
    assert len(launch._sizes) == 4 and len(launch._pool) == 1


def test_places_say_where_tensors_stand(stand_in):
    launch, x, w = make(places=[2, 0]), torch.zeros(8, 64), torch.zeros(32, 64)
    launch.call((w, "another's", x))
    assert stand_in.prepared[0][1] == w.data_ptr() and stand_in.launched[0].x == x.data_ptr()


def test_a_tensor_of_another_shape_is_shown_as_it_is(stand_in):
    launch, w = make(), torch.zeros(32, 64)
    launch.call((torch.zeros(8, 64), w))
    launch.call((torch.zeros(8, 63), w))
    assert stand_in.launched[-1].shapes[0] == [8, 63]  # which the library refuses
    launch.call((torch.zeros(8, 64), w))
    assert stand_in.launched[-1].shapes[0] == [8, 64]


def test_a_capture_needs_prepared_params_and_keeps_their_memory(stand_in):
    launch, x, w = make(LARGE), torch.zeros(8, 512), torch.zeros(1024, 512)
    stand_in.is_capturing = True
    with pytest.raises(ingot.NotPreparedError, match="outside of the capture"):
        launch.call((x, w))
    stand_in.is_capturing = False
    launch.call((x, w))
    stand_in.stream, stand_in.is_capturing = 8, True
    launch.call((x, w))
    stand_in.stream, stand_in.is_capturing = 7, False
    w.add_(1)
    launch.call((x, w))
    w.add_(1)
    launch.call((x, w))
    places = {place for place, _ in stand_in.prepared}
    assert None not in places and len(places) == 1 and len(stand_in.prepared) == 3


@pytest.mark.parametrize("warm_up", [7, 8])
def test_captured_memory_is_of_its_own_params(stand_in, warm_up):
    launch, x = make(LARGE), torch.zeros(8, 512)
    w, other = torch.zeros(1024, 512), torch.zeros(1024, 512)
    stand_in.stream = warm_up
    launch.call((x, w))
    stand_in.stream, stand_in.is_capturing = 8, True  # perhaps the stream of before
    launch.call((x, w))
    captured = stand_in.launched[-1].prepared
    stand_in.is_capturing = False
    launch.call((x, other))
    assert stand_in.launched[-1].prepared != captured
    w.add_(1)
    launch.call((x, w))
    assert stand_in.launched[-1].prepared == captured
    del w
    launch.call((x, other))
    assert any(memory.data_ptr() == captured for memory in launch.params._captured)


def test_state_is_of_a_stream_and_zero(stand_in):
    launch = make("graph g(x: f32[16, 32768], param w: f32[64, 32768]) { return linear(x, w) }")
    assert launch.program.memory().state > 0
    x, w = torch.zeros(16, 32768), torch.zeros(64, 32768)
    for stream in (1, 1, 2):
        stand_in.stream = stream
        launch.call((x, w))
    first, second, third = (launched.state for launched in stand_in.launched)
    assert first == second != third
    state = (ctypes.c_uint8 * launch.program.memory().state).from_address(third)
    assert not any(state)
    stand_in.is_capturing = True
    launch.call((x, w))
    assert stand_in.launched[-1].state not in (first, third)  # of the graph alone


def test_another_gpu_is_made_current_and_put_back(stand_in):
    launch, x, w = make(), torch.zeros(8, 64), torch.zeros(32, 64)
    stand_in.device = 1
    launch.call((x, w))
    assert stand_in.device == 1 and stand_in.opened == [0] and len(stand_in.launched) == 1


def test_a_thread_without_a_context_gets_one(stand_in):
    launch, x, w = make(), torch.zeros(8, 64), torch.zeros(32, 64)
    launch.call((x, w))
    context._contexts.opened.clear()
    stand_in.code = 8  # no context, or anything else
    with pytest.raises(ingot.LaunchError):  # also with a context
        launch.call((x, w))
    assert stand_in.opened == [0, 0] and len(stand_in.launched) == 3


def test_what_fails_leaves_the_launcher_usable(stand_in):
    launch, x, w = make(), torch.zeros(8, 64), torch.zeros(32, 64)
    launch.call((x, w))
    stand_in.code = 1
    with pytest.raises(ingot.LaunchError):
        launch.call((x, w))
    stand_in.code = 0
    assert launch.call((x, w))[0].shape == (8, 32)


def test_tensors_of_inference_mode_are_no_params(stand_in):
    with torch.inference_mode():
        w = torch.zeros(1024, 512)
    with pytest.raises(ingot.InvalidArgumentError, match="inference_mode"):
        make(LARGE).call((torch.zeros(8, 512), w))


def test_several_outputs_and_no_params(stand_in):
    launch = make("graph g(x: f32[m, 64], y: f32[m, 64]) { return a = exp(x), b = log(y) }")
    x, y = torch.zeros(8, 64), torch.zeros(8, 64)
    a, b = launch.call((x, y))
    launched = stand_in.launched[-1]
    assert launched.params == [] and launched.shapes == [[8, 64]] * 4
    assert launched.outputs == [a.data_ptr(), b.data_ptr()]
    given = [torch.zeros(8, 64), torch.zeros(8, 64)]
    assert launch.call((x, y), given) is given
    assert stand_in.launched[-1].outputs == [tensor.data_ptr() for tensor in given]


def test_several_params(stand_in):
    for fixed in (False, True):
        launch = make("graph g(x: f32[m, 64], param v: f32[64], param w: f32[64]) "
                      "{ return x * v + w }", fixed=fixed)
        v, w = torch.zeros(64), torch.zeros(64)
        for params in ((v, w), (w, v)):
            launch.call((torch.zeros(8, 64), *params))
            assert [data for data, _ in stand_in.launched[-1].params] == [
                param.data_ptr() for param in params]


def test_launchers_of_one_program_share_their_source(stand_in):
    codes = {make().call.__code__ for _ in range(3)}
    assert len(codes) == 1
    assert "def call(tensors" in linecache.getline(codes.pop().co_filename, 1)


@pytest.mark.parametrize("spec", ["SPEC", "LARGE"])
def test_threads_call_at_once(stand_in, spec):
    launch = make(globals()[spec])
    shape = tuple(launch.program.params[0].shape)
    params = [torch.zeros(shape) for _ in range(3)]
    wrong = []

    def work(index):
        for i in range(200):
            x, w = torch.zeros(1 + (index + i) % 5, shape[1]), params[(index + i) % 3]
            y, = launch.call((x, w))
            mine = [launched for launched in list(stand_in.launched)
                    if launched.x == x.data_ptr() and launched.outputs == [y.data_ptr()]]
            if not any(launched.params[0][0] == w.data_ptr() and
                       launched.shapes == [list(x.shape), list(y.shape)] for launched in mine):
                wrong.append((index, i))
    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and launch.params.num_prepared <= 3


def test_a_dimension_that_no_input_gives_is_told(stand_in):
    with pytest.raises(ingot.InvalidArgumentError, match="'n'"):
        make("graph g(x: f32[64], param w: f32[n, 64]) { return linear(x, w) }")


def test_an_unguarded_tensor_that_was_replaced_is_made_dense_or_refused(stand_in):
    spec = "graph g(x: f32[m, 64], w: f32[64, 64], s: f32[m]) { return linear(x, w) }"
    launch = make(spec, fixed=True, unguarded={1: "reset it", 2: "reset it"})
    x, w, s = torch.zeros(8, 64), torch.nn.Parameter(torch.zeros(64, 64)), torch.zeros(8)
    launch.call((x, w, s))
    given = lambda: stand_in.launched[-1].pointers  # noqa: E731
    assert given()[1] == w.data_ptr()
    w.data = w.data.t()  # the same memory
    launch.call((x, w, s))
    assert given()[1] != w.data_ptr()
    launch.call((x, w, torch.zeros(8, 2)[:, 0]))
    for data, expected in ((torch.zeros(64, 63), r"expected \[64, 64\], got \[64, 63\]"),
                           (torch.zeros(64, 64, dtype=torch.float64),
                            r"elements of f32 \(torch.float32\)"),
                           (torch.zeros(64), "expected shape")):
        with pytest.raises(ingot.InvalidArgumentError, match=f"{expected}.*; reset it"):
            launch.call((x, data, s))


def test_an_unguarded_tensor_with_named_extents_has_the_sizes_of_the_others(stand_in):
    spec = "graph g(x: f32[m, 64], c: f32[m, 8]) { return sum(x, axis=1) + sum(c, axis=1) }"
    launch = make(spec, fixed=True, unguarded={1: "correct register_fake"})
    x = torch.zeros(5, 64)
    launch.call((x, torch.zeros(5, 8)))
    assert stand_in.launched[-1].shapes[:2] == [[5, 64], [5, 8]]
    for c in (torch.zeros(5, 7), torch.zeros(5), torch.zeros(5, 8, 1)):
        with pytest.raises(ingot.InvalidArgumentError, match="'c'.*; correct register_fake"):
            launch.call((x, c))
    launch.call((x, torch.zeros(6, 8)))  # the library compares the sizes that names have
    assert stand_in.launched[-1].shapes[:2] == [[5, 64], [6, 8]]


def test_outputs_lie_as_they_are_told_to(stand_in):
    spec = "graph g(x: f32[m, 4, 1]) { return relu(x) }"
    static = OutputLayout([1, 2, 0], (77, 4, 1))
    for layout, strides in ((OutputLayout([1, 2, 0]), (1, 4, 1)), (static, (77, 4, 1))):
        launch = make(spec, layouts=[layout])
        y, = launch.call((torch.zeros(8, 4, 1),))
        assert y.shape == (1, 8, 4) and y.stride() == strides


def test_prepare_is_done_again_where_it_is_asked_for(stand_in):
    launch, x, w = make(LARGE), torch.zeros(8, 512), torch.zeros(1024, 512)
    launch.call((x, w))
    w.data.add_(1)  # not counted
    launch.call((x, w))
    assert launch.params.num_prepared == 1
    launch.params.prepare([w], again=True)
    launch.call((x, w))
    assert launch.params.num_prepared == 2
    assert stand_in.launched[-1].prepared == stand_in.prepared[-1][0]
    assert stand_in.launched[-1].prepared != stand_in.launched[0].prepared


class OnStream:
    """In place of PyTorch's contexts: the given stream is the current one."""

    def __init__(self, stand_in, stream):
        self.stand_in, self.stream = stand_in, stream

    def __enter__(self):
        self.before = self.stand_in.stream
        self.stand_in.stream = self.before if self.stream is None else self.stream

    def __exit__(self, *_):
        self.stand_in.stream = self.before


@pytest.fixture
def bound(stand_in, monkeypatch):
    monkeypatch.setattr(torch_device.TorchBoundLauncher, "_on",
                        lambda self, stream: OnStream(stand_in, stream))
    stand_in.device = -1  # the index of the CPU
    program = ingot.compile(LARGE, device="a100")
    return torch_device.TorchBoundLauncher(program, [torch.zeros(1024, 512)], {},
                                           torch.device("cpu"))


def test_a_bound_program_launches_on_the_stream_that_it_is_given(stand_in, bound):
    x, out = torch.zeros(8, 512), torch.zeros(8, 1024)
    y, = bound.launch((x,), None, None)
    assert y.shape == (8, 1024) and stand_in.launched[-1].stream == 7
    assert bound.launch((x,), [out], 9) == [out]
    assert stand_in.launched[-1].stream == 9 and stand_in.launched[-1].outputs == [out.data_ptr()]


def test_a_bound_program_is_prepared_again_when_it_is_asked(stand_in, bound):
    x = torch.zeros(8, 512)
    bound.prepare(None)
    bound.launch((x,), None, None)
    assert len(stand_in.prepared) == 1
    bound.prepare(None)
    bound.launch((x,), None, None)
    assert len(stand_in.prepared) == 2
    assert stand_in.launched[-1].prepared == stand_in.prepared[-1][0]


@pytest.mark.parametrize("inputs, out, expected", [
    (lambda x: (x, x), None, r"expected 1 inputs \(x\), got 2"),
    (lambda x: ([1],), None, "input 'x': expected a torch.Tensor beside others of them, got list"),
    (lambda x: (x.half(),), None, r"elements of f32 \(torch.float32\), got torch.float16; convert "
     r"it with .to\(torch.float32\)"),
    (lambda x: (x.to("meta"),), None, "expected a tensor on cpu, got one on meta; move it there"),
    (lambda x: (x[0],), None, r"expected shape \['m', 512\], got \[512\]"),
    (lambda x: (x[:, ::2],), None, r"with strides \[512, 2\]; make it contiguous\(\)"),
    (lambda x: (x,), torch.zeros(8, 1024).half(), "output '.*': expected elements of f32"),
])
def test_a_bound_program_refuses_tensors_that_do_not_fit(stand_in, bound, inputs, out, expected):
    with pytest.raises(ingot.InvalidArgumentError, match=expected):
        bound.launch(inputs(torch.zeros(8, 512)), out if out is None else [out], None)
    assert not stand_in.launched
