# SPDX-License-Identifier: Apache-2.0
"""x[...], .T and .mT of a builder's values, beside those of the text language."""
import ingot
import pytest

INPUTS = {"x": (4, 6), "t": (2, 3, 4), "z": ("m", 6)}
DECLARED = ", ".join(f"{name}: f32[{', '.join(map(str, shape))}]" for name, shape in INPUTS.items())


class Five:
    """An object that stands for an int, as numpy's do."""

    def __index__(self):
        return 5


def built(function):
    g = ingot.GraphBuilder("g")
    values = [g.input(name, "f32", shape) for name, shape in INPUTS.items()]
    g.output("y", function(*values))
    return g.finish()


@pytest.mark.parametrize("text", [
    "x[0]", "x[-1]", "x[:, 0]", "x[..., 1:]", "x[1:-1, 2:100]", "x[::3, 1::2]", "x[:, None]",
    "x[None, ..., None]", "x[3, -1]", "t[1, ..., 0]", "t[..., 1]", "z[0]", "z[-1, 1:3]", "z[:, 1:]",
    "x.T", "z.T", "t.mT", "x.T[1:]",
])
@pytest.mark.filterwarnings("ignore:.*no result needs the input:ingot.SpecWarning")
def test_the_graph_is_that_of_the_text(text):
    graph = built(lambda x, t, z: eval(text, {"x": x, "t": t, "z": z}))
    assert str(graph) == str(ingot.parse(f"graph g({DECLARED}) {{ return y = {text} }}"))


def test_what_stands_for_a_number_and_a_name_of_a_dimension():
    assert built(lambda x, t, z: x[:, Five()]).outputs[0].shape == (4,)
    assert built(lambda x, t, z: x[()]).outputs[0].shape == (4, 6)
    assert built(lambda x, t, z: z[0:"m"]).outputs[0].shape == ("m", 6)
    assert built(lambda x, t, z: z[1:]).outputs[0].shape == ("m - 1", 6)
    assert built(lambda x, t, z: z[-3:, 1:]).outputs[0].shape == (3, 5)
    assert built(lambda x, t, z: z[:"m - 2"]).outputs[0].shape == ("m - 2", 6)


def test_sums_are_no_names():
    graph = ingot.parse("graph g(x: f32[m], y: f32[n]) { return cat([x, y]), x[1:] }")
    assert graph.dims == ("m", "n")
    assert [output.shape for output in graph.outputs] == [("m + n",), ("m - 1",)]


@pytest.mark.parametrize("function, error, text", [
    (lambda x, t, z: x[4], ingot.GraphTypeError, r"index 4 on axis 0 of f32\[4, 6\], expected -4"),
    (lambda x, t, z: x[0, 0, 0], ingot.GraphTypeError, "expected at most 2, got 3"),
    (lambda x, t, z: x[::-1], ingot.GraphTypeError, "step -1, expected at least 1; flip"),
    (lambda x, t, z: z[::2], ingot.GraphTypeError, "a named bound or extent has step 1"),
    (lambda x, t, z: z["m":], ingot.GraphTypeError, "from m to m .* has no elements"),
    (lambda x, t, z: x[x], ingot.GraphTypeError, "write gather"),
    (lambda x, t, z: x[x:], ingot.GraphTypeError, "write gather"),
    (lambda x, t, z: t.T, ingot.GraphTypeError, r"that has two, got f32\[2, 3, 4\]; write"),
    (lambda x, t, z: x[[0, 1]], ingot.InvalidArgumentError, r"got \[0, 1\]; to choose by a tensor"),
    (lambda x, t, z: x[True], ingot.InvalidArgumentError, "expected an int, a range .* got True"),
    (lambda x, t, z: x["m"], ingot.InvalidArgumentError, "expected an int, a range .* got 'm'"),
    (lambda x, t, z: x[1.5], ingot.InvalidArgumentError, "got 1.5"),
    (lambda x, t, z: x[2**70], ingot.InvalidArgumentError, "an int of 64 bits"),
    (lambda x, t, z: list(x), TypeError, r"cannot be iterated over: take x\[0\]"),
])
def test_an_index_that_means_nothing_is_told(function, error, text):
    with pytest.raises(error, match=text):
        built(function)


def test_t_is_told_in_the_words_of_the_language():
    with pytest.raises(ingot.GraphTypeError) as of_builder:
        built(lambda x, t, z: t.T)
    with pytest.raises(ingot.Error) as of_text:
        ingot.parse(f"graph g({DECLARED}) {{ return y = t.T }}")
    assert str(of_builder.value) in str(of_text.value)
