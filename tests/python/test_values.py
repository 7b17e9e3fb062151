# SPDX-License-Identifier: Apache-2.0
"""Uses of a builder's values: methods, attributes, Python's operators and functions."""
import copy
import math

import ingot
import pytest

INPUTS = {"x": ("f32", (4, 6)), "w": ("f32", (6, 8)), "m": ("bool", (4, 6)), "z": ("f32", ("n", 6)),
          "i": ("i32", (4, 6))}
DECLARED = ", ".join(f"{name}: {dtype}[{', '.join(map(str, shape))}]"
                     for name, (dtype, shape) in INPUTS.items())


def values():
    g = ingot.GraphBuilder("g")
    return g, {name: g.input(name, *declared) for name, declared in INPUTS.items()}


def built(function):
    g, of = values()
    g.output("y", function(of))
    return g.finish()


def text(expression):
    return str(ingot.parse(f"graph g({DECLARED}) {{ return y = {expression} }}"))


@pytest.mark.parametrize("expression", [
    "x.relu()", "x.sum(dim=1)", "x.sum(1, keepdim=True)", "x.square().mean(-1, keepdim=True)",
    "x.reshape(2, -1)", "x.reshape([2, -1])", "x.transpose(0, 1)", "x.permute(1, 0)", "x.max(1)[0]",
    "x.T.softmax()", "x.matmul(w)", "z.layer_norm((6,))", "m.where(x, 0)",
    "x.masked_fill(m, 0.5)", "x.exp().log()", "m.any(dim=0)",
    "z[1:].relu()[:, 0]", "x[:, 0]", "x @ w", "w.T @ x.T", "x % 2", "2 % x", "i % 3", "abs(x)",
    "-x ** 2", "2 ** x", "1 - x", "1 / x", "x.reciprocal()",
])
def test_methods_and_operators_are_those_of_the_language(expression):
    graph = built(lambda of: eval(expression, of))
    assert str(graph) == text(expression)


@pytest.mark.parametrize("python, expression", [
    (lambda of: of["m"] & (of["x"] > 0), "m and x > 0"),
    (lambda of: (of["x"] > 0) | of["m"], "x > 0 or m"),
    (lambda of: ~of["m"], "not m"),
    (lambda of: of["m"].and_(of["x"] > 0), "m and x > 0"),
    (lambda of: of["i"] // 3, "div(i, 3, rounding_mode='floor')"),
    (lambda of: 3 // of["x"], "div(3, x, rounding_mode='floor')"),
    (lambda of: of["x"].cast("f16"), "cast(x, f16)"),
    (lambda of: round(of["x"]), "round(x)"),
    (lambda of: of["z"].reshape(2, "3*n"), "z.reshape(2, 3*n)"),
    (lambda of: of["z"].view("n", 2, 3), "z.view(n, 2, 3)"),
    (lambda of: of["z"].narrow(0, 1, "n - 1"), "narrow(z, 0, 1, n - 1)"),
    (lambda of: of["z"].narrow(0, start=1, length="n - 1"), "narrow(z, 0, 1, n - 1)"),
    (lambda of: of["x"].gelu("tanh"), "gelu(x, 'tanh')"),
    (lambda of: +of["x"] * 1, "x * 1"),
    (lambda of: of["x"].sum(axis=-1, keepdim=True), "sum(x, -1, keepdim=true)"),
])
def test_python_spells_some_otherwise(python, expression):
    assert str(built(python)) == text(expression)


def test_every_function_is_a_method():
    for function in ingot._functions.functions():
        name = ingot._functions.method_name(function)
        assert callable(getattr(ingot.GraphBuilder, name))
        takes_tensor = function["parameters"][0]["kind"] == "tensor"
        assert hasattr(ingot.Value, name) == takes_tensor, name
    shown = str(ingot._functions.inspect.signature(ingot.Value.softmax))
    assert shown == "(self, axis: 'int' = -1) -> 'Any'"


def test_a_value_says_what_it_is():
    _, of = values()
    assert of["z"].shape == ("n", 6) and of["x"].shape == (4, 6)
    assert of["m"].dtype == "bool" and of["x"].ndim == 2 and of["x"].sum().shape == ()
    assert repr(of["z"]) == "<ingot.Value f32[n, 6]>"
    assert copy.copy(of["x"]).shape == (4, 6) and hash(of["x"]) is not None
    assert not hasattr(of["x"], "__cuda_array_interface__") and not hasattr(of["x"], "nonsense")


def refused(error, match, function):
    g, of = values()
    with pytest.raises(error, match=match):
        function(of)
    g.output("y", of["x"])  # the builder goes on
    g.finish()


@pytest.mark.parametrize("match, function", [
    (r"has no len: write x.shape\[0\]", lambda of: len(of["x"])),
    ("choose with where", bool),
    ("choose with where", lambda of: 1 if of["x"] > 0 else 2),
    (r"take x\[0\], x\[1\]", lambda of: list(of["x"])),
    (r"write \(x == 2\).any\(\)", lambda of: 2 in of["x"]),
    (r"x.exp\(\) for math.exp", lambda of: float(of["x"])),
    (r"x.exp\(\) for math.exp", lambda of: math.exp(of["x"])),
    (r"x.cast\(\"i32\"\)", lambda of: int(of["x"])),
    ("no complex numbers", lambda of: complex(of["x"])),
    ("cannot be written to", lambda of: of["x"].__setitem__(0, 1)),
])
def test_what_needs_elements_says_what_to_write(match, function):
    refused(TypeError, match, (lambda of: bool(of["x"])) if function is bool else function)


@pytest.mark.parametrize("match, function", [
    ("topk", lambda of: of["x"].topk(2)),
    (r"write x\[0\], x\[1\]", lambda of: of["x"].unbind),
    ("did you mean 'softmax'", lambda of: of["x"].softmx(1)),
    (r"write g.output\(...\)", lambda of: of["x"].output("y")),
    (r"write g.concat\(...\)", lambda of: of["x"].concat([of["x"]])),
    (r"write g.arange\(...\)", lambda of: of["x"].arange()),
    (r"clamp_min'; write clamp\(x, min=1e-08\)", lambda of: of["x"].clamp_min(1e-8)),
    (r"clamp_min'; write clamp\(x, min=1e-08\)",
     lambda of: of["x"]._builder.clamp_min(of["x"], 1e-8)),
    (r"add: expected a value or a number beside f32\[4, 6\], got None",
     lambda of: of["x"] + None),
    (r"sub: expected .* beside f32\[4, 6\], got None", lambda of: None - of["x"]),
    ("div: expected .* got None", lambda of: of["x"] // None),
    (r"got 'n'; .* g.extent\(\"f32\", \['n'\]\)", lambda of: of["z"] / of["z"].shape[0]),
    (r"got 'n'; .* g.extent\(\"i64\", \['n'\]\)", lambda of: of["m"] == "n"),
    ("argument 'b' is a list", lambda of: of["x"] + [1, 2]),
    (r"write g.constant\(...\)", lambda of: of["x"].constant(1, "f32")),
    ("expected a value, a number, a text or a list of them, got type",
     lambda of: of["x"].cast(complex)),
    ("inner extents", lambda of: of["x"] @ of["x"]),
    ("axis 5", lambda of: of["x"].sum(5)),
])
def test_a_method_that_is_none_and_operands_that_do_not_fit(match, function):
    refused(ingot.Error, match, function)


def test_numpy():
    numpy = pytest.importorskip("numpy")
    for function in (lambda of: numpy.exp(of["x"]), lambda of: numpy.asarray(of["x"]),
                     lambda of: numpy.concatenate([of["x"], of["x"]])):
        refused(TypeError, r"write its own functions, such as x.exp\(\) for numpy.exp", function)
    for left in (lambda of: numpy.ones((4, 6), "f4") * of["x"],
                 lambda of: of["x"] + numpy.ones((4, 6), "f4")):
        refused(ingot.InvalidArgumentError, "got numpy.ndarray; .*input", left)
    for scale in (numpy.float32(0.5), numpy.float64(0.5)):
        assert str(built(lambda of: scale * of["x"])) == text("0.5 * x")
        assert str(built(lambda of: of["x"] / scale)) == text("x / 0.5")
        assert str(built(lambda of: scale < of["x"])) == text("x > 0.5")
    assert str(built(lambda of: of["x"].sum(numpy.int64(1)))) == text("x.sum(1)")


def test_torch():
    torch = pytest.importorskip("torch")
    for name, function in [("relu", lambda of: torch.relu(of["x"])),
                           ("gelu", lambda of: torch.nn.functional.gelu(of["x"])),
                           ("softmax", lambda of: torch.nn.functional.softmax(of["x"], dim=1)),
                           ("linear", lambda of: torch.nn.Linear(6, 2)(of["x"]))]:
        refused(TypeError, rf"{name}.*: PyTorch computes on tensors.*x.exp\(\) for torch.exp",
                function)
    for function in (lambda of: of["x"] + torch.ones(4), lambda of: torch.ones(4) * of["x"]):
        refused(ingot.InvalidArgumentError, "got torch.Tensor; .*input", function)
    refused(ingot.InvalidArgumentError, "got torch.dtype", lambda of: of["x"].cast(torch.float64))


def test_a_failed_call_leaves_the_builder_as_it_was():
    def build(fails):
        g = ingot.GraphBuilder("g")
        x = g.input("x", "f32", ("m", 30))
        if fails:
            for wrong in (lambda: g.group_norm(x, groups=7), lambda: g.input("x", "f32", (3,)),
                          lambda: g.input("y", "f32", ("x",)), lambda: g.input("y", "f64", (3,)),
                          lambda: g.output("x", x), lambda: g.constant(0.5, "i32"),
                          lambda: x[99, 99], lambda: g.softmx(x), lambda: g.relu(x, 3, 4),
                          lambda: x @ x, lambda: g.output("two words", x), lambda: g.finish()):
                with pytest.raises(ingot.Error):
                    wrong()
        y = g.input("y", "f32", ("x2", 30))
        g.output("a", g.softmax(y) + 7.0)
        assert g.describe(x) == ("f32", ("m", 30))
        return str(g.finish())
    assert build(True) == build(False)
