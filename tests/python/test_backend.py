# SPDX-License-Identifier: Apache-2.0
"""The backend of torch.compile without a GPU: results by the reference interpreter on the CPU, and
plans of full size on tensors without data."""
import copy
import gc
import math
import pathlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

import ingot  # noqa: E402
import reference  # noqa: E402
from ingot.torch.rules import RULES, rule  # noqa: E402
from chains import CHAINS  # noqa: E402
from torch import nn  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("on_reference")
F = nn.functional


def check(module, *inputs, tolerance=1e-4, **named):
    """Compares with eager; gives the reports."""
    copies = [x.clone() for x in inputs]
    eager = copy.deepcopy(module) if isinstance(module, nn.Module) else module
    with torch.no_grad():
        wanted = eager(*copies)
    results, reports = reference.through(module, *inputs, **named)
    for got, exact in zip(*((x if isinstance(x, tuple) else (x,)) for x in (results, wanted))):
        assert got.shape == exact.shape and got.dtype == exact.dtype
        assert got.stride() == exact.stride() or got.numel() == 0
        torch.testing.assert_close(got, exact, atol=tolerance, rtol=tolerance, equal_nan=True)
    for got, exact in zip(inputs, copies):  # inputs that eager writes to
        torch.testing.assert_close(got, exact, atol=tolerance, rtol=tolerance, equal_nan=True)
    return reports


def taken(reports):
    return [len(names) for report in reports for names in report.taken]


def left(reports):
    return {name: reason for report in reports for name, reason in report.left}


@pytest.mark.parametrize("name", CHAINS)
def test_chain(name):
    chain = CHAINS[name]
    reports = check(chain.module(*chain.small_arguments),
                    *(torch.randn(shape) for shape in chain.small_shapes))
    assert not left(reports)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", CHAINS)
def test_chain_has_the_launch_steps_of_its_spec(name, dtype):
    chain = CHAINS[name]
    with torch.device("meta"):
        module = chain.module(*chain.arguments).to(dtype)
        inputs = [torch.empty(shape, dtype=dtype) for shape in chain.shapes]
    _, reports = reference.through(module, *inputs, options={"freeze": True})
    steps = sum(piece.program.num_kernels for piece in reference.pieces(reports))
    spec = (ROOT / "tests" / "chains" / f"{name}.ingot").read_text()
    if dtype == torch.bfloat16:
        spec = spec.replace("f32[", "bf16[")
    counters = sum(name.endswith("num_batches_tracked") for name, _ in module.named_buffers())
    assert steps - counters <= ingot.compile(spec).num_kernels


def test_parameters_are_inputs_unless_they_are_frozen():
    module, x = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8).eval()), torch.randn(4, 8)
    for freeze, inputs, params in ((False, 7, 0), (True, 1, 6)):
        _, reports = reference.through(module, x, options={"freeze": freeze})
        piece, = reference.pieces(reports)
        assert len(piece.lowered.inputs) == inputs and len(piece.lowered.params) == params


def test_statistics_that_are_written_are_no_params():
    module = nn.BatchNorm1d(8)
    reports = check(module, torch.randn(4, 8), options={"freeze": True})
    piece, = reference.pieces(reports)
    # x, the statistics and the number of batches
    assert len(piece.lowered.inputs) == 4 and len(piece.lowered.params) == 2
    assert module.num_batches_tracked == 1


def test_one_operator_in_the_middle_is_left():
    first, second = nn.Linear(12, 12), nn.Linear(12, 12)
    reports = check(lambda x: F.softmax(second(torch.sort(F.relu(first(x)), dim=1).values), 1),
                    torch.randn(5, 12))
    assert len(taken(reports)) == 2
    assert left(reports)["aten.sort"] == "no rule for this operator"


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_the_bias_of_a_convolution_belongs_to_the_piece_behind_it(layout):
    module = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
                           nn.ConvTranspose2d(6, 4, 2, stride=2), nn.Softmax(dim=1)).eval()
    reports = check(module.to(memory_format=layout),
                    torch.randn(2, 3, 8, 10).to(memory_format=layout))
    names = [names for report in reports for names in report.taken]
    assert len(names) == 2 and all("aten.add.Tensor" in piece for piece in names)


def test_a_deep_module_is_one_piece():
    layers = nn.Sequential(*(nn.Sequential(nn.Linear(12, 12), nn.LayerNorm(12), nn.GELU())
                             for _ in range(4)))
    assert len(taken(check(layers, torch.randn(5, 12)))) == 1


def test_views_writes_and_orders_in_memory():
    def function(x, y):
        y.add_(1.0)
        z = torch.relu(x.t() @ y)
        return z, z.t(), x[:, :3] * 2, x, torch.exp(x.t())
    check(function, torch.randn(6, 8), torch.randn(6, 4))


def test_an_input_that_is_not_dense_is_copied():
    check(lambda x: torch.relu(x) * 2, torch.randn(6, 8)[:, ::2])
    check(lambda x: torch.relu(x) * 2, torch.randn(1, 8).expand(6, 8))


def test_dropout_in_training_mode_stays_with_eager():
    module = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Dropout(0.5), nn.ReLU())
    x = torch.randn(16, 64)
    results, reports = reference.through(module, x)
    assert 0.4 < (results == 0).float().mean() < 0.95
    assert any("dropout" in name or "bernoulli" in name or "rand" in name
               for name in left(reports))
    assert len(taken(check(module.eval(), x))) == 1


def _draws_around_a_piece(x):
    n = torch.exp(x)
    a = torch.bernoulli(torch.full_like(n, .5) * n / n)
    return a, torch.rand_like(x) * n


def _draws_that_two_pieces_read(x):
    a = torch.rand_like(x)
    b = torch.sort(torch.exp(x + a)).values
    return torch.rand_like(x) * b, torch.randn_like(torch.relu(x)) * 2, torch.rand_like(b) + a


@pytest.mark.parametrize("function", [_draws_around_a_piece, _draws_that_two_pieces_read])
def test_random_operators_draw_in_the_order_of_eager(function):
    x = torch.randn(4, 8)
    torch.manual_seed(5)
    wanted = function(x)
    torch.manual_seed(5)
    results, reports = reference.through(function, x)
    assert reference.pieces(reports)
    torch.testing.assert_close(results, wanted)


def test_a_batch_size_that_changes_compiles_twice_at_most():
    layer, reports = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)), []

    def backend(graph, inputs):
        reports.append(reference.dynamo.Report())
        return reference.dynamo.compile_graph(graph, inputs, reports[-1], devices=("cpu",))
    torch._dynamo.reset()
    call = torch.compile(layer, backend=backend)
    with torch.no_grad():
        for size in (3, 5, 7, 11, 2):
            x = torch.randn(size, 8)
            torch.testing.assert_close(call(x), layer(x), atol=1e-4, rtol=1e-4)
    assert len(reports) == 2
    assert reference.pieces(reports)[1].program.dims == ("n0",)


def test_sizes_that_are_products_and_sums_of_names():
    check(lambda x: torch.relu(x.reshape(-1, 4) * 2).reshape(x.shape[0], -1) + 1,
          torch.randn(5, 8), dynamic=True)
    check(lambda x, y: torch.relu(torch.cat([x, y])) * 2, torch.randn(5, 8), torch.randn(3, 8),
          dynamic=True)


def test_precision_follows_pytorch():
    module, x = nn.Linear(64, 64), torch.randn(8, 64)
    seen = []
    piece_of = reference.compiled.program_of

    def program_of(lowered, precision, options):
        seen.append(precision)
        return piece_of(lowered, precision, options)
    reference.compiled.program_of, before = program_of, piece_of
    try:
        results, reports = reference.through(module, x, options={"freeze": True})
        torch.set_float32_matmul_precision("high")
        piece, = reference.pieces(reports)
        given = dict(zip(piece._places, (x, module.weight.detach(), module.bias.detach())))
        calls = []
        for precision in ("high", "highest", "high"):
            torch.set_float32_matmul_precision(precision)
            piece(*(given[place] for place in range(3)))
            calls.append(piece._current)
    finally:
        torch.set_float32_matmul_precision("highest")
        reference.compiled.program_of = before
    assert seen[0] == "highest" and seen[-1] == "high"
    assert calls[0] == calls[2] != calls[1] and calls[1][0] == "highest"


def test_joined_with_a_tensor_of_no_elements():
    check(lambda x, none: torch.relu(torch.cat([none, torch.exp(x), none], 1)) * 2,
          torch.randn(4, 6), torch.empty(0))


def test_doubles_and_complex_numbers_are_left():
    reports = check(lambda x: torch.relu(x) * 2, torch.randn(4, 4, dtype=torch.float64))
    assert taken(reports) == [] and "float64" in next(iter(left(reports).values()))


@pytest.mark.parametrize("options, text", [
    ({"tiles": 3}, "no option 'tiles'; expected math, device, target or freeze"),
    ({3: 3}, "no option 3"),
    ({"freeze": "yes"}, "freeze: expected True or False, got 'yes'"),
    ([1], "options: expected a dict .*, got list"),
])
def test_wrong_options_are_errors_of_ingot_and_of_python(options, text):
    for call in (lambda: ingot.torch.backend(None, [], options=options),
                 lambda: ingot.torch.explain(nn.ReLU(), torch.ones(2), options=options)):
        with pytest.raises(ingot.InvalidArgumentError, match=text) as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_an_unknown_option_is_told():
    with pytest.raises(Exception, match="no option 'tiles'"):
        torch._dynamo.reset()
        torch.compile(nn.ReLU(), backend=ingot.torch.backend, options={"tiles": 3})(torch.ones(2))


def test_a_param_that_lies_otherwise_is_an_input():
    weight = nn.Parameter(torch.randn(8, 6).t())
    _, reports = reference.through(lambda x: torch.relu(x @ weight), torch.randn(4, 6),
                                   options={"freeze": True})
    piece, = reference.pieces(reports)
    assert len(piece.lowered.params) == 0
    check(lambda x: torch.relu(x @ weight), torch.randn(4, 6))


def test_params_of_inference_mode_are_inputs():
    with torch.inference_mode():
        module = nn.Linear(8, 8)
    x = torch.randn(4, 8)
    results, reports = reference.through(module, x, options={"freeze": True})
    assert not reference.pieces(reports)[0].lowered.params
    with torch.inference_mode():
        torch.testing.assert_close(results.clone(), module(x), atol=1e-4, rtol=1e-4)


def test_modules_that_are_not_inlined():
    with torch._dynamo.config.patch(inline_inbuilt_nn_modules=False):
        check(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(4, 8))


def test_subclasses_of_tensors():
    from torch.testing._internal.two_tensor import TwoTensor
    x = TwoTensor(torch.randn(4, 8), torch.randn(4, 8))
    results, _ = reference.through(lambda x: torch.relu(x) * 2, x)
    assert isinstance(results, TwoTensor)
    for got, given in ((results.a, x.a), (results.b, x.b)):
        torch.testing.assert_close(got, torch.relu(given) * 2)


def test_a_view_with_gaps_is_left_to_eager():
    def function(a):
        z = torch.exp(a[:, :1]).expand(4, 6)
        return z, torch.relu(z)
    check(function, torch.randn(4, 6))


def test_the_newer_setting_of_precision():
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    try:
        matmul.fp32_precision = "tf32"
        assert reference.compiled.matmul_precision() == "high"
        _, reports = reference.through(nn.Linear(64, 64), torch.randn(8, 64))
        assert len(reference.pieces(reports)) == 1
    finally:
        matmul.fp32_precision = before


def test_one_compiled_function_for_two_modules():
    a, b = (nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(2))
    reports = []

    def backend(graph, inputs):
        reports.append(reference.dynamo.Report())
        return reference.dynamo.compile_graph(graph, inputs, reports[-1], devices=("cpu",))
    torch._dynamo.reset()
    call = torch.compile(lambda module, x: module(x), backend=backend)
    x = torch.randn(4, 8)
    with torch.no_grad():
        for module in (a, b, a):
            torch.testing.assert_close(call(module, x), module(x), atol=1e-4, rtol=1e-4)


def test_tensors_on_the_cpu_are_told():
    torch._dynamo.reset()
    with pytest.warns(UserWarning, match="a tensor on cpu, expected one on a CUDA device"):
        torch.compile(nn.ReLU(), backend=ingot.torch.backend)(torch.ones(2))


def test_an_eager_operator_whose_strides_are_not_those_of_its_fake_tensor():
    @torch.library.custom_op("ingot_test::turned", mutates_args=())
    def turned(x: torch.Tensor) -> torch.Tensor:
        return (x + 1).t().contiguous().t()  # lies by columns

    turned.register_fake(lambda x: torch.empty_like(x))  # says by rows
    for function in (lambda x: torch.relu(turned(x)) * 2, lambda x: turned(x) @ turned(x).t()):
        x = torch.randn(5, 7)
        torch.testing.assert_close(reference.through(function, x)[0], function(x))


def test_an_eager_operator_whose_type_is_not_that_of_its_fake_tensor():
    @torch.library.custom_op("ingot_test::narrow", mutates_args=())
    def narrow(x: torch.Tensor) -> torch.Tensor:
        return x.half()

    narrow.register_fake(lambda x: torch.empty_like(x))  # says f32
    x = torch.randn(5, 7)
    results, _ = reference.through(lambda x: torch.relu(narrow(x)) * 2, x)
    torch.testing.assert_close(results, torch.relu(x.half().float()) * 2)


def test_an_eager_operator_whose_device_or_shape_is_not_that_of_its_fake_tensor():
    _, reports = reference.through(lambda x: torch.relu(torch.sort(x).values) * 2,
                                   torch.randn(5, 7))
    piece, = reference.pieces(reports)
    piece.device = torch.device("meta")
    assert piece._adapted(0, torch.randn(5, 7)).device.type == "meta"
    assert "sort" in piece._unguarded[0]  # the launcher looks at its shape


@pytest.mark.parametrize("freeze", [False, True])
def test_a_parameter_of_another_type_is_not_converted_beside_a_computed_tensor(freeze):
    module, x = nn.Linear(8, 8), torch.randn(4, 8)
    _, reports = reference.through(lambda x: module(torch.sort(x).values), x,
                                   options={"freeze": freeze})
    piece, = reference.pieces(reports)
    weight = [node.meta["val"].shape for node in piece.nodes()].index((8, 8))
    for dtype in (torch.float64, torch.float16):
        assert piece._adapted(weight, module.weight.to(dtype)).dtype == dtype
    assert weight in piece._unguarded  # the launcher looks at its type


def test_results_of_one_storage_are_tensors_of_their_own():
    results, _ = reference.through(lambda x: (lambda y: (y, y.t().t()))(torch.relu(x)),
                                   torch.randn(4, 5))
    assert results[0] is not results[1]
    results[0].t_()
    assert results[1].shape == (4, 5)


def test_programs_are_shared_and_live_as_long_as_their_pieces():
    num_before, function = reference.compiled.num_compiled(), lambda x: torch.relu(x * 1.2345)
    (_, first), (_, second) = (reference.through(function, torch.randn(4, 8)) for _ in range(2))
    piece, = reference.pieces(first)
    assert piece.program is reference.pieces(second)[0].program
    assert reference.compiled.num_compiled() == num_before + 1
    key, = (key for key, program in reference.compiled._programs.items()
            if program is piece.program)
    del piece, first, second, _
    torch._dynamo.reset()
    gc.collect()
    assert key not in reference.compiled._programs


def test_views_share_the_memory_of_what_they_are_views_of():
    def function(x):
        y = torch.exp(x)
        return y, y.t(), y[:, 1:3], y.view(-1), y.unsqueeze(0).expand(2, 4, 6), *y.split(2)
    x = torch.randn(4, 6)
    results, reports = reference.through(function, x)
    assert taken(reports) == [1]
    for got, wanted in zip(results, function(x), strict=True):
        assert got.stride() == wanted.stride() and got.storage_offset() == wanted.storage_offset()
        assert got.untyped_storage().data_ptr() == results[0].untyped_storage().data_ptr()
    results[1][2, 3] = 7.0
    assert results[0][3, 2] == 7.0


def test_an_eager_operator_sees_the_strides_and_the_memory_of_a_view():
    def function(x):
        y = torch.exp(x)
        part = y[:, 1:3]
        return torch.as_strided(part, (4, 2), (6, 2), 0) * 2, torch.sort(part).values
    check(function, torch.randn(4, 6))


def test_a_view_between_two_pieces_belongs_to_the_second():
    def function(x):
        y = torch.exp(x)
        z = torch.sort(y, dim=0).values
        a, b = y.view(4, 2, 3).transpose(1, 2).split(1, dim=2)
        return torch.relu(z) + (a * b).sum(2)[:, :1]
    reports = check(function, torch.randn(4, 6))
    pieces = reference.pieces(reports)
    assert len(pieces) == 2
    assert [node.target for node in pieces[1].nodes()][-1] is not torch.ops.aten.split.Tensor


def test_strides_of_results_are_those_of_eager():
    channels_last = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for x in (channels_last, torch.randn(4, 1, 6).transpose(0, 1), torch.randn(1, 4).t(),
              torch.randn(3, 0, 2).transpose(0, 2)):
        wanted = torch.exp(x) * 2
        results, _ = reference.through(lambda x: torch.exp(x) * 2, x)
        assert results.stride() == wanted.stride() and results.shape == wanted.shape
        torch.testing.assert_close(results, wanted)


def test_an_operator_has_one_rule():
    with pytest.raises(ingot.Error, match="expected one rule for aten.tanh.default, got two"):
        rule(torch.ops.aten.tanh.default)(lambda g, x: x)


def test_a_rule_that_fails_leaves_its_operator_to_eager(monkeypatch):
    def broken(g, x):
        raise KeyError("planted")
    monkeypatch.setitem(RULES, torch.ops.aten.tanh.default, broken)
    reports = check(lambda x: torch.tanh(torch.exp(x)) * 2, torch.randn(4, 6))
    assert left(reports) == {"aten.tanh": "the rule failed: KeyError: 'planted'"}


@pytest.mark.parametrize("wrong", [
    lambda g, x: g.call("reshape", x, [1, *g.extents(x.fake.shape)]),
    lambda g, x: g.call("cast", x, "bf16"),
    lambda g, x: g.call("sum", x, axis=1)])
def test_a_rule_that_gives_another_type_or_shape_is_told(monkeypatch, wrong):
    monkeypatch.setitem(RULES, torch.ops.aten.tanh.default, wrong)
    reports = check(lambda x: torch.tanh(torch.exp(x)) * 2, torch.randn(4, 6))
    assert left(reports)["aten.tanh"].startswith("the rule of aten.tanh.default gives ")
    reports = check(lambda x: torch.tanh(torch.exp(x)) * 2, torch.randn(4, 6), dynamic=True)
    assert "aten.tanh" in left(reports)


def test_a_rule_that_fails_only_inside_a_piece_leaves_its_operators(monkeypatch):
    def fails_beside_others(g, x):
        if any(node.name.startswith("exp") and node.op == "call_function"
               and len(g._values) > 1 for node in g._values):
            raise KeyError("planted")
        return g.call("tanh", x)
    monkeypatch.setitem(RULES, torch.ops.aten.tanh.default, fails_beside_others)
    reports = check(lambda x: torch.tanh(torch.exp(x)) * 2, torch.randn(4, 6))
    assert left(reports)["aten.tanh"] == "the rule failed: KeyError: 'planted'"


HALVES = torch.tensor([6e4, 1.0, -6e4, 4e4, 0.5, -0.0, 1e-7], dtype=torch.float16)


@pytest.mark.parametrize("function", [
    lambda h: (h * 2).isinf(), lambda h: (h * 2).isfinite(), lambda h: (h * 2).isposinf(),
    lambda h: torch.where(torch.isneginf(h * 2), 1, 0), lambda h: (h * 2).nan_to_num(),
    lambda h: torch.where(torch.isinf(h * 2), 64000, h * 2),
    lambda h: torch.where(h * 2 == math.inf, 0, 1), lambda h: h * 2 != h * 3,
    lambda h: (h * 2 < h * 3, h * 2 <= 7e4, h * 2 > h.float(), h * 2 >= math.inf),
    lambda h: (h * 2).argmax(), lambda h: (-h * 2).argmin(), lambda h: (h * 2).max(0),
    lambda h: (h * 1e-3).sign(), lambda h: (h * 1e-3).bool(), lambda h: (h * 1e-3).any(),
    lambda h: (h * 1e-3).count_nonzero(), lambda h: torch.logical_not(h * 1e-3),
    lambda h: (h + 2048.0).floor(), lambda h: (h + 2048.0).ceil(), lambda h: (h + 2047.5).round(),
    lambda h: (h + 2047.5).trunc(), lambda h: (h[4:] * 0.45 + 1023.5).frac(),
    lambda h: (h[3:] + 2047.5).int(), lambda h: (h * 2).float(), lambda h: (h * 2).bfloat16(),
    lambda h: torch.linalg.vector_norm(h * 1e-3, 0), lambda h: torch.dist(h * 1e-3, h * 0, 0),
    lambda h: torch.dist(torch.ones_like(h) * 0, (h * 1e-3).reshape(1, 7), 0),
    lambda h: torch.linalg.vector_norm(h * 1e-3, 0, dtype=torch.float32),
    lambda h: F.threshold(h + 2048, 2048, 7.0),
    lambda h: F.hardshrink(h[3:] * 1.001, 4e4), lambda h: torch.heaviside(h * 1e-3, h),
    lambda h: torch.xlogy(h * 1e-3, h * 0), lambda h: (h * 2).reshape(7, 1).t() == math.inf])
def test_results_that_jump_ask_numbers_of_their_type(function):
    results, reports = reference.through(function, HALVES)
    assert reference.pieces(reports)
    torch.testing.assert_close(results, function(HALVES), rtol=2**-10, atol=0, equal_nan=True)


def test_an_operand_that_holds_numbers_of_its_type_is_not_rounded_again():
    function = lambda h: (h.t()[1:] > 1, torch.cat([h, h]).isinf(), h.float().half().sign())
    _, reports = reference.through(function, HALVES.reshape(1, 7))
    piece, = reference.pieces(reports)
    assert str(piece.lowered.graph).count("f16)") <= 1


def test_a_maximum_that_is_looked_for_is_found():
    x, w = torch.randn(16, 64).bfloat16(), torch.randn(32, 64).bfloat16()

    def function(x, w):
        z = F.linear(x, w)
        return z == z.amax(1, keepdim=True), z.float() == z.amax(1, keepdim=True)
    for found in reference.through(function, x, w)[0]:
        assert found.any(1).all()


def test_results_of_one_element():
    check(lambda x: (x.sum(0, keepdim=True), torch.linalg.vector_norm(x), x.norm(dim=0),
                     F.softmax(x, 0), x.cumsum(0), x.amax(0), F.normalize(x, dim=0)),
          torch.tensor(3.0))


def test_weights_that_are_written_through_data():
    module, x = nn.Linear(64, 64), torch.randn(8, 64)
    torch._dynamo.reset()
    call = torch.compile(module, backend=lambda graph, inputs: reference.dynamo.compile_graph(
        graph, inputs, reference.dynamo.Report(), devices=("cpu",)))
    with torch.no_grad():
        call(x)
        for change in (lambda w: w.data.mul_(2), lambda w: w.data.__iadd__(1.0),
                       lambda w: w.data[3].zero_(), lambda w: setattr(w, "data", w.data.t()),
                       lambda w: setattr(w, "data", torch.randn(64, 64).t())):
            change(module.weight)
            torch.testing.assert_close(call(x), module(x), atol=1e-4, rtol=1e-4)


def test_an_unknown_value_of_freeze_is_told():
    with pytest.raises(Exception, match="freeze: expected True or False, got 'yes'"):
        torch._dynamo.reset()
        torch.compile(nn.ReLU(), backend=ingot.torch.backend, options={"freeze": "yes"})(
            torch.ones(2))
