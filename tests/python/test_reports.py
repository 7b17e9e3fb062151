# SPDX-License-Identifier: Apache-2.0
"""Reports that need no GPU: explanations and reference runs, and the names of their options."""
import array
import inspect
import json
import subprocess
import sys

import pytest

import ingot
from conftest import BUILD, ROOT

SPEC = """graph chain(x: f32[m, 4], param w: f32[3, 4]) {
  return y = softmax(linear(x, w), axis=1)
}"""


# --- explain ---

@pytest.mark.parametrize("options", [
    {}, {"device": "h100"}, {"matmul_precision": "high", "device": "a100"}, {"math": "strict"},
    {"dims": {"m": 77}}, {"target": "sm_80"}, {"format": "json"}, {"format": "dot"},
    {"format": "svg"}])
def test_explain_is_what_the_command_line_prints(tmp_path, options):
    spec = tmp_path / "chain.ingot"
    spec.write_text(SPEC)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()
             if name != "dims"]
    flags += [f"--dim={name}={size}" for name, size in options.get("dims", {}).items()]
    if "device" not in options:
        flags.append("--device=a100")
    done = subprocess.run([BUILD / "bin" / "ingot", "explain", spec, *flags], check=True,
                          capture_output=True, text=True)
    assert ingot.explain(SPEC, **{"device": "a100", **options}) == done.stdout


def test_explain_takes_graphs_and_their_options_matter():
    graph = ingot.parse(SPEC)
    assert ingot.explain(graph, device="a100") == ingot.explain(SPEC, device="a100")
    texts = {ingot.explain(graph, device="a100", format="json", matmul_precision=precision)
             for precision in ("highest", "high")}
    assert len(texts) == 2
    facts = json.loads(ingot.explain(graph, format="json", dims={"m": 5}))
    assert facts["graph"] == "chain" and facts["dims"] == {"m": 5}


@pytest.mark.parametrize("text, options", [
    ("no named dimension 'k'", {"dims": {"k": 3}}), ("expected one size", {"dims": {"m": (1, 2)}}),
    ("dims: expected a dict", {"dims": 3}), ("format: expected text, json", {"format": "pdf"}),
    ("at least 0", {"dims": {"m": -1}}), ("h900", {"device": "h900"})])
def test_explain_says_what_is_wrong(text, options):
    with pytest.raises(ingot.InvalidArgumentError, match=text):
        ingot.explain(SPEC, **options)


# --- one name for each option ---

@pytest.mark.parametrize("function", [ingot.compile, ingot.bundle, ingot.explain])
def test_options_have_the_names_of_the_command_line(function):
    names = set(inspect.signature(function).parameters)
    assert {"matmul_precision", "math", "target", "device"} <= names
    help_text = subprocess.run([BUILD / "bin" / "ingot", "explain", "--help"], check=True,
                               capture_output=True, text=True).stdout
    assert all(f"--{name.replace('_', '-')}" in help_text
               for name in ("matmul_precision", "math", "target", "device"))


def test_precision_is_the_old_name_of_matmul_precision():
    old, new = (ingot.explain(SPEC, device="a100", **{name: "medium"})
                for name in ("precision", "matmul_precision"))
    assert old == new != ingot.explain(SPEC, device="a100")
    for function in (ingot.compile, ingot.bundle, ingot.explain):
        with pytest.raises(ingot.InvalidArgumentError, match="were both given"):
            function(SPEC, precision="high", matmul_precision="high")
        for name in ("precision", "matmul_precision"):
            with pytest.raises(ingot.InvalidArgumentError, match=f"^{name}: expected highest"):
                function(SPEC, **{name: "tf32"})


# --- reference ---

def softmax(rows):
    numpy = pytest.importorskip("numpy")
    powers = numpy.exp(rows - rows.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_reference_gives_arrays_for_arrays():
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(1)
    x, w = (random.standard_normal(shape).astype(numpy.float32) for shape in ((5, 4), (3, 4)))
    wanted = softmax(x.astype(numpy.float64) @ w.astype(numpy.float64).T).astype(numpy.float32)
    for given in ((x, w), (numpy.asfortranarray(x), w)):
        y = ingot.reference(SPEC, *given)
        assert type(y) is numpy.ndarray and y.dtype == numpy.float32
        numpy.testing.assert_array_max_ulp(y, wanted, 1)
    for named in ({"w": w}, {"x": x, "w": w}):
        y = ingot.reference(ingot.parse(SPEC), *(() if "x" in named else (x,)), **named)
        numpy.testing.assert_array_max_ulp(y, wanted, 1)
    y[:] = 0  # is the caller's own


def test_reference_gives_torch_tensors_for_torch_tensors():
    torch = pytest.importorskip("torch")
    x, w = torch.randn(4, 5).T, torch.randn(3, 4, requires_grad=True)  # x is not contiguous
    wanted = torch.softmax(x.double() @ w.detach().double().T, 1).float()
    y = ingot.reference(SPEC, x, w)
    assert isinstance(y, torch.Tensor) and not y.requires_grad
    torch.testing.assert_close(y, wanted, rtol=2e-7, atol=0)
    assert isinstance(ingot.reference(SPEC, x.contiguous().numpy(), w), torch.Tensor)  # one of two


def test_reference_computes_in_f64():
    numpy = pytest.importorskip("numpy")
    x = numpy.array([2**25, 1, -2**25, 1], numpy.float32)  # 0, 1 or 2^25 in f32
    y = ingot.reference("graph g(x: f32[n]) { return sum(x) }", x)
    assert y.shape == () and y == 2


EVERY_TYPE = """graph g(a: f32[n], h: f16[n], i: i32[n], l: i64[n], b: bool[n]) {
  return a2 = a * 2.0, h2 = h * 2.0, i2 = i * 2, l2 = l * 2, b2 = not(b)
}"""


@pytest.mark.parametrize("size", [0, 1, 3])
def test_reference_of_every_type_and_of_nothing(size):
    numpy = pytest.importorskip("numpy")
    torch = pytest.importorskip("torch")
    arrays = [numpy.arange(size).astype(dtype)
              for dtype in ("float32", "float16", "int32", "int64", "bool")]
    results = ingot.reference(EVERY_TYPE, *arrays)
    tensors = ingot.reference(EVERY_TYPE, *map(torch.from_numpy, arrays))
    for result, tensor, given in zip(results, tensors, arrays):
        assert result.dtype == given.dtype and result.shape == (size,)
        wanted = ~given if given.dtype == bool else given * 2
        numpy.testing.assert_array_equal(result, wanted)
        numpy.testing.assert_array_equal(tensor.numpy(), wanted)


def test_reference_of_bf16():
    numpy = pytest.importorskip("numpy")
    torch = pytest.importorskip("torch")
    spec = "graph g(x: bf16[n], s: bf16[]) { return relu(x) * s }"
    x = torch.tensor([-1.0, 1.5, float("nan"), float("inf")], dtype=torch.bfloat16)
    two = torch.tensor(2.0, dtype=torch.bfloat16)
    y = ingot.reference(spec, x, two)
    assert y.dtype is torch.bfloat16
    assert y[[0, 1, 3]].tolist() == [0, 3, float("inf")] and y[2].isnan()
    bits = ingot.reference(spec, x.view(torch.int16).numpy().view(numpy.uint16),
                           two.view(torch.int16).numpy().view(numpy.uint16))
    assert bits.dtype == numpy.uint16
    assert bits.tolist() == y.view(torch.int16).numpy().view(numpy.uint16).tolist()


class OnlyDlpack:
    """A tensor of another library."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **named):
        return self.tensor.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_reference_reads_buffers_and_dlpack():
    numpy = pytest.importorskip("numpy")
    spec = "graph g(x: f32[n]) { return x + 1.0 }"
    given = [array.array("f", [1, 2]), OnlyDlpack(numpy.array([1, 2], numpy.float32)),
             memoryview(array.array("f", [1, 0, 2, 0]))[::2]]
    for x in given:
        y = ingot.reference(spec, x)
        assert type(y) is numpy.ndarray and y.tolist() == [2, 3]


def test_reference_says_what_is_wrong():
    numpy = pytest.importorskip("numpy")
    torch = pytest.importorskip("torch")
    x, w = numpy.zeros((5, 4), numpy.float32), numpy.zeros((3, 4), numpy.float32)
    for text, given in [
            (r"of f32 \(numpy.float32\), got numpy.float64; .* \.astype\(\"float32\"\)",
             (x.astype(float), w)),
            (r"expected elements of f32 \(numpy.float32\), got >f4", (x.astype(">f4"), w)),
            (r"of f32 \(torch.float32\), got torch.float16; .* \.to\(torch.float32\)",
             (torch.zeros(5, 4, dtype=torch.float16), w)),
            ("on the CPU, got one on meta", (torch.zeros(5, 4, device="meta"), w)),
            ("a dense tensor", (torch.zeros(5, 4).to_sparse(), w)),
            (r"expected f32\[m, 4\], got f32\[5\]", (x[:, 0], w)),
            (r"expected f32\[m, 4\], got f32\[5, 3\]", (x[:, 1:], w)),
            ("expected tensors x, w, got no w", (x,)), ("expected 2 tensors, got 3", (x, w, w)),
            ("got list", ([[0.0] * 4], w)), ("got type", (OnlyDlpack, w)),
            ("cannot read this OnlyDlpack", (OnlyDlpack(torch.zeros(5, 4, device="meta")), w))]:
        with pytest.raises(ingot.InvalidArgumentError, match=text):
            ingot.reference(SPEC, *given)
    with pytest.raises(ingot.InvalidArgumentError, match="there is no tensor 'v'"):
        ingot.reference(SPEC, x, v=w)
    with pytest.raises(ingot.InvalidArgumentError, match="'x' was given twice"):
        ingot.reference(SPEC, x, x=x, w=w)
    with pytest.raises(ingot.InvalidArgumentError,
                       match=r"bf16 \(numpy.uint16, its bits\), got numpy.float32"):
        ingot.reference("graph g(x: bf16[4]) { return relu(x) }", x[0])


def test_reference_without_numpy(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "numpy", None)
    spec = "graph g(x: f32[n]) { return x + 1.0 }"
    assert ingot.reference(spec, torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(ingot.UnavailableError, match="needs numpy"):
        ingot.reference(spec, array.array("f", [1]))


# --- graphs and the builder's methods ---

def test_a_graph_tells_its_tensors():
    graph = ingot.parse("graph g(x: f32[m, 4], t: i64[2*m], param w: f16[3]) {"
                        " return y = relu(x), v = w, u = t }")
    assert graph.inputs == (("x", "f32", ("m", 4)), ("t", "i64", ("2*m",)))
    assert graph.params == (("w", "f16", (3,)),)
    assert [spec.name for spec in graph.outputs] == ["y", "v", "u"] and graph.dims == ("m",)
    assert "x: f32[m, 4]" in repr(graph)


def test_operators_are_methods_with_signatures_and_docstrings():
    g = ingot.GraphBuilder("g")
    assert {"softmax", "relu", "and_", "group_norm", "tanh"} <= set(dir(g))
    assert g.softmax.__name__ == "softmax" and "exp(x - max)" in g.softmax.__doc__
    assert str(inspect.signature(g.softmax)) == "(x: 'Operand', axis: 'int' = -1) -> 'Any'"
    groups = inspect.signature(g.group_norm).parameters["groups"]
    assert groups.kind is groups.KEYWORD_ONLY and groups.default is groups.empty
    assert not hasattr(g, "sofmax")
    with pytest.raises(AttributeError, match="did you mean 'softmax'"):
        g.sofmax  # pylint: disable=pointless-statement
    with pytest.raises(ingot.InvalidArgumentError, match="did you mean 'softmax'"):
        g.call("sofmax")


def test_every_function_of_the_page_is_a_method():
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    listed = [signature.split("(") for signature in page.split("`") if signature.endswith(")")
              and signature[0].islower() and signature.split("(")[0].isidentifier()]
    assert len(listed) > 100
    orders = {}  # of some functions the page also shows PyTorch's order
    for name, parameters in listed:
        shown = [item.split("=")[0] for item in parameters[:-1].split(", ")]
        orders.setdefault(name, []).append(shown)
    for name, shown in orders.items():
        method = getattr(ingot.GraphBuilder, name, None) or getattr(ingot.GraphBuilder, name + "_")
        if name != "constant":  # the builder has its own
            assert list(inspect.signature(method).parameters)[1:] in shown


def test_own_methods_are_those_that_functions_leave_alone():
    from ingot._functions import OWN
    public = [name for name in vars(ingot.GraphBuilder) if not name.startswith("_")]
    assert sorted(public) == sorted(OWN)


def test_words_of_python_have_an_underscore():
    g = ingot.GraphBuilder("g")
    a, b = (g.input(name, "bool", (4,)) for name in "ab")
    g.output("y", g.and_(a, g.not_(b)))
    assert "and(a, " in str(g.finish())


def test_the_stub_is_what_its_script_writes():
    done = subprocess.run([sys.executable, ROOT / "tools" / "python_stub.py"], check=True,
                          capture_output=True, text=True)
    stub = ROOT / "python" / "ingot" / "_methods.pyi"
    assert stub.read_text(encoding="utf-8") == done.stdout, (
        "python3 tools/python_stub.py > python/ingot/_methods.pyi")
