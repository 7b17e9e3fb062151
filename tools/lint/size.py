# SPDX-License-Identifier: Apache-2.0
"""The size budget: lines of a file, lines of a function, columns of a line."""
import ast
import pathlib
import re

from common import GENERATED, Finding, blank_comments

# Lines of a file and of a function: of the library, and of tests, tools and Python.
LIBRARY, OTHERS = (450, 80), (600, 100)
FILE_SOFT, COLUMNS = 400, 100
IN_LIBRARY = ("src/", "include/", "ir/", "codegen/", "runtime/")
COUNTED = {".cpp", ".h", ".cuh", ".cu", ".c", ".py"}
# The head of a brace that opens a scope in which functions may be defined.
SCOPE = re.compile(r"^\s*(?:(?:inline|typedef|static|constexpr|const|template\s*<[^{]*>)\s+)*"
                   r'(?:namespace|class|struct|union|extern\b(?!.*\())', re.DOTALL)
INITIALIZER_LIST = re.compile(r"\)\s*(?:const|noexcept)?\s*:[^:].*[\w>]\s*$", re.DOTALL)


def cpp_functions(text):
    """Yields (first line, lines) of each function body, found by its braces."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  blank_comments(text), flags=re.MULTILINE)
    stack = []  # per open brace: its first line, and whether it is "scope", "function" or "other"
    head, line = "", 1
    for char in code:
        line += char == "\n"
        if char == "{":
            inside = not stack or stack[-1][1] == "scope"
            if inside and INITIALIZER_LIST.search(head):
                stack.append((line, "member"))  # a_{a}: the head of the constructor goes on
                continue
            kind = "other"
            if inside and SCOPE.search(head):
                kind = "scope"
            elif inside and ")" in head and not re.search(r"[\w>\])]\s*=\s*$", head):
                kind = "function"
            stack.append((line, kind))
            head = ""
        elif char == "}" and stack:
            first, kind = stack.pop()
            if kind == "function":
                yield first, line - first + 1
            if kind != "member":
                head = ""
        elif char == ";" and not (head.count("(") > head.count(")")):
            head = ""
        else:
            head += char


def python_functions(text):
    """Yields (first line, lines) of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def limits(path):
    """The most lines of a file, and of a function in it."""
    return LIBRARY if path.startswith(IN_LIBRARY) else OTHERS


def is_counted(path):
    """Whether the budget holds for a file."""
    return pathlib.PurePosixPath(path).suffix in COUNTED and not path.startswith(GENERATED)


def check_file(path, text):
    """Findings of one file."""
    if not is_counted(path):
        return
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    most_lines, most_of_function = limits(path)
    if len(lines) > most_lines:
        yield Finding(path, most_lines + 1, f"{len(lines)} lines; a file has at most {most_lines}")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield Finding(path, number, f"{len(line)} columns; a line has at most {COLUMNS}")
    functions = python_functions(text) if suffix == ".py" else cpp_functions(text)
    for first, count in functions:
        if count > most_of_function:
            yield Finding(path, first, f"{count} lines; a function has at most {most_of_function}")


def notes(path, text):
    """Files that are legal but should shrink."""
    count = len(text.splitlines())
    most, _ = limits(path)
    if is_counted(path) and FILE_SOFT < count <= most:
        yield f"{path}: {count} lines; split it before it reaches {most}"
