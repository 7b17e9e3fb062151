# SPDX-License-Identifier: Apache-2.0
"""The package without a GPU: graphs, programs, and the errors of mistakes."""
import array
import pathlib
import re

import pytest

import ingot
from ingot import gpu_memory
from ingot.dtypes import LONG_NAMES
from conftest import ROOT

PROJECTION = """graph projection(x: f32[m, 512], param w: f32[1024, 512]) {
  return y = softmax(linear(x, w), axis=1)
}"""


def test_version():
    assert ingot.__version__.count(".") == 2


def test_program():
    program = ingot.compile(PROJECTION, device="a100")
    assert program.inputs == (("x", "f32", ("m", 512)),)
    assert program.params == (("w", "f32", (1024, 512)),)
    assert program.outputs == (("y", "f32", ("m", 1024)),)
    assert program.dims == ("m",)
    assert repr(program) == (
        "<ingot.Program inputs (x: f32[m, 512]) params (w: f32[1024, 512]) outputs (y: f32[m, "
        f"1024]), {program.num_kernels} kernels a launch>")
    assert program.num_kernels >= 2
    assert program.shape(ingot.Role.OUTPUT, 0, m=7) == (7, 1024)
    assert program.memory(m=(1, 64)).workspace >= program.memory(m=1).workspace
    source, manifest = program.code("cuda")
    assert b"__global__" in source and '"ingot-manifest"' in manifest


def test_sizes_that_overflow_are_told():
    program = ingot.compile("graph g(x: f32[m, 512]) { return relu(x) }", device="a100")
    assert program.memory(m=2**40) == (0, 0, 0)
    with pytest.raises(ingot.InvalidArgumentError, match="the sizes overflow: input 'x'"):
        program.memory(m=2**62)


def test_builder_gives_the_graph_of_the_spec():
    g = ingot.GraphBuilder("projection")
    x, w = g.input("x", "f32", ("m", 512)), g.param("w", "f32", (1024, 512))
    g.output("y", g.softmax(g.linear(x, w), axis=1))
    assert str(g.finish()) == str(ingot.parse(PROJECTION))


def test_a_graph_has_the_warnings_of_its_spec():
    with pytest.warns(ingot.SpecWarning):
        graph = ingot.parse("graph g(x: f32[4], y: f32[4], param w: f32[4]) {\n"
                            "  h = exp(x)\n  return relu(x)\n}", "file")
    heads = [text.splitlines()[0] for text in graph.warnings]
    remedy = "; remove it, or let its name begin with '_'"
    assert heads == [f"file:1:20: warning: no result needs the input 'y'{remedy}",
                     f"file:1:37: warning: no result needs the param 'w'{remedy}",
                     f"file:2:3: warning: no result needs the value 'h'{remedy}"]
    assert graph.warnings[2].splitlines()[1:] == ["  h = exp(x)", "  ^"]
    assert ingot.parse(PROJECTION).warnings == ()


_INTEGERS = array.array("q", range(32))
FLOORED = "graph f(i: i64[n]) {\n  return i // 16\n}"


def _read_from_file(folder):
    (folder / "floored.ingot").write_text(FLOORED)
    return ingot.parse_file(folder / "floored.ingot")


@pytest.mark.parametrize("reads", [
    lambda _: ingot.parse(FLOORED), _read_from_file, lambda _: ingot.compile(FLOORED),
    lambda _: ingot.explain(FLOORED), lambda _: ingot.reference(FLOORED, memoryview(_INTEGERS))])
def test_a_call_that_reads_a_spec_raises_its_warnings_at_the_caller(reads, tmp_path):
    with pytest.warns(ingot.SpecWarning) as raised:
        reads(tmp_path)
    [warning] = raised
    text = str(warning.message)
    assert ":2:12: '//' begins a comment, so '16' is not read" in text, text
    assert "  return i // 16\n" in text
    assert warning.filename == __file__


def test_a_graph_that_was_read_raises_no_warning_twice(recwarn):
    with pytest.warns(ingot.SpecWarning):
        graph = ingot.parse(FLOORED)
    ingot.explain(graph)
    ingot.compile(PROJECTION)
    assert not recwarn.list


def _element_types(module):
    """The names of the element types in PyTorch or numpy."""
    long = {**LONG_NAMES, "bool": "bool_" if module.__name__ == "numpy" else "bool"}
    return {short: getattr(module, name) for short, name in long.items() if hasattr(module, name)}


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_element_types_of_other_libraries(library):
    module = pytest.importorskip(library)
    types = _element_types(module)
    assert set(types) >= {"f32", "f16", "i32", "i64", "bool"}
    for short, dtype in types.items():
        spellings = [short, LONG_NAMES[short], dtype]
        if library == "numpy":
            spellings.append(module.dtype(dtype))
        for spelling in spellings:
            g = ingot.GraphBuilder("g")
            x = g.input("x", spelling, ("m", 4))
            assert x.dtype == g.param("w", spelling, (4,)).dtype == short
            assert g.constant(1, spelling).dtype == short
            assert g.cast(x, spelling).dtype == x.cast(spelling).dtype == short
            assert g.extent("f32", ["m"]).to(spelling).dtype == short
            assert g.zeros([4], dtype=spelling).dtype == short


def test_the_library_knows_the_long_names_of_element_types():
    meanings = (ROOT / "ir" / "meanings.def").read_text(encoding="utf-8")
    written = dict(re.findall(r'INGOT_TYPE\((\w+), "write (\w+)', meanings))
    for short, long in LONG_NAMES.items():
        assert short == long or written[long] == short


def test_values_have_the_methods_of_tensors():
    g = ingot.GraphBuilder("g")
    x, half = g.input("x", "f32", ("m", 4)), g.input("h", "f16", (4,))
    assert x.size() == ("m", 4) and x.size(0) == "m" and x.size(dim=-1) == 4 and x.dim() == 2
    assert x.view(x.size(0), 2, 2).shape == ("m", 2, 2)
    changed = [x.float(), x.half(), x.bfloat16(), x.int(), x.long(), x.bool()]
    assert [value.dtype for value in changed] == ["f32", "f16", "bf16", "i32", "i64", "bool"]
    assert x.to("f16").dtype == x.to(half).dtype == x.to(dtype="float16").dtype == "f16"
    assert x.type("bf16").dtype == "bf16" and all(value.shape == x.shape for value in changed)


def test_builder_operators():
    g = ingot.GraphBuilder("operators")
    a, b = g.input("a", "f32", (4, 6)), g.input("b", "f32", (4, 6))
    mean, var = g.moments(a, axis=[1], keepdim=True)
    g.output("y", g.where(a < b, -(a + 2) * b / 3, (1 - a) ** 2) + mean * var)
    g.output("c", g.cast(g.concat([a, b], axis=0), "f16"))
    spec = """graph operators(a: f32[4, 6], b: f32[4, 6]) {
      mean, var = moments(a, axis=[1], keepdim=true)
      return y = where(a < b, -(a + 2) * b / 3, (1 - a) ** 2) + mean * var,
             c = cast(concat([a, b], axis=0), f16)
    }"""
    operators = [[line.split(" = ")[1].split("(")[0] for line in str(graph).splitlines()
                  if " = " in line] for graph in (g.finish(), ingot.parse(spec))]
    assert sorted(operators[0]) == sorted(operators[1])


@pytest.mark.parametrize("error, text, call", [
    (ingot.ParseError, "spec:1:", lambda: ingot.parse("graph g(", "spec")),
    (ingot.GraphTypeError, "inner extents differ",
     lambda: ingot.parse("graph g(x: f32[3, 4]) { return matmul(x, x) }")),
    (ingot.FileError, "nowhere.ingot", lambda: ingot.parse_file("nowhere.ingot")),
    (ingot.InvalidArgumentError, "matmul_precision: expected highest",
     lambda: ingot.compile(PROJECTION, matmul_precision="tf32")),
    (ingot.InvalidArgumentError, "device", lambda: ingot.compile(PROJECTION, device="h900")),
    (ingot.InvalidArgumentError, "expected a Graph", lambda: ingot.compile(3)),
    *((ingot.InvalidArgumentError, r"the name of a file.*write ingot.parse_file\('model.ingot'\)",
       lambda call=call: call("model.ingot"))
      for call in (ingot.compile, ingot.bundle, ingot.explain, ingot.reference, ingot.parse)),
    (ingot.InvalidArgumentError, "write ingot.parse_file", lambda: ingot.compile(__file__)),
    (ingot.InvalidArgumentError, "write ingot.parse_file",
     lambda: ingot.compile(pathlib.Path("model.ingot"))),
    (ingot.ParseError, "expected 'graph', got 'model'", lambda: ingot.compile("model.ptx")),
    (ingot.InvalidArgumentError, "program.bind", lambda: ingot.compile(PROJECTION)(1)),
    (ingot.InvalidArgumentError, "no param 'v'", lambda: ingot.compile(PROJECTION).bind(v=1)),
    (ingot.InvalidArgumentError, "got no w", lambda: ingot.compile(PROJECTION).bind()),
    (ingot.InvalidArgumentError, "given twice", lambda: ingot.compile(PROJECTION).bind(1, w=1)),
    (ingot.InvalidArgumentError, "__dlpack__", lambda: ingot.compile(PROJECTION).bind(w=1)),
    (ingot.InvalidArgumentError, "no named dimension 'k'",
     lambda: ingot.compile(PROJECTION).bind(1, dims={"k": 3})),
    (ingot.InvalidArgumentError, "ptx", lambda: ingot.compile(PROJECTION).code("sass")),
    (ingot.InvalidArgumentError, "f64", lambda: ingot.GraphBuilder("g").input("x", "f64", (3,))),
])
def test_mistakes_are_told(error, text, call):
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, ingot.Error) and caught.value.code == error.code


def test_values_of_another_builder_are_refused():
    a, b = ingot.GraphBuilder("a"), ingot.GraphBuilder("b")
    with pytest.raises(ingot.InvalidArgumentError, match="another"):
        b.relu(a.input("x", "f32", (3,)))


def on_cpu(library):
    """A function that makes ones of a shape, and whether the library finds a GPU."""
    if library == "torch":
        torch = pytest.importorskip("torch")
        return torch.ones, torch.cuda.is_available()
    numpy = pytest.importorskip("numpy")
    return lambda shape: numpy.ones(shape, numpy.float32), gpu_memory.has_gpu()


@pytest.mark.parametrize("library, expected", [
    ("numpy", "expected a tensor in CUDA memory, got one in CPU memory"),
    ("torch", "expected tensors on a CUDA device, got one on cpu"),
])
def test_tensors_on_the_cpu_are_told_where_to_go(library, expected):
    ones, has_gpu = on_cpu(library)
    remedy = "move it to the GPU" if has_gpu else "no GPU that can be used: ingot.reference"
    for call in (lambda: ingot.compile(PROJECTION).bind(ones((1024, 512))),
                 lambda: ingot.compile("graph g(x: f32[4]) { return relu(x) }")(ones((4,)))):
        with pytest.raises(ingot.InvalidArgumentError, match=f"{expected}; .*{remedy}"):
            call()


def test_a_device_of_another_kind_is_told():
    class Elsewhere:
        def __dlpack_device__(self):
            return 99, 0

        def __dlpack__(self, **_):
            raise AssertionError

    with pytest.raises(ingot.InvalidArgumentError, match=r"got one in memory of a device that "
                       r"Ingot does not know \(type 99 of DLPack\); "):
        ingot.compile(PROJECTION).bind(Elsewhere())


def test_where_there_is_a_gpu_tensors_are_to_be_moved():
    assert gpu_memory.way_to_the_gpu(True) == "move it to the GPU"


def test_the_tests_run_with_the_newest_pytorch_that_the_package_claims():
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    needs = (ROOT / "tests" / "python" / "requirements.txt").read_text(encoding="utf-8")
    next_minor = re.search(r'^torch = \["torch>=2\.\d+,<2\.(\d+)"\]', project, re.MULTILINE)
    assert f"torch==2.{int(next_minor[1]) - 1}.*" in needs.splitlines()
