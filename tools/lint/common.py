# SPDX-License-Identifier: Apache-2.0
"""Code that the checks share: the list of sources, findings, and C++ text without its comments."""
import ast
import dataclasses
import io
import os
import pathlib
import re
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["include", "src", "ir", "codegen", "runtime", "tools", "tests", "examples", "python",
           "cmake", "docs"]
CPP = {".cpp", ".h", ".cuh", ".cu", ".c", ".def"}
# Text that the compiler wrote. It may have any length and width.
GENERATED = ("tests/golden/kernels/",)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One violation; `line` counts from 1."""
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


def source_files(root=ROOT):
    """Root-relative paths of all sources, sorted; files at the top level included."""
    found = [name for name in os.listdir(root) if (root / name).is_file()]
    for folder in FOLDERS:
        for where, folders, names in os.walk(root / folder):
            folders[:] = [name for name in folders if name != "__pycache__"]
            found += [os.path.relpath(os.path.join(where, name), root) for name in names]
    return sorted(name.replace(os.sep, "/") for name in found)


def read(path, root=ROOT):
    """The file's text; bytes that are not UTF-8 show as replacement characters."""
    return (root / path).read_text(encoding="utf-8", errors="replace")


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""
    r"""|(?P<raw>\bR"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)")"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE)


def blank_comments(text, keep_strings=False):
    """`text` with comments, and literals unless kept, turned into blanks; lines stay in place."""
    def blank(match):
        whole = match.group(0)
        is_literal = any(match.group(name) for name in ("raw", "string", "char"))
        if is_literal and keep_strings:
            return whole
        return re.sub(r"[^\n]", " ", whole)
    return _TOKEN.sub(blank, text)


def line_of(text, offset):
    """The line of a character offset."""
    return text.count("\n", 0, offset) + 1


def comments(text):
    """The comments of C++ text, each with the line on which it begins; literals hold none."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup is None:
            yield line_of(text, match.start()), match.group(0)


def strings(text):
    """The string literals of C++ text, each with the line on which it begins; no raw strings, which
    hold code."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "string":
            yield line_of(text, match.start()), match.group(0)


def python_comments(text):
    """The comments and docstrings of Python text, each with the line on which it begins."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if docstring := ast.get_docstring(node, clean=False):
                yield node.body[0].lineno, docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
