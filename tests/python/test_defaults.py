# SPDX-License-Identifier: Apache-2.0
"""The defaults of functions beside PyTorch's: docs/differences.md tells where they differ."""
import inspect

import pytest

import ingot._functions
from conftest import ROOT

torch = pytest.importorskip("torch")

# PyTorch's names of parameters, where they are others.
NAMES = {"axis": ("dim",), "gamma": ("weight",), "beta": ("bias",), "slope": ("negative_slope",),
         "dims": ("normalized_shape",), "min": ("min_val",), "max": ("max_val",),
         "start": ("start_dim",), "stop": ("end_dim", "end"), "dim0": ("axis0",),
         "dim1": ("axis1",)}
# PyTorch's default is None here, and means the same as Ingot's.
OF_NONE = {("nan_to_num", "nan"), ("pad", "value"), ("rms_norm", "eps"), ("std", "correction"),
           ("var", "correction")}
# Of these forms PyTorch has one without the argument, by another name or as a list of all.
OTHER_FORMS = {("arange", "start"), ("arange", "stop"), ("div", "rounding_mode"),
               ("batch_norm", "running_mean"), ("batch_norm", "running_var")}
REQUIRED = inspect.Parameter.empty


def defaults_of(name):
    """Of PyTorch's forms of a function: the default of each parameter; None: no such function."""
    function = getattr(torch.nn.functional, name, None)
    try:
        parameters = inspect.signature(function).parameters.values()
        return [{of.name: of.default for of in parameters}]
    except (TypeError, ValueError):
        packet = getattr(torch.ops.aten, name, None)
    return packet and [
        {of.name: of.default_value if of.has_default_value() else REQUIRED
         for of in getattr(packet, form)._schema.arguments} for form in packet.overloads()]


def differing():
    """The parameters with a default for which PyTorch has another, or demands a value."""
    for function in ingot._functions.functions():
        forms = defaults_of(function["name"])
        for parameter in function["parameters"]:
            place = function["name"], parameter["name"]
            if not forms or "default" not in parameter or place in OF_NONE | OTHER_FORMS:
                continue
            names = [parameter["name"], *NAMES.get(parameter["name"], ())]
            theirs = [form[name] for form in forms for name in names if name in form]
            may_lack = any(not set(names) & set(form) for form in forms)
            if theirs and not may_lack and parameter["default"] not in theirs and not (
                    parameter["default"] is None and [] in theirs):
                yield place


def test_the_page_lists_the_defaults_that_differ():
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    section = page.split("## Defaults\n")[1].split("\n## ")[0]
    found = set(differing())
    assert ("dropout", "training") in found and ("softmax", "axis") in found
    missing = [f"{name}({parameter})" for name, parameter in sorted(found)
               if f"`{name}`" not in section and f"`{name}(" not in section]
    assert not missing
    told = {name.split("(")[0] for name in section.split("`")[1::2]}
    assert told - {name for name, _ in found} <= {"permute"}
