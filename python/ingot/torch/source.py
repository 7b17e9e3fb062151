# SPDX-License-Identifier: Apache-2.0
"""The source of a module's constructor, for a file of its own.

Classes are written without `forward`, docstrings and comments. The names that their source uses are
written too: imports, constants, functions and other classes.
"""
from __future__ import annotations

import ast
import builtins
import inspect
import math
import symtable
import sys
import textwrap
import types
from collections.abc import Collection
from typing import Any

import torch
from torch import nn

from ingot.errors import UnsupportedError

# The libraries that a file may import.
_LIBRARIES = ("torch", "math", "typing", "collections", "dataclasses", "enum", "functools",
              "itertools", "numpy")


_BRACKETS = {"tuple": ("(", ")"), "list": ("[", "]"), "set": ("{", "}")}


def _literals(values: Collection[Any]) -> list[str] | None:
    """The literals of values, or None where one has none."""
    texts = [text for value in values if (text := literal(value)) is not None]
    return texts if len(texts) == len(values) else None


def literal(value: Any) -> str | None:
    """Source that gives the value: a number, a text, None or a container of them. None of other
    values."""
    if value is None or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if type(value) in (tuple, list, set) and value:
        items = _literals(value)
        if items is None:
            return None
        start, end = _BRACKETS[type(value).__name__]
        return f"{start}{', '.join(items)}{',' if type(value) is tuple else ''}{end}"
    if type(value) in (tuple, list):
        return repr(value)
    if type(value) is dict:
        keys, items = _literals(value), _literals(value.values())
        if keys is None or items is None:
            return None
        return "{" + ", ".join(f"{key}: {item}" for key, item in zip(keys, items)) + "}"
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    return None


class _Plain(ast.NodeTransformer):
    """Removes forward, docstrings, annotations and `pass`, and changes names."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self._renamed, self._keeps_annotations = renamed, False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._renamed.get(node.id, node.id)
        return node

    def visit_Pass(self, node: ast.Pass) -> ast.AST:
        return ast.Expr(ast.Constant(...))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if self._keeps_annotations:
            return node
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        node.body = _without_docstring(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._renamed.get(node.name, node.name)
        self._keeps_annotations = bool(node.decorator_list)  # such as a dataclass's
        node.body = [statement for statement in _without_docstring(node.body)
                     if not (isinstance(statement, ast.FunctionDef)
                             and statement.name == "forward")]
        self.generic_visit(node)
        node.body = node.body or [ast.Expr(ast.Constant(...))]
        return node


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(
            first.value.value, str):
        return body[1:] or [ast.Expr(ast.Constant(...))]
    return body


class _Writer:
    """Writes definitions in the order in which they need each other."""

    def __init__(self, top: type, name: str, taken: set[str]) -> None:
        self._top, self._renamed, self._taken = top, {top.__name__: name}, taken
        self._done: set[str] = {"torch", "nn"}  # imports of the file
        self._texts: list[str] = []

    def write(self, thing: Any) -> None:
        """Writes a class or function, with the definitions that its source names."""
        try:
            source = textwrap.dedent(inspect.getsource(thing))
        except (OSError, TypeError):
            raise UnsupportedError(
                f"export: the source of '{thing.__name__}' is not to be had; define it in a "
                "file") from None
        tree = _Plain(self._renamed).visit(ast.parse(source).body[0])
        for name in sorted(_free_names(ast.unparse(ast.fix_missing_locations(tree)))):
            self._need(name, thing)
        if thing is self._top:
            _with_chain(tree)
        self._texts.append(ast.unparse(ast.fix_missing_locations(tree)))

    def _need(self, name: str, user: Any) -> None:
        if name in self._done or name in self._renamed.values():
            return
        module = inspect.getmodule(user)
        scope = dict(vars(module)) if module else {}
        function = user if inspect.isfunction(user) else getattr(user, "__init__", None)
        if inspect.isfunction(function):
            scope.update(inspect.getclosurevars(function).nonlocals)
        if name not in scope:
            return  # a local name, a builtin, or an undefined name of the original
        self._done.add(name)
        if name in self._taken and scope[name] is not sys.modules.get(name):
            raise UnsupportedError(f"export: the constructor of '{user.__name__}' uses '{name}', a "
                                   "name that the file has for its own; rename it")
        self._define(name, scope[name], user)

    def _define(self, name: str, value: Any, user: Any) -> None:
        if isinstance(value, types.ModuleType):
            self._texts.append(f"import {value.__name__} as {name}")
        elif literal(value) is not None:
            self._texts.append(f"{name} = {literal(value)}")
        elif inspect.isclass(value) or inspect.isfunction(value) or inspect.isbuiltin(value):
            home = getattr(value, "__module__", None) or ""
            if home.split(".")[0] in _LIBRARIES:
                self._texts.append(f"from {home} import {value.__name__} as {name}")
            elif getattr(builtins, name, None) is not value:
                self.write(value)
        else:
            raise UnsupportedError(
                f"export: the constructor of '{user.__name__}' uses '{name}', a "
                f"{type(value).__name__}, which cannot be written to a file; expected modules, "
                "constants, functions and classes")

    def text(self) -> str:
        return "\n\n\n".join(self._texts)


_OWN_CONSTRUCTOR = """
def __init__(self, *arguments, **named):
    super().__init__(*arguments, **named)
"""

_METHODS = """
def _apply(self, fn, recurse=True):
    self._ingot.reset()
    return super()._apply(fn, recurse)
"""


def _free_names(source: str) -> set[str]:
    """The global names that some source reads."""
    names: set[str] = set()

    def walk(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            at_top = table.get_type() == "module"
            if symbol.is_referenced() and (not symbol.is_assigned() if at_top
                                           else symbol.is_global()):
                names.add(symbol.get_name())
        for child in table.get_children():
            walk(child)
    walk(symtable.symtable(source, "constructor", "exec"))
    return names


def defined(text: str) -> set[str]:
    """The names that a file defines."""
    names = {"Chain"}
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            names.update(target.id for target in statement.targets
                         if isinstance(target, ast.Name))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name for alias in statement.names)
    return names


def _with_chain(tree: ast.ClassDef) -> None:
    """Makes the constructor begin with `self._ingot = Chain()`, and adds a method that resets it
    when params move."""
    def find() -> ast.FunctionDef | None:
        return next((statement for statement in tree.body
                     if isinstance(statement, ast.FunctionDef)
                     and statement.name == "__init__"), None)
    if find() is None:
        tree.body = [*ast.parse(_OWN_CONSTRUCTOR).body,
                     *(statement for statement in tree.body
                       if not isinstance(statement, ast.Expr))]
    constructor = find()
    assert constructor is not None
    # First, since the constructor may return early, or move the module.
    receiver = (constructor.args.posonlyargs + constructor.args.args)[0].arg
    constructor.body.insert(0, ast.parse(f"{receiver}._ingot = Chain()").body[0])
    tree.body.append(ast.parse(_METHODS).body[0])


def constructor_source(top: type[nn.Module], name: str, head: str) -> str:
    """The class, called `name`, without its forward and with an attribute `_ingot`, behind the
    definitions that it needs. Its body may go on. `head` is the text that stands before it."""
    if top.__module__.split(".")[0] == "torch":
        home = "nn" if getattr(nn, top.__name__, None) is top else top.__module__
        if home != "nn" and getattr(sys.modules.get(home), top.__name__, None) is not top:
            raise UnsupportedError(
                f"export: '{top.__name__}' is a class that cannot be imported from {home}; export "
                "a module of a class of your own")
        tree = ast.parse(f"class {name}({home}.{top.__name__}):\n    ...").body[0]
        assert isinstance(tree, ast.ClassDef)
        _with_chain(tree)
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    writer = _Writer(top, name, defined(head))
    writer.write(top)
    return writer.text() + "\n"
