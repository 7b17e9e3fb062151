# SPDX-License-Identifier: Apache-2.0
"""Objects that are no arguments: every public function raises an error of Ingot, and no other."""
import os

import ingot
import pytest

SPEC = "graph g(x: f32[m, 4], param w: f32[4, 4]) { return y = linear(x, w) }"


class Lying:
    """An object that claims to speak DLPack."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        return "no capsule"


class Stream:
    """The attribute of PyTorch's streams."""

    cuda_stream = 0


def released():
    view = memoryview(b"abc")
    view.release()
    return view


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def holding_itself():
    value = [1]
    value += [value, value]
    return value


WRONG = [None, 3, -1, 2**63, 2**64, -2**63 - 1, 10**5000, 1.5, float("nan"), True, b"bytes",
         bytearray(b"b"), "", "a\0b", "\ud800", "\x1b[31m", "x" * 100_000, [], (), [1, 2], {},
         {1: 2}, object(), object, range(10**9), lambda: None, nested(3), nested(100_000),
         holding_itself(), Lying(), ..., 1j]


def name_of(wrong):
    return wrong if isinstance(wrong, str) else type(wrong).__name__


def builder():
    return ingot.GraphBuilder("g")


def on_value(function):
    def call(wrong):
        g = builder()
        return function(g, g.input("x", "f32", (4,)), wrong)
    return call


PROGRAM = ingot.compile(SPEC, device="h100")
PLAIN = ingot.compile("graph g(x: f32[4]) { return relu(x) }", device="h100")

CALLS = {
    "parse": lambda wrong: ingot.parse(wrong),
    "parse_name": lambda wrong: ingot.parse("graph g(", wrong),
    "parse_file": lambda wrong: ingot.parse_file(wrong),
    "load": lambda wrong: ingot.load(wrong),
    "compile": lambda wrong: ingot.compile(wrong),
    "compile_precision": lambda wrong: ingot.compile(SPEC, matmul_precision=wrong),
    "compile_math": lambda wrong: ingot.compile(SPEC, math=wrong),
    "compile_target": lambda wrong: ingot.compile(SPEC, target=wrong),
    "compile_device": lambda wrong: ingot.compile(SPEC, device=wrong),
    "bundle": lambda wrong: ingot.bundle(wrong),
    "bundle_precision": lambda wrong: ingot.bundle(SPEC, matmul_precision=wrong),
    "bundle_device": lambda wrong: ingot.bundle(SPEC, device="nowhere" if wrong is None else wrong),
    "explain": lambda wrong: ingot.explain(wrong),
    "explain_format": lambda wrong: ingot.explain(SPEC, device="h100", format=wrong),
    "explain_dims": lambda wrong: ingot.explain(SPEC, device="h100", dims=wrong),
    "explain_size": lambda wrong: ingot.explain(SPEC, device="h100", dims={"m": wrong}),
    "reference": lambda wrong: ingot.reference(wrong),
    "reference_tensor": lambda wrong: ingot.reference(SPEC, wrong, wrong),
    "reference_name": lambda wrong: ingot.reference(SPEC, **{name_of(wrong): wrong}),
    "graph": lambda wrong: ingot.Graph(wrong),
    "program": lambda wrong: ingot.Program(wrong),
    "value": lambda wrong: ingot.Value(wrong, wrong),
    "bound": lambda wrong: ingot.BoundProgram(PROGRAM, [], wrong),
    "builder": lambda wrong: ingot.GraphBuilder(wrong),
    "input_name": lambda wrong: builder().input(wrong, "f32", (4,)),
    "input_dtype": lambda wrong: builder().input("x", wrong, (4,)),
    "input_shape": lambda wrong: builder().input("x", "f32", wrong),
    "input_extent": lambda wrong: builder().input("x", "f32", (4, wrong)),
    "param_shape": lambda wrong: builder().param("x", "f32", wrong),
    "constant": lambda wrong: builder().constant(wrong, "f32"),
    "constant_dtype": lambda wrong: builder().constant(1.0, wrong),
    "call_op": lambda wrong: builder().call(wrong),
    "call_operand": on_value(lambda g, x, wrong: g.softmax(wrong, axis=0)),
    "call_axis": on_value(lambda g, x, wrong: g.softmax(x, axis=wrong)),
    "call_list": on_value(lambda g, x, wrong: g.concat([x, wrong], axis=0)),
    "call_shape": on_value(lambda g, x, wrong: g.reshape(x, wrong)),
    "call_name": on_value(lambda g, x, wrong: g.relu(x, **{name_of(wrong): 1})),
    "arithmetic": on_value(lambda g, x, wrong: x * wrong),
    "index": on_value(lambda g, x, wrong: x[wrong]),
    "index_range": on_value(lambda g, x, wrong: x[wrong:]),
    "index_items": on_value(lambda g, x, wrong: x[wrong, ..., wrong]),
    "describe": on_value(lambda g, x, wrong: g.describe(wrong)),
    "output": on_value(lambda g, x, wrong: g.output("y", wrong)),
    "output_name": on_value(lambda g, x, wrong: g.output(wrong, x)),
    "shape_role": lambda wrong: PROGRAM.shape(wrong, 0, m=3),
    "shape_index": lambda wrong: PROGRAM.shape(ingot.Role.INPUT, wrong, m=3),
    "shape_size": lambda wrong: PROGRAM.shape(ingot.Role.INPUT, 0, m=wrong),
    "shape_dim": lambda wrong: PROGRAM.shape(ingot.Role.INPUT, 0, **{name_of(wrong): 3}),
    "memory_size": lambda wrong: PROGRAM.memory(m=wrong),
    "memory_pair": lambda wrong: PROGRAM.memory(m=(1, wrong)),
    "memory_dim": lambda wrong: PROGRAM.memory(**{name_of(wrong): 3}),
    "code": lambda wrong: PROGRAM.code(wrong),
    "bind": lambda wrong: PROGRAM.bind(wrong),
    "bind_name": lambda wrong: PROGRAM.bind(**{name_of(wrong): wrong}),
    "bind_dims": lambda wrong: PROGRAM.bind(object(), dims=wrong),
    "call_program": lambda wrong: PLAIN(wrong),
    "call_out": lambda wrong: PLAIN(object(), out=wrong),
    "call_stream": lambda wrong: PLAIN(object(), stream=wrong),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_but_an_error_of_ingot_is_raised(name):
    refused = 0
    for wrong in [*WRONG, released()]:
        try:
            CALLS[name](wrong)
        except ingot.Error as error:
            refused += 1
            text = str(error)
            assert text and len(text) < 200_000 and not isinstance(error, ingot.InternalError)
            assert all(c.isprintable() or c in "\n\t" for c in text), (name, text[:200])
    assert refused > 10  # some of them are right somewhere


@pytest.mark.parametrize("name", [b"caf\xe9.ingot", "plain.ingot", "\u4e2d\u6587.ingot".encode()])
def test_paths_of_any_bytes(tmp_path, name):
    folder = os.fsencode(tmp_path)
    path = os.path.join(folder, os.fsencode(name))
    with open(path, "w", encoding="ascii") as file:
        file.write("graph named(x: f32[4]) { return relu(x) }")
    for given in (path, os.fsdecode(path)):
        assert "named" in str(ingot.parse_file(given))
    with pytest.raises(ingot.ParseError, match="no bundle"):
        ingot.load(os.fsdecode(path))
    os.unlink(path)
    with pytest.raises(ingot.FileError) as caught:
        ingot.parse_file(path)
    assert "No such file" in str(caught.value)
    str(caught.value).encode()  # is UTF-8 whatever the name is


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "fifo", "sparse"])
def test_what_has_no_end_is_not_read(tmp_path, path):
    if path == "fifo":
        path = str(tmp_path / "fifo")
        os.mkfifo(path)
    elif path == "sparse":
        path = str(tmp_path / "sparse")
        with open(path, "wb") as file:
            file.truncate(20 << 30)
    with pytest.raises(ingot.FileError, match="regular file|at most 1073741824 bytes"):
        ingot.load(path)


def test_lists_that_hold_themselves_and_deep_ones():
    g = builder()
    g.input("x", "f32", (4,))
    for wrong in (holding_itself(), nested(100_000)):
        with pytest.raises(ingot.InvalidArgumentError, match="nested at most 8 deep"):
            g.reshape(wrong, wrong)


@pytest.mark.parametrize("text, call", [
    ('device: expected a text of names such as "a100,h100", got list .*; write "a100,h100"',
     lambda: ingot.bundle(SPEC, device=["a100", "h100"])),
    ("device: expected a text of names .*, got list []", lambda: ingot.bundle(SPEC, device=[])),
    ("device: expected a str, got int 3", lambda: ingot.bundle(SPEC, device=3)),
    ('device: expected one name, got list .*; write "h100"',
     lambda: ingot.compile(SPEC, device=["h100"])),
    ("device: expected one name, got tuple .*", lambda: ingot.explain(SPEC, device=("a", "b"))),
    ('target: expected one name, got list .*; write "sm_90"',
     lambda: ingot.compile(SPEC, target=["sm_90"])),
    ("math: expected relaxed, strict, finite, got None", lambda: ingot.compile(SPEC, math=None)),
    ("matmul_precision: expected highest, .*, got ['high']",
     lambda: ingot.compile(SPEC, matmul_precision=["high"])),
    ("format: expected text, json, dot, svg, got None", lambda: ingot.explain(SPEC, format=None)),
    ('dims: expected a dict .* such as {"m": 4096}, got list .*',
     lambda: ingot.explain(SPEC, dims=["m"])),
    ("size of 'm': expected an int, got None", lambda: ingot.explain(SPEC, dims={"m": None})),
    ("size of 'm': expected an int, or a tuple of the least and the most, got list [1, 2]",
     lambda: PROGRAM.memory(m=[1, 2])),
    ("stream: expected a cudaStream_t as an int, or None, got Stream; write stream.cuda_stream",
     lambda: PLAIN(object(), stream=Stream())),
    ("role: expected a Role such as ingot.Role.OUTPUT, got None", lambda: PROGRAM.shape(None, 0)),
    ("bundle: expected its bytes, or the path of its file, got None", lambda: ingot.load(None)),
    ("spec: expected a str, got None", lambda: ingot.parse(None)),
    ("expected a Graph or the text of a spec, got GraphBuilder .*; write graph.finish()",
     lambda: ingot.compile(builder())),
    ("shape of 'x': expected a tuple of numbers and names, got 3; write (3,)",
     lambda: builder().input("x", "f32", 3)),
    ("shape of 'x': expected numbers and names, got None",
     lambda: builder().input("x", "f32", (None, 3))),
    ("dtype of 'x': expected an element type of f32, .*, or numpy's or PyTorch's of the same, got "
     "'float64'", lambda: builder().input("x", "float64", (3,))),
    ("dtype of a constant: expected an element type of .*, got <class 'complex'>",
     lambda: builder().constant(1, complex)),
    ("to: expected an element type, got 'cuda'; a graph has no devices: it runs where it is "
     "launched", lambda: builder().input("x", "f32", (3,)).to("cuda")),
    ("to: dtype: expected an element type of .*, got None",
     lambda: builder().input("x", "f32", (3,)).to(None)),
    ("size: expected a dim of f32[3], got 1", lambda: builder().input("x", "f32", (3,)).size(1)),
    ("size: dim: expected an int, got str 'm'",
     lambda: builder().input("x", "f32", (3,)).size("m")),
])
def test_messages_say_what_was_expected_and_what_was_got(text, call):
    with pytest.raises(ingot.InvalidArgumentError) as caught:
        call()
    head, *rest = text.split(".*")
    said = str(caught.value)
    assert said.startswith(head) and all(part in said for part in rest), said


@pytest.mark.parametrize("call", [ingot.compile, ingot.bundle, ingot.explain])
def test_the_old_name_of_an_option_works_and_warns_where_it_is_given(call):
    with pytest.warns(DeprecationWarning, match="write that") as seen:
        call(SPEC, precision="high")
    assert seen[0].filename == __file__
