#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libingot.so works in one process with another LLVM, whichever is loaded first.

  coexist.py llvm|torch LIBINGOT OTHER      one process for each order
  coexist.py --order=NAME,NAME... LIBINGOT OTHER

In an order, `ingot` and paths of libraries are loaded with all their names visible, `torch` is
imported; after each step everything that is there is used. INGOT_TORCH_PYTHON names a Python with
PyTorch, in place of the one beside the library. Exit status 77: PyTorch or LLVM is missing.
"""
import ctypes
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SPEC = b"graph g(x: f32[m, 64], param w: f32[32, 64]) { return y = relu(linear(x, w)) }"
CUDA = 2  # INGOT_CUDA


def use_ingot(library):
    """Reads a graph, compiles it to CUDA source, and is told of a mistake."""
    library.ingot_error_message.restype = ctypes.c_char_p
    library.ingot_bytes_data.restype = ctypes.c_char_p
    graph, program, code, error = (ctypes.c_void_p() for _ in range(4))

    def parse(spec):
        return library.ingot_graph_parse(spec, ctypes.c_size_t(len(spec)), None,
                                         ctypes.byref(graph), ctypes.byref(error))

    assert parse(b"graph g(x: f32[4]) { return none }") == 2, "expected a parse error"
    assert b"none" in library.ingot_error_message(error), library.ingot_error_message(error)
    library.ingot_error_free(error)
    assert parse(SPEC) == 0, library.ingot_error_message(error)
    assert library.ingot_compile(graph, None, ctypes.byref(program), ctypes.byref(error)) == 0, (
        library.ingot_error_message(error))
    assert library.ingot_program_code(program, CUDA, ctypes.byref(code), None,
                                      ctypes.byref(error)) == 0, library.ingot_error_message(error)
    assert b"__global__" in library.ingot_bytes_data(code)
    library.ingot_bytes_free(code)
    library.ingot_program_free(program)
    library.ingot_graph_free(graph)


def use_llvm(library):
    """Makes the text of a module, or runs other_llvm.cpp's own use of its LLVM."""
    if hasattr(library, "other_llvm_use"):
        assert library.other_llvm_use() == 7, library.other_llvm_use()
        return
    library.LLVMModuleCreateWithName.restype = ctypes.c_void_p
    library.LLVMPrintModuleToString.restype = ctypes.c_char_p
    module = ctypes.c_void_p(library.LLVMModuleCreateWithName(b"beside"))
    assert b"beside" in library.LLVMPrintModuleToString(module)
    arguments = (ctypes.c_char_p * 2)(b"beside", b"-inline-threshold=7")
    library.LLVMParseCommandLineOptions(2, arguments, None)  # ends the process where it fails


def use_torch():
    """PyTorch, and Triton's LLVM where it is installed."""
    import torch
    assert torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3)).sum().item() == 24
    try:
        from triton._C.libtriton import ir, llvm
    except ImportError:
        return
    ir.load_dialects(ir.context())
    llvm.init_targets()
    llvm.context()


def run(order, libingot):
    """Loads in that order, and uses after each step all that is there."""
    uses = []
    for name in order:
        if name == "torch":
            uses.append(use_torch)
        else:
            path = libingot if name == "ingot" else name
            library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            use = use_ingot if name == "ingot" else use_llvm
            uses.append(lambda use=use, library=library: use(library))
        for use in uses:
            use()


def shared_llvms():
    """The system's shared LLVMs, a file each."""
    found = glob.glob("/usr/lib/*/libLLVM*.so*") + glob.glob("/usr/lib*/libLLVM*.so*")
    return sorted({os.path.realpath(path) for path in found})


def python_with_torch(libingot):
    """A Python that imports torch, or None. ./dev setup makes one beside the library."""
    own = pathlib.Path(libingot).resolve().parent / "python" / "bin" / "python3"
    for python in (os.environ.get("INGOT_TORCH_PYTHON"), own if own.exists() else None,
                   sys.executable):
        if python and subprocess.run([python, "-c", "import torch"], capture_output=True,
                                     check=False).returncode == 0:
            return python
    return None


def in_process(python, order, libingot, other):
    """A run of one order."""
    return subprocess.run([python, __file__, "--order=" + ",".join(order), libingot, other],
                          capture_output=True, text=True, check=False)


def clash_is_seen(python, libingot, other):
    """Whether this test fails on a clash: of an LLVM that is exported, and of its copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(other, folder + "/copy.so")
        return in_process(python, [other, copy], libingot, other).returncode != 0


def main():
    """Each order in a process of its own."""
    mode, libingot, other = sys.argv[1:]
    if mode.startswith("--order="):
        run(mode.removeprefix("--order=").split(","), libingot)
        return 0
    python = sys.executable
    if mode == "torch":
        python = python_with_torch(libingot)
        if not python:
            print("[skip] no Python that has PyTorch; ./dev setup makes one, or "
                  "INGOT_TORCH_PYTHON names it")
            return 77
        orders = [["torch", "ingot"], ["ingot", "torch"]]
    else:
        llvms = [other, *shared_llvms()]
        orders = [order for llvm in llvms for order in ([llvm, "ingot"], ["ingot", llvm])]
    failed = 0
    for order in orders:
        result = in_process(python, order, libingot, other)
        if result.returncode != 0:
            failed += 1
            print("failed:", " then ".join(order), result.stderr, sep="\n")
    if mode == "llvm" and not clash_is_seen(python, libingot, other):
        failed += 1
        print("failed: two libraries that export the same LLVM went unnoticed")
    print(f"{len(orders)} orders, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
