# SPDX-License-Identifier: Apache-2.0
"""Ingot: chains of tensor operations as fused CUDA kernels.

    program = ingot.compile('''
        graph projection(x: f32[m, 512], param w: f32[1024, 512]) {
          return y = softmax(linear(x, w), axis=1)
        }''')
    layer = program.bind(w)      # prepares memory from the params
    y = layer(x)                 # anything that speaks DLPack

`explain` shows the kernels of a graph, and `reference` computes it on the CPU. Both need no GPU.
`ingot.torch` is a backend of torch.compile.
"""
from ingot import _library
from ingot.builder import GraphBuilder
from ingot.compiled_graph import Code, Memory
from ingot.dtypes import DTYPES
from ingot.errors import (
    CompileError,
    Error,
    FileError,
    GraphTypeError,
    InternalError,
    InvalidArgumentError,
    LaunchError,
    NotPreparedError,
    OutOfMemoryError,
    ParseError,
    SpecWarning,
    UnavailableError,
    UnknownFunctionError,
    UnsupportedError,
)
from ingot.graph import Graph, parse, parse_file
from ingot.host import explain, reference
from ingot.program import BoundProgram, Program, bundle, compile, load
from ingot.specs import Role, TensorSpec
from ingot.value import Value

#: The version of the library.
__version__ = _library.library.ingot_version().decode()

__all__ = [
    "DTYPES", "BoundProgram", "Code", "CompileError", "Error", "FileError", "Graph", "GraphBuilder",
    "GraphTypeError", "InternalError", "InvalidArgumentError", "LaunchError", "Memory",
    "NotPreparedError", "OutOfMemoryError", "ParseError", "Program", "Role", "SpecWarning",
    "TensorSpec", "UnavailableError", "UnknownFunctionError", "UnsupportedError", "Value", "bundle",
    "compile", "explain", "load", "parse", "parse_file", "reference",
]
