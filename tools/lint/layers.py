# SPDX-License-Identifier: Apache-2.0
"""Includes flow down only, only runtime/ knows that CUDA exists, and the library has no container
that loses a failed allocation."""
import pathlib
import re

from common import CPP, Finding, blank_comments, line_of

# Folder -> includes that its files may have, by longest matching folder. "std" is <...> without a
# slash.
LIBRARIES = ["llvm/", "fmt/"]
SUPPORT = ["src/support/"] + LIBRARIES
GRAPH = SUPPORT + [f"ir/{part}" for part in (
    "assumed_size", "builder", "float_bits", "graph", "interpreter/", "jumps", "library",
    "lower_order", "meanings", "npy", "op_info", "ops.def", "precision", "random", "tensor",
    "text/", "type_rules", "types", "verify")]
IR = GRAPH + ["ir/passes/"]
PLANNED = IR + ["ir/machine/", "ir/fusion/"]
PROGRAM = SUPPORT + ["codegen/program/"]
KERNEL = PROGRAM + PLANNED + ["codegen/kernel/", "codegen/device/sizes/"]
CODEGEN = KERNEL + ["codegen/"]
RUNTIME = PROGRAM + ["runtime/", "cuda", "nvrtc"]
PUBLIC = ["ingot/"]
SRC = CODEGEN + ["runtime/", "src/", "dlpack/"] + PUBLIC
MAY_INCLUDE = {
    "include": PUBLIC,
    "src/support": SUPPORT,
    "ir": GRAPH,
    "ir/passes": IR,
    "ir/machine": SUPPORT + ["ir/machine/"],
    "ir/fusion": PLANNED,
    "codegen": CODEGEN,
    "codegen/program": PROGRAM,
    "codegen/kernel": KERNEL,
    "codegen/schedule": KERNEL + ["codegen/schedule/"],
    "codegen/emit": KERNEL + ["codegen/emit/"],
    "codegen/host": PROGRAM + ["codegen/host/"],
    "codegen/device": ["sizes/", "ptx/", "math/", "tile/", "kernels/"],
    "codegen/device/sizes": ["sizes/"],
    "codegen/device/ptx": ["ptx/"],
    "codegen/device/math": ["sizes/", "ptx/", "math/"],
    "codegen/device/tile": ["sizes/", "ptx/", "math/", "tile/"],
    "runtime": RUNTIME,
    "src": SRC,
    "src/c_api": SUPPORT + PUBLIC + ["src/api/", "src/c_api/", "runtime/driver.h", "dlpack/"],
    "tools": SRC + ["tools/"],
    "tests": SRC + ["tests/", "doctest/", "tools/", "cuda", "nvrtc", "ptx/", "math/", "tile/",
                    "kernels/"],
    "examples": PUBLIC + ["cuda"],
    "python": PUBLIC,
}
# Where the C++ library of the host may not be used at all.
NO_STANDARD_LIBRARY = "codegen/device/"
OPENS_LIBRARIES = re.compile(r"\b(dlopen|dlsym|DynamicLibrary)\b")
MAY_OPEN_LIBRARIES = ("runtime/", "tests/", "examples/", "python/")
# Headers of the library whose failures to allocate cannot be borne, and their replacements.
IN_LIBRARY = ("src/", "ir/", "codegen/", "runtime/")
LOSES_MEMORY = {"llvm/ADT/DenseMap.h": "std::map or std::unordered_map",
                "llvm/ADT/DenseSet.h": "std::set or std::unordered_set"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def allowed_for(path):
    """The includes that the file may have, or None for a file outside the rules."""
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in MAY_INCLUDE:
            return MAY_INCLUDE[str(parent)]
    return None


def check_file(path, text):
    """Findings of one file."""
    allowed = allowed_for(path)
    if pathlib.PurePosixPath(path).suffix not in CPP or allowed is None:
        return
    code = blank_comments(text, keep_strings=True)
    for match in INCLUDE.finditer(code):
        quoted, name = match.group(1) == '"', match.group(2)
        line = line_of(code, match.start(1))
        cuda = name.startswith(("cuda", "nvrtc", "cublas", "thrust/", "cub/"))
        standard = not quoted and "/" not in name or name.startswith("sys/")
        if standard and not cuda:
            if path.startswith(NO_STANDARD_LIBRARY):
                yield Finding(path, line, f"<{name}>: device headers include device headers alone")
        elif name in LOSES_MEMORY and path.startswith(IN_LIBRARY):
            yield Finding(path, line, f'"{name}" cannot bear an allocation that fails: take '
                          f"{LOSES_MEMORY[name]}")
        elif not any(name.startswith(prefix) for prefix in allowed):
            yield Finding(path, line, f'"{name}" is not below this file: it may include '
                          f"{' '.join(allowed)}; includes are relative to the root")
    if not path.startswith(MAY_OPEN_LIBRARIES):
        code = blank_comments(text)
        for match in OPENS_LIBRARIES.finditer(code):
            yield Finding(path, line_of(code, match.start()),
                          f"{match.group(1)}: libraries are opened in runtime/ alone")
