# SPDX-License-Identifier: Apache-2.0
"""A module as one Python file that needs PyTorch and nvcc alone.

The file holds the kernels, as `ingot compile --emit=torch` writes them, and a class ModelNew with
the constructor of the original module: its own source, so that the same parameters are made in the
same order. Of the original's methods only `forward` is new.
"""
from __future__ import annotations

import copy
import inspect
import keyword
import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from ingot import _arguments
from ingot.errors import FileError, InvalidArgumentError, UnsupportedError
from ingot.torch.dynamo import check_options
from ingot.torch.forward_source import (
    ForwardSource,
    argument_checks,
    given_arguments,
    signature_source,
    size_checks,
)
from ingot.torch.source import constructor_source, defined
from ingot.torch.trace import trace

MODEL_MARK = "# ---- model"


def _check_module(module: Any, name: str) -> None:
    if not isinstance(module, nn.Module):
        raise InvalidArgumentError(f"export: expected a torch.nn.Module, got "
                                   f"{type(module).__name__}")
    if isinstance(module, (torch.jit.ScriptModule, fx.GraphModule, nn.DataParallel,
                           torch._dynamo.eval_frame.OptimizedModule)):
        raise UnsupportedError(f"export: expected a module with a constructor of its own, got a "
                               f"{type(module).__name__}; export the original module")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidArgumentError(f"export: expected the name of a class, got {name!r}")


def export(module: nn.Module, inputs: Sequence[Any], path: str | os.PathLike[Any] | None = None, *,
           name: str = "ModelNew", dynamic: bool = False,
           kwargs: Mapping[str, Any] | None = None, **options: Any) -> str:
    """The text of a Python file with a class `name` that replaces the module for inference. It has
    the same constructor arguments and the same parameters. The text is written to `path` where one
    is given.

    `inputs` and `kwargs` are example arguments, which give the types and the sizes; with `dynamic`
    sizes may differ from call to call. Arguments that are not tensors are fixed, as are attributes
    that forward reads: the file refuses other values. A copy of the module is called, the module
    itself is not. Needs no GPU. The precision of f32 products is that of
    torch.get_float32_matmul_precision() now. Options: "math", "device", "target", "freeze", as
    those of the backend.

    A module that is one Ingot graph has no other operator. An operator that Ingot has no rule for
    is written as the call of PyTorch's operator. Raises UnsupportedError where there is more than
    one graph, and FileError where the file cannot be written."""
    _check_module(module, name)
    check_options(options, "export")
    if not isinstance(dynamic, bool):
        raise InvalidArgumentError(f"export: dynamic: expected True or False, got "
                                   f"{_arguments.short_repr(dynamic)}")
    file = None if path is None else _arguments.path(path)
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise InvalidArgumentError("export: kwargs: expected a dict of example arguments, got "
                                   f"{type(kwargs).__name__}")
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    inputs, kwargs = copy.deepcopy((inputs, dict(kwargs or {})))
    module = copy.deepcopy(module)
    given = _bound_arguments(module, inputs, kwargs)
    checks = argument_checks(given)
    traced = trace(module, inputs, kwargs, options, dynamic)
    forward = ForwardSource(module, traced, given)
    lines = forward.write(traced.results)
    checks += size_checks(traced, forward.sizes())
    text = _file_text(module, name, forward.piece.program.code("torch").code.decode(),
                      checks + lines)
    if file is not None:
        _write(file, text)
    return text


def _bound_arguments(module: nn.Module, inputs: Sequence[Any],
                     kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The example arguments by the expressions that forward has for them."""
    signature = inspect.signature(module.forward)
    try:
        bound = signature.bind(*inputs, **kwargs)
    except TypeError as error:
        raise InvalidArgumentError(f"export: the example arguments do not fit forward: {error}"
                                   ) from None
    bound.apply_defaults()
    given = given_arguments(signature, bound.arguments)
    tensors = [id(value) for value in given.values() if isinstance(value, torch.Tensor)]
    if len(set(tensors)) < len(tensors):
        raise InvalidArgumentError("export: expected a different tensor for each argument, got one "
                                   "twice")
    return given


def _file_text(module: nn.Module, name: str, kernels: str, body: Sequence[str]) -> str:
    """The whole file: the kernels, and the class with a forward of the lines in `body`."""
    head = kernels[:kernels.index(MODEL_MARK)]
    mark = kernels[len(head):].splitlines()[0]
    if name in defined(head):
        raise InvalidArgumentError(f"export: the file has '{name}' for its own; give another name")
    text = f"{head}{mark}\n\n{constructor_source(type(module), name, head)}\n"
    text += f"    def forward{signature_source(inspect.signature(module.forward))}:\n"
    text += "".join(f"        {line}\n" for line in body)
    try:
        compile(text, f"{name}.py", "exec")
    except SyntaxError as error:
        raise UnsupportedError(f"export: the module cannot be written as Python: {error.text!r}, "
                               f"line {error.lineno}") from None
    return text


def _write(path: bytes, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"export: cannot write {_arguments.short_repr(os.fsdecode(path))}: "
                        f"{error.strerror}; "
                        "expected the path of a file in a folder that is there") from None
