# SPDX-License-Identifier: Apache-2.0
"""Each source starts with its licence; no tabs, no trailing blanks, one line end at the end. The
targets of a page's links exist. Comments, docstrings and C++ messages have nouns in place of
clauses with `what`."""
import pathlib
import re

from common import CPP, ROOT, Finding, comments, python_comments, strings

LICENCE = "SPDX-License-Identifier: Apache-2.0"
HASH = {".py", ".cmake", ".sh"}
SCRIPTS = {"dev", "CMakeLists.txt"}
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)\s]*)?\)")
CHECKED = CPP | HASH | {".txt", ".md", ".ingot", ".json", ".test"}
# Files whose bytes are data: written by tools or compared byte by byte.
DATA = ("tests/golden/", "tests/error/inputs/", "tests/fuzz/corpus/", "tests/unit/inputs/")

# "the stored tensor", not `what is stored`. Code in backticks and questions may have the word.
WHAT = re.compile(r"`[^`]*`|\bwhat\b(?P<rest>[^.;:?]*\??)", re.IGNORECASE)
# The product's folders. Their strings are messages.
PRODUCT = ("codegen/", "include/", "ir/", "runtime/", "src/", "tools/")


def unplain_lines(texts):
    """The lines of (line, text) pairs that use `what` outside of a question."""
    for first, text in texts:
        for match in WHAT.finditer(text):
            rest = match.group("rest")
            if rest is not None and not rest.rstrip().endswith("?"):
                yield first + text.count("\n", 0, match.start())


def words_of(path, text):
    """The (line, text) pairs of a source that must be plain: comments, docstrings, messages."""
    suffix = pathlib.PurePosixPath(path).suffix
    if suffix == ".py":
        yield from python_comments(text)
    if suffix in CPP:
        yield from comments(text)
        if path.startswith(PRODUCT):
            yield from strings(text)


def licence_line(path):
    """The first line that the file must have, or None."""
    file = pathlib.PurePosixPath(path)
    if file.suffix in CPP:
        return "// " + LICENCE
    if file.suffix in HASH or file.name in SCRIPTS:
        return "# " + LICENCE
    return None


def check_file(path, text):
    """Findings of one file."""
    file = pathlib.PurePosixPath(path)
    if path.startswith(DATA) or not (file.suffix in CHECKED or file.name in SCRIPTS):
        return
    lines = text.split("\n")
    wanted = licence_line(path)
    if wanted is not None:
        first = 1 if lines[0].startswith("#!") else 0
        if lines[first:first + 1] != [wanted]:
            yield Finding(path, first + 1, f"expected the line `{wanted}`")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield Finding(path, number, "blanks or a carriage return at the end of the line")
        for link in LINK.findall(line) if file.suffix == ".md" else ():
            if not (ROOT / file.parent / link).exists():
                yield Finding(path, number, f"a link to {link}, which does not exist")
        if "\t" in line:
            yield Finding(path, number, "a tab; indent with spaces")
    for number in unplain_lines(words_of(path, text)):
        yield Finding(path, number, "says `what`; name the thing, e.g. `the stored tensor` for "
                                    "`what is stored`")
    if text and not text.endswith("\n"):
        yield Finding(path, len(lines), "no line end at the end of the file")
    if text.endswith("\n\n"):
        yield Finding(path, len(lines) - 1, "an empty line at the end of the file")
