# SPDX-License-Identifier: Apache-2.0
"""Modules as files: their text, and that the class has the module's results, with the reference
interpreter in place of the kernels."""
import copy
import dataclasses
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


@pytest.mark.parametrize("found", [[], [(7, 5)], [(7, 5), (9, 0), (8, 0)]])
def test_a_file_says_which_gpu_it_needs(found, monkeypatch):
    text = ingot.torch.export(nn.Linear(8, 8), (torch.randn(4, 8),))
    scope = {"__name__": "exported"}
    exec(text, scope)  # pylint: disable=exec-used
    monkeypatch.delenv("TORCH_CUDA_ARCH_LIST", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(found))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(found))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda i: found[i])
    if len(found) == 3:
        assert [flag[-2:] for flag in scope["arch_flags"]()] == ["80", "90"]
        return
    with pytest.raises(RuntimeError, match=r"GPU of compute capability \(8, 0\)"):
        scope["extension"]()
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "8.0")
    assert scope["arch_flags"]() == []


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


class Cap(nn.Module):
    """Does something else for many rows."""

    def forward(self, x, scale=2.0, mask=None, *more, bias=float("inf"), **named):
        if x.shape[0] > 100:
            return x.relu()
        return torch.clamp(x.relu() * scale, max=bias) / x.shape[0]


def test_other_values_than_those_of_the_export_are_refused(monkeypatch):
    _, constructor = exported(Cap(), (torch.randn(4, 8),), monkeypatch, dynamic=True)
    new, x = constructor(), torch.randn(7, 8)
    torch.testing.assert_close(new(x), Cap()(x))
    for call in (lambda: new(x, 3.0), lambda: new(x, 2.0, x), lambda: new(x, 2.0, None, 1),
                 lambda: new(x, bias=1.0), lambda: new(x, other=1),
                 lambda: new(torch.randn(101, 8))):
        with pytest.raises(ValueError, match="scale|mask|len|bias|sizes"):
            call()


@dataclasses.dataclass
class Config:
    width: int = 8
    scales: list = dataclasses.field(default_factory=lambda: [1.0, float("inf")])


MOST = float("inf")


class Odd(nn.Module):
    """Names, receivers and constructors that are unusual."""

    def __init__(me, config=None, early=True):
        super().__init__()
        me.config = config or Config()
        me.layers = nn.ModuleDict({"0": nn.Linear(8, 8), "a-b": nn.Linear(8, 8)})
        me.register_parameter("class", nn.Parameter(torch.randn(8)))
        me.limit = min(MOST, 3.0)
        me.half().float()
        if early:
            return
        me.never = 1

    def forward(me, x):
        y = me.layers["a-b"](torch.relu(me.layers["0"](x))) + getattr(me, "class")
        return torch.clamp(y, max=me.limit)


def test_unusual_modules(monkeypatch):
    torch.manual_seed(3)
    original, x = Odd(), torch.randn(4, 8)
    _, constructor = exported(original, (x,), monkeypatch)
    torch.manual_seed(3)
    new = constructor()
    with torch.no_grad():
        torch.testing.assert_close(new(x), original(x), atol=1e-4, rtol=1e-4)


def test_what_stays_with_pytorch_is_written(monkeypatch):
    module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
    text, _ = exported(module, (torch.randn(4, 8),), monkeypatch)
    assert "torch.ops.aten." in text and "_getitem" not in text


def test_the_module_is_as_it_was():
    module, x = nn.Sequential(nn.BatchNorm1d(8), nn.ReLU(inplace=True)), torch.randn(4, 8)
    before, state = x.clone(), copy.deepcopy(module.state_dict())
    ingot.torch.export(module, (x,))
    torch.testing.assert_close(x, before, rtol=0, atol=0)
    assert all(map(torch.equal, module.state_dict().values(), state.values()))


@pytest.mark.parametrize("call, text", [
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), name="1bad"), "name of a class"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), name="Chain"), "another name"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), math="foo"), "math: expected"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), foo="1"), "no option 'foo'"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), "/nowhere/model.py"),
     "cannot write '/nowhere/model.py': No such file or directory; expected"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), 1.5), "path: expected a str"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), kwargs="ab"), "kwargs: expected"),
    (lambda: ingot.torch.export(nn.ReLU(), (torch.ones(3),), dynamic="yes"),
     "dynamic: expected True or False, got 'yes'"),
    (lambda: ingot.torch.export(nn.ReLU(), ()), "do not fit forward"),
    (lambda: ingot.torch.export(nn.ReLU(), (object(),)), "argument 'input'"),
    (lambda: ingot.torch.export(nn.Identity(), (torch.ones(3),)), "computes nothing"),
    (lambda: ingot.torch.export(nn.Bilinear(2, 2, 2), (X2, X2)), "got one twice"),
    (lambda: ingot.torch.export(torch.fx.symbolic_trace(nn.Sequential(nn.ReLU())),
                                (torch.ones(3),)), "a constructor of its own"),
])
def test_wrong_exports_are_told(call, text):
    with pytest.raises(ingot.Error, match=text):
        call()


X2 = torch.ones(2, 2)
