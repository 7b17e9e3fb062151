# SPDX-License-Identifier: Apache-2.0
"""roll, pad, repeat and the like beside PyTorch, along named extents of several sizes."""
import ingot
import pytest

torch = pytest.importorskip("torch")

F = torch.nn.functional

CASES = [
    ("roll(x, 2, 0)", lambda x: torch.roll(x, 2, 0)),
    ("roll(x, -9, 0)", lambda x: torch.roll(x, -9, 0)),
    ("roll(x, shifts=(1, -1), dims=(0, 1))", lambda x: torch.roll(x, (1, -1), (0, 1))),
    ("x.roll(7)", lambda x: torch.roll(x, 7)),
    ("pad(x, (0, 1))", lambda x: F.pad(x, (0, 1))),
    ("pad(x, (1, 0, 2, 3), value=-2.5)", lambda x: F.pad(x, (1, 0, 2, 3), value=-2.5)),
    ("x.repeat(2, 1)", lambda x: x.repeat(2, 1)),
    ("x.repeat(m, 2, 3)", lambda x: x.repeat(x.shape[0], 2, 3)),
    ("tile(x, 2)", lambda x: torch.tile(x, (2,))),
    ("x.movedim(0, 1)", lambda x: x.movedim(0, 1)),
    ("x.unflatten(0, (m, -1))", lambda x: x.unflatten(0, (x.shape[0], -1))),
    ("full_like(x, 3) - ones_like(x)", lambda x: torch.full_like(x, 3) - torch.ones_like(x)),
]


@pytest.mark.parametrize("text, expected", CASES, ids=[text for text, _ in CASES])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_along_a_named_extent(text, expected, rows):
    x = torch.arange(rows * 4.0).reshape(rows, 4)
    result = ingot.reference(f"graph g(x: f32[m, 4]) {{ return {text} }}", x)
    torch.testing.assert_close(result, expected(x), rtol=0, atol=0)
