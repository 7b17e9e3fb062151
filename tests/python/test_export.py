# SPDX-License-Identifier: Apache-2.0
"""Modules as files: what they say, and that the class computes what the module does, with the
reference interpreter in place of the kernels."""
import copy
import pathlib
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

import ingot.torch  # noqa: E402
import reference  # noqa: E402
from chains import CHAINS  # noqa: E402
from torch import nn  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBMISSION = ROOT / "tests" / "golden" / "torch" / "inputs" / "check_submission.py"
SCALE = 3.0


@pytest.fixture(autouse=True)
def quiet():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="input's size at dim=1")
        yield


def exported(module, inputs, monkeypatch, **named):
    """(the text of the file, its class, whose kernels are the reference's)."""
    graphs = []
    piece_of = reference.dynamo.CompiledPiece

    class Kept(piece_of):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            graphs.append(self.lowered.graph)
    monkeypatch.setattr(reference.dynamo, "CompiledPiece", Kept)
    text = ingot.torch.export(module, inputs, **named)
    monkeypatch.setattr(reference.dynamo, "CompiledPiece", piece_of)

    class Chain:
        def __call__(self, given, params):
            return reference.evaluate(graphs[0], given, params)

        def reset(self):
            pass
    scope = {"torch": torch, "nn": nn, "Chain": Chain}
    exec(text[text.index("# ---- model"):], scope)  # pylint: disable=exec-used
    return text, scope["ModelNew"]


@pytest.mark.parametrize("name", CHAINS)
def test_chain(name, monkeypatch):
    chain = CHAINS[name]
    inputs = [torch.randn(shape) for shape in chain.small_shapes]
    torch.manual_seed(42)
    original = chain.module(*chain.small_arguments)
    _, constructor = exported(copy.deepcopy(original), inputs, monkeypatch)
    torch.manual_seed(42)
    new = constructor(*chain.small_arguments)
    state, wanted = new.state_dict(), original.state_dict()
    assert list(state) == list(wanted)
    for key, value in state.items():
        torch.testing.assert_close(value, wanted[key], rtol=0, atol=0)
    with torch.no_grad():
        torch.testing.assert_close(new(*inputs), original(*inputs), atol=1e-4, rtol=1e-4)
    for key, value in new.state_dict().items():  # statistics that are written
        torch.testing.assert_close(value, original.state_dict()[key], atol=1e-5, rtol=1e-5)


def test_files_are_what_submissions_must_be(tmp_path):
    for name in ("94_gemm_biasadd_hardtanh_mish_groupnorm", "39_gemm_scale_batchnorm"):
        chain = CHAINS[name]
        ingot.torch.export(chain.module(*chain.small_arguments),
                           [torch.randn(shape) for shape in chain.small_shapes],
                           tmp_path / f"{name}.py")
        done = subprocess.run([sys.executable, SUBMISSION, tmp_path / f"{name}.py"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


class Block(nn.Module):
    """pass: a word that must not be in the file."""

    def __init__(self, width: int = 8):
        super(Block, self).__init__()
        # A comment that must not be there: except
        self.inner = nn.Sequential(nn.Linear(width, width), nn.GELU())

    def forward(self, x):
        return x + self.inner(x)


def width_of(scale):
    return int(4 * scale)


class Nested(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width_of(SCALE)) for _ in range(layers)])
        self.register_buffer("offset", torch.arange(12.0))

    def forward(self, x, flag=True):
        for block in self.blocks:
            x = block(x)
        return x.t() * 2 if not flag else (x + self.offset).t(), x.sum(1)


def test_modules_of_modules(monkeypatch):
    x = torch.randn(5, 12)
    torch.manual_seed(1)
    original = Nested(3)
    text, constructor = exported(original, (x,), monkeypatch)
    own = text[text.index("# ---- model"):]
    assert "except" not in own and "pass" not in own
    torch.manual_seed(1)
    new = constructor(3)
    with torch.no_grad():
        for got, wanted in zip(new(x), original(x)):
            assert got.stride() == wanted.stride()
            torch.testing.assert_close(got, wanted, atol=1e-4, rtol=1e-4)


def test_sizes_may_differ(monkeypatch):
    _, constructor = exported(nn.Linear(8, 8), (torch.randn(5, 8),), monkeypatch, dynamic=True)
    layer, x = constructor(8, 8), torch.randn(7, 8)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), x @ layer.weight.T + layer.bias, atol=1e-4, rtol=1e-4)


class Closed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # no parameter, no buffer

    def forward(self, x):
        return torch.relu(x * self.scale)


@pytest.mark.parametrize("module, inputs, text", [
    (lambda x: x, (torch.ones(3),), "expected a torch.nn.Module"),
    (nn.Sequential(nn.ReLU(), nn.Dropout(0.5), nn.ReLU()), (torch.ones(3),), "stays with PyTorch"),
    (Closed(), (torch.randn(4, 8),), "register it as a buffer"),
])
def test_what_cannot_be_exported_is_told(module, inputs, text):
    with pytest.raises(ingot.Error, match=text):
        ingot.torch.export(module, inputs)
