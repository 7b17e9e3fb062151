# SPDX-License-Identifier: Apache-2.0
"""Uses of graphs that need no GPU: the explanation of their kernels, and the reference results."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, byref, c_int64, c_void_p, cast
from typing import Any, NamedTuple

from ingot import _library as lib
from ingot._optional import torch_of
from ingot._structs import ReferenceArguments, Tensor
from ingot.dtypes import LONG_NAMES, NUMPY_NAMES
from ingot.errors import InvalidArgumentError, UnavailableError
from ingot.graph import Graph, graph_of
from ingot.options import choice, options_of
from ingot.specs import Size, TensorSpec, by_name, check_dims, dims_array

EXPLAIN_FORMATS = ("text", "json", "dot", "svg")  # in the order of ingot_explain_format


def explain(graph: Graph | str, *, matmul_precision: str | None = None, math: str = "relaxed",
            target: str | None = None, device: str | None = None,
            dims: Mapping[str, Size] | None = None, format: str = "text",
            precision: str | None = None) -> str:
    """The text of `ingot explain` about a graph, or about the text of a spec: its kernels, the ops
    and traffic of each, and the reason of each boundary between them. Needs no GPU.

    Options as of `ingot.compile`. `dims`: the sizes of named dimensions that the figures are for. A
    dimension that is not listed gets a usual size. `format`: "text", "json" with the same facts, or
    a drawing: "dot" for Graphviz, or "svg". Raises the errors of `ingot.parse` and
    `ingot.compile`."""
    kind = choice("format", EXPLAIN_FORMATS, format)
    graph, options = graph_of(graph), options_of(matmul_precision, math, target, device, precision)
    dims = check_dims(dims)
    return lib.take_bytes(lib.make("ingot_explain", graph._handle, byref(options), kind,
                                   dims_array(dims), len(dims))).decode()


def reference(graph: Graph | str, /, *tensors: Any, **named: Any) -> Any:
    """The outputs of a graph, or of the text of a spec, as `ingot run --on=reference` computes
    them: in f64 (integers exactly), rounded once to the types of the outputs. Needs no GPU. It is
    slow and exact; kernels are checked against it.

    Tensors are the inputs, then the params, by position or by name: torch tensors on the CPU, numpy
    arrays, or tensors that numpy reads (buffers, DLPack). The results are torch tensors where any
    argument is one, else numpy arrays, in which a bf16 is its bits in uint16. Named dimensions get
    their sizes from the shapes. Gives the output, or a tuple of several. A tensor that does not fit
    is an InvalidArgumentError."""
    graph = graph_of(graph)
    specs = graph.inputs + graph.params
    given = by_name("tensor", specs, tensors, named)
    torch = torch_of(given)
    held = [_from_torch(spec, tensor, torch) if torch and isinstance(tensor, torch.Tensor)
            else _from_numpy(spec, tensor) for spec, tensor in zip(specs, given)]
    results = [_to_torch(torch, spec, *result) if torch else _to_numpy(spec, *result)
               for spec, result in zip(graph.outputs, _run(graph, held))]
    return results[0] if len(results) == 1 else tuple(results)


class _Held(NamedTuple):
    """Elements in host memory: their owner, their address and their extents."""
    owner: Any
    address: int
    shape: tuple[int, ...]


def _run(graph: Graph, held: Sequence[_Held]) -> list[tuple[c_void_p, tuple[int, ...]]]:
    """The elements of each output, as an ingot_bytes that the caller frees, and its extents."""
    tensors = (Tensor * max(len(held), 1))()
    for to, (_, address, shape) in zip(tensors, held):
        to.data, to.rank = address or None, len(shape)
        to.shape = (c_int64 * max(len(shape), 1))(*shape)
    num_inputs, num_outputs = len(graph.inputs), len(graph.outputs)
    params = (Tensor * max(len(graph.params), 1))(*tensors[num_inputs:len(held)])
    outputs = (c_void_p * num_outputs)()
    shapes = [(c_int64 * max(len(spec.shape), 1))() for spec in graph.outputs]
    shape_pointers = [cast(shape, POINTER(c_int64)) for shape in shapes]
    arguments = ReferenceArguments(
        inputs=tensors, num_inputs=num_inputs, params=params, num_params=len(graph.params),
        outputs=outputs, shapes=(POINTER(c_int64) * num_outputs)(*shape_pointers),
        num_outputs=num_outputs)
    lib.call("ingot_reference", graph._handle, byref(arguments))
    return [(c_void_p(outputs[i]), tuple(shapes[i][:len(spec.shape)]))
            for i, spec in enumerate(graph.outputs)]


def _move(source: c_void_p, to: int) -> None:
    """Copies an ingot_bytes to an address, and frees it."""
    try:
        ctypes.memmove(to, lib.library.ingot_bytes_data(source),
                       lib.library.ingot_bytes_size(source))
    finally:
        lib.library.ingot_bytes_free(source)


def _wrong_type(spec: TensorSpec, expected: str, got: Any, remedy: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"tensor '{spec.name}': expected elements of {spec.dtype} "
                                f"({expected}), got {got}; convert it with {remedy}")


# --- PyTorch ---

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
        raise UnavailableError("reference: a tensor that is not torch's needs numpy; install it, "
                               "or give torch tensors") from None
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
                                   "a buffer or one that speaks DLPack (__dlpack__), got "
                                   f"{type(tensor).__name__}")
    try:
        return numpy.from_dlpack(tensor)
    except Exception as error:  # noqa: BLE001 - any of its library's
        raise InvalidArgumentError(
            f"tensor '{spec.name}': numpy cannot read this {type(tensor).__name__} through DLPack: "
            f"{error}; give a tensor in CPU memory") from None


def _from_numpy(spec: TensorSpec, tensor: Any) -> _Held:
    numpy = _numpy()
    array = _as_array(numpy, spec, tensor)
    if spec.dtype == "bf16" and array.dtype.name == "bfloat16":
        array = numpy.require(array, requirements="C").view(numpy.uint16)
    dtype = numpy.dtype(NUMPY_NAMES[spec.dtype])
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
    result = numpy.empty(shape, dtype=NUMPY_NAMES[spec.dtype])
    _move(source, result.ctypes.data)
    return result
