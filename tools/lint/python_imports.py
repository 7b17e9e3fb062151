# SPDX-License-Identifier: Apache-2.0
"""Imports within the Python package: they form no circle, nothing outside ingot.torch imports it,
and only optional dependencies are imported inside functions."""
import ast
import pathlib

from common import Finding

PACKAGE = "python/ingot/"
# A module of the package that needs an optional dependency is optional itself.
OPTIONAL = {"numpy", "torch", "ingot.torch_device"}


def module_of(path):
    """`ingot.torch.rules` of python/ingot/torch/rules/__init__.py."""
    parts = pathlib.PurePosixPath(path).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(text, modules):
    """Yields (line, module, is inside a function) of each import; `modules` are the package's."""
    def walk(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield child.lineno, alias.name, inside
            elif isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    full = f"{child.module}.{alias.name}"
                    yield child.lineno, full if full in modules else child.module, inside
            is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from walk(child, inside or is_function)
    yield from walk(ast.parse(text), False)


def check_module(path, imports):
    """Findings of one module."""
    module = module_of(path)
    in_torch = f"{module}.".startswith("ingot.torch.")
    for line, name, inside in imports:
        if inside and name not in OPTIONAL:
            yield Finding(path, line, f"imports {name} inside a function; only optional "
                          "dependencies are imported there")
        if not in_torch and f"{name}.".startswith("ingot.torch."):
            yield Finding(path, line, f"imports {name}, which lies above it")


def circles(needs):
    """The modules that import each other, or import such modules. They remain when all modules
    without a remaining import are taken away, again and again."""
    needs = dict(needs)
    while free := [name for name, modules in needs.items() if not modules & set(needs)]:
        for name in free:
            del needs[name]
    return sorted(needs)


def check(paths, read):
    """Findings of the whole package."""
    files = {module_of(path): path for path in paths
             if path.startswith(PACKAGE) and path.endswith(".py")}
    needs = {}
    for module, path in files.items():
        imports = list(imports_of(read(path), files))
        yield from check_module(path, imports)
        needs[module] = {name for _, name, _ in imports if name in files and name != module}
    circular = set(circles(needs))
    for module in sorted(circular):
        yield Finding(files[module], 1, "is in a circle of imports, or imports one: "
                      f"{', '.join(sorted(needs[module] & circular))}")
