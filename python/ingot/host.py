# SPDX-License-Identifier: Apache-2.0
"""What is told of graphs without a GPU: what they become, and what they compute."""
from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, byref, c_int64, c_void_p
from typing import Any, Mapping, NamedTuple, Sequence

from ingot import _library as lib
from ingot.errors import InvalidArgumentError, UnavailableError
from ingot.graph import Graph, graph_of
from ingot.options import choice, options_of
from ingot.specs import LONG_NAMES, Size, TensorSpec, by_name, check_dims, dims_array

EXPLAIN_FORMATS = ("text", "json", "dot", "svg")  # in the order of ingot_explain_format

# numpy has no bf16: there it is its bits.
_NUMPY_NAMES = {**LONG_NAMES, "bf16": "uint16"}


def explain(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
            target: str | None = None, device: str | None = None,
            dims: Mapping[str, Size] | None = None, format: str = "text",
            precision: str | None = None) -> str:
    """What `ingot explain` shows of a graph, or of the text of a spec: the kernels that it becomes,
    what each holds and moves, and why each boundary between them is where it is. Needs no GPU.

    Options as of `ingot.compile`. `dims`: sizes of named dimensions that the figures are for; one
    that is not listed gets a usual size. `format`: "text", "json" with the same facts, or a
    drawing: "dot" for Graphviz, or "svg"."""
    kind = choice("format", EXPLAIN_FORMATS, format)
    graph, options = graph_of(graph), options_of(matmul_precision, math, target, device, precision)
    dims = check_dims(dims)
    return lib.take_bytes(lib.make("ingot_explain", graph._handle, byref(options), kind,
                                   dims_array(dims), len(dims))).decode()


def reference(graph: Graph | str, /, *tensors: Any, **named: Any) -> Any:
    """The outputs of a graph, or of the text of a spec, as `ingot run --on=reference` computes
    them: in f64 (integers exactly), rounded once to the types of the outputs. Needs no GPU. Slow,
    and exact: it is what kernels are judged by.

    Inputs, then params, by position or by name: torch tensors on the CPU, numpy arrays, or what
    numpy reads of other libraries (buffers, DLPack). Where any is torch's, so are the results; else
    they are numpy arrays, and bf16 is its bits in uint16. Named dimensions get their sizes from the
    shapes. Gives the output, or a tuple of several."""
    graph = graph_of(graph)
    specs = graph.inputs + graph.params
    given = by_name("tensor", specs, tensors, named)
    torch = _torch_of(given)
    held = [_from_torch(spec, tensor, torch) if torch and isinstance(tensor, torch.Tensor)
            else _from_numpy(spec, tensor) for spec, tensor in zip(specs, given)]
    results = [_to_torch(torch, spec, *result) if torch else _to_numpy(spec, *result)
               for spec, result in zip(graph.outputs, _run(graph, held))]
    return results[0] if len(results) == 1 else tuple(results)


class _Held(NamedTuple):
    """Elements in host memory: what keeps them alive, where they lie, and their extents."""
    owner: Any
    address: int
    shape: tuple[int, ...]


def _run(graph: Graph, held: Sequence[_Held]) -> list[tuple[c_void_p, tuple[int, ...]]]:
    """Of each output its elements, as an ingot_bytes to be freed, and its extents."""
    tensors = (lib.Tensor * max(len(held), 1))()
    for to, (_, address, shape) in zip(tensors, held):
        to.data, to.rank = address or None, len(shape)
        to.shape = (c_int64 * max(len(shape), 1))(*shape)
    num_inputs, num_outputs = len(graph.inputs), len(graph.outputs)
    params = (lib.Tensor * max(len(graph.params), 1))(*tensors[num_inputs:len(held)])
    outputs = (c_void_p * num_outputs)()
    shapes = [(c_int64 * max(len(spec.shape), 1))() for spec in graph.outputs]
    arguments = lib.ReferenceArguments(
        inputs=tensors, num_inputs=num_inputs, params=params, num_params=len(graph.params),
        outputs=outputs, shapes=(POINTER(c_int64) * num_outputs)(*shapes), num_outputs=num_outputs)
    lib.call("ingot_reference", graph._handle, byref(arguments))
    return [(c_void_p(outputs[i]), tuple(shapes[i][:len(spec.shape)]))
            for i, spec in enumerate(graph.outputs)]


def _move(source: c_void_p, to: int) -> None:
    """Copies an ingot_bytes to where there is room for it, and frees it."""
    try:
        ctypes.memmove(to, lib.library.ingot_bytes_data(source),
                       lib.library.ingot_bytes_size(source))
    finally:
        lib.library.ingot_bytes_free(source)


def _wrong_type(spec: TensorSpec, expected: str, got: Any, remedy: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"tensor '{spec.name}': expected elements of {spec.dtype} "
                                f"({expected}), got {got}; convert it with {remedy}")


# --- PyTorch ---

def _torch_of(tensors: Sequence[Any]) -> Any:
    """PyTorch, where any of the tensors is its own."""
    torch = sys.modules.get("torch")
    is_torch = torch is not None and any(isinstance(tensor, torch.Tensor) for tensor in tensors)
    return torch if is_torch else None


def _from_torch(spec: TensorSpec, tensor: Any, torch: Any) -> _Held:
    if tensor.device.type != "cpu":
        raise InvalidArgumentError(f"tensor '{spec.name}': expected a tensor on the CPU, got one "
                                   f"on {tensor.device}; move it with .cpu()")
    if tensor.layout != torch.strided:
        raise InvalidArgumentError(f"tensor '{spec.name}': expected a dense tensor, got one of "
                                   f"{tensor.layout}; make it so with .to_dense()")
    dtype = getattr(torch, LONG_NAMES[spec.dtype])
    if tensor.dtype is not dtype:
        raise _wrong_type(spec, str(dtype), tensor.dtype, f".to({dtype})")
    dense = tensor.detach().resolve_neg().contiguous()
    return _Held(dense, dense.data_ptr(), tuple(dense.shape))


def _to_torch(torch: Any, spec: TensorSpec, source: c_void_p, shape: tuple[int, ...]) -> Any:
    result = torch.empty(shape, dtype=getattr(torch, LONG_NAMES[spec.dtype]), device="cpu")
    _move(source, result.data_ptr())
    return result


# --- numpy ---

def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise UnavailableError("reference: what is no torch tensor needs numpy; install it, or "
                               "give torch tensors") from None
    return numpy


def _as_array(numpy: Any, spec: TensorSpec, tensor: Any) -> Any:
    if isinstance(tensor, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(tensor)
    try:
        return numpy.asarray(memoryview(tensor))
    except (TypeError, ValueError):
        pass  # no buffer, or one that was released
    if isinstance(tensor, type) or not hasattr(tensor, "__dlpack__"):
        raise InvalidArgumentError(f"tensor '{spec.name}': expected a torch tensor, a numpy array, "
                                   "a buffer or what speaks DLPack (__dlpack__), got "
                                   f"{type(tensor).__name__}")
    try:
        return numpy.from_dlpack(tensor)
    except Exception as error:  # whatever its library raises
        raise InvalidArgumentError(
            f"tensor '{spec.name}': numpy cannot read this {type(tensor).__name__} through DLPack: "
            f"{error}; give a tensor in CPU memory") from None


def _from_numpy(spec: TensorSpec, tensor: Any) -> _Held:
    numpy = _numpy()
    array = _as_array(numpy, spec, tensor)
    if spec.dtype == "bf16" and array.dtype.name == "bfloat16":
        array = numpy.require(array, requirements="C").view(numpy.uint16)
    dtype = numpy.dtype(_NUMPY_NAMES[spec.dtype])
    if array.dtype != dtype:
        is_bits = spec.dtype == "bf16"
        what = "numpy.uint16, its bits" if is_bits else f"numpy.{dtype.name}"
        remedy = "torch: numpy has no bf16" if is_bits else f".astype(\"{dtype.name}\")"
        got = array.dtype.str if array.dtype.name == dtype.name else f"numpy.{array.dtype.name}"
        raise _wrong_type(spec, what, got, remedy)
    dense = numpy.require(array, requirements="C")
    return _Held(dense, dense.ctypes.data, array.shape)


def _to_numpy(spec: TensorSpec, source: c_void_p, shape: tuple[int, ...]) -> Any:
    numpy = _numpy()
    result = numpy.empty(shape, dtype=_NUMPY_NAMES[spec.dtype])
    _move(source, result.ctypes.data)
    return result
