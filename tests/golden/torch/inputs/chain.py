# SPDX-License-Identifier: Apache-2.0
"""When an emitted file prepares memory: chain.py FILE.py, with a pretended torch.

The file is that of a graph with params w, b, bias, gamma and beta and one input.
"""
import copy
import importlib.util
import sys
import types


class Tensor:
    """The attributes of a tensor that the file reads."""

    def __init__(self, address=0, shape=(), version=0, inference=False):
        self.address, self.shape, self.version, self.inference = address, shape, version, inference

    def data_ptr(self):
        return self.address

    def is_inference(self):
        return self.inference

    @property
    def _version(self):
        assert not self.inference, "an inference tensor counts no writes"
        return self.version

    def uniform_(self, low, high):
        assert low == -high < 0
        return self


class Module:
    def _apply(self, fn, recurse=True):
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(self, name, fn(value))
        return self


class Extension:
    """Counts its calls; memory is a list."""

    def __init__(self):
        self.prepared = []

    def ingot_prepare(self, inputs, params, memory):
        if capturing or memory is file.NO_MEMORY:
            memory = ["memory"]
        self.prepared.append(memory)
        return memory

    def ingot_launch(self, inputs, params, memory):
        return [memory]


capturing = False
torch = types.ModuleType("torch")
torch.nn = types.ModuleType("torch.nn")
torch.nn.Module, torch.nn.Parameter = Module, lambda tensor: tensor
torch.__version__, torch.uint8, torch.float32 = "0", "uint8", "f32"
torch.empty = lambda shape, dtype=None, device=None: Tensor(id(shape), shape)
torch.cuda = types.SimpleNamespace(is_available=lambda: False,
                                   is_current_stream_capturing=lambda: capturing)
utils = types.ModuleType("torch.utils.cpp_extension")
utils.load_inline = None
sys.modules.update({"torch": torch, "torch.nn": torch.nn, "torch.utils": types.ModuleType("utils"),
                    "torch.utils.cpp_extension": utils})
spec = importlib.util.spec_from_file_location("file", sys.argv[1])
file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(file)
extension = Extension()
file.extension = lambda: extension


def prepares(model, x):
    """The memory that a call uses, and how often it prepared."""
    before = len(extension.prepared)
    return model.forward(x), len(extension.prepared) - before


model, x = file.ModelNew(), Tensor(1, (2, 3))
model.w.shape = [8192, 8192]
first, count = prepares(model, x)
assert count == 1
assert prepares(model, Tensor(2, (9, 9))) == (first, 0), "inputs do not matter"
model.b.version += 1
memory, count = prepares(model, x)
assert memory is first and count == 1, "a write prepares again, in place"
model.gamma = Tensor(77, model.gamma.shape)
assert prepares(model, x)[1] == 1, "another param prepares again"
model.chain.reset()
memory, count = prepares(model, x)
assert memory is first and count == 1
model._apply(lambda tensor: tensor)
assert prepares(model, x)[1] == 1, "moved params prepare again, wherever they are"

capturing = True
assert prepares(model, x) == (first, 0), "prepared memory is captured as it is"
model.b.version += 1
memory, count = prepares(model, x)
assert memory is not first and count == 1, "the graph prepares memory of its own"
capturing = False
memory, count = prepares(model, x)
assert memory is first and count == 1, "which no other call uses"

twin = copy.deepcopy(model)
memory, count = prepares(twin, x)
assert memory is not first and count == 1, "a copy prepares memory of its own"
model.b = Tensor(5, (1,), inference=True)
assert prepares(model, x)[1] == 1 and prepares(model, x)[1] == 0
print("prepares when it must")
