#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of the pages, and checks their links.

    pages.py BUILD CXX CC [PYTHON] [PAGE ...]

A block's language says how it runs, in a folder of the page's own:

ingot   `ingot explain` takes it
sh      runs with the command line on PATH; without a GPU lines that end with `# needs a GPU` are
        left out
c++, c  compiles; a block without main is the body of a function, with Ingot's header
python  runs with the package; not where it imports numpy or torch, and Python has none
json    parses
text    output, or other text that is no code

A comment before a block says more:

<!-- file: NAME -->       keeps it under that name for the blocks behind it
<!-- kernels: N -->       a launch of the graph takes N
<!-- needs a GPU -->      without one it is only compiled
<!-- refused: TEXT -->    its error says TEXT
<!-- not run: REASON -->
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Iterator, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```([\w+]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)")
SECONDS = 300


class Block(NamedTuple):
    """A fenced block: the comment before it, its language, and the line where it begins."""
    note: str
    language: str
    text: str
    line: int


def blocks_of(page: str) -> Iterator[Block]:
    for match in BLOCK.finditer(page):
        yield Block(match[1] or "", match[2], match[3], page.count("\n", 0, match.start(2)) + 1)


def anchors_of(page: str) -> set[str]:
    """The anchors that GitHub gives to headings."""
    code_free = BLOCK.sub("", page)
    heads = re.findall(r"^#+ (.*)$", code_free, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def bad_anchors(path: pathlib.Path, page: str) -> Iterator[str]:
    for link, anchor in LINK.findall(page):
        target = path.parent / link
        if link and not (target.suffix == ".md" and target.exists()):
            continue
        if anchor not in anchors_of(target.read_text(encoding="utf-8") if link else page):
            yield f"a link to {link}#{anchor}, which no heading there has"


def has_gpu() -> bool:
    try:
        return "GPU 0" in subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True,
                                         check=False).stdout
    except OSError:
        return False


class Runner:
    """Runs blocks of one page. `tools`: the build folder, and the compilers and Python by
    language."""

    def __init__(self, folder: pathlib.Path, build: pathlib.Path, tools: dict[str, str],
                 on_gpu: bool):
        self.folder, self.build, self.tools, self.on_gpu = folder, build, tools, on_gpu
        self.lacking = [module for module in ("numpy", "torch") if subprocess.run(
            [tools["python"], "-c", f"import {module}"], capture_output=True,
            check=False).returncode]
        self.environment = {
            **os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"), "INGOT_LIBRARY": str(build / "libingot.so"),
            "INGOT_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def fault(self, block: Block) -> str | None:
        """The error of a block, or None."""
        if block.note.startswith("file: "):
            (self.folder / block.note.removeprefix("file: ")).write_text(block.text,
                                                                         encoding="utf-8")
        if not block.language:
            return "a block without a language; `text` is for output"
        if block.note.startswith("not run: ") or block.language == "text":
            return None
        run = {"ingot": self._graph, "sh": self._shell, "c++": self._native, "c": self._native,
               "python": self._python, "json": self._json}.get(block.language)
        if run is None:
            return f"nothing runs {block.language}; say why: <!-- not run: REASON -->"
        told = run(block)
        if block.note.startswith("refused: "):
            wanted = block.note.removeprefix("refused: ")
            if told is None or wanted not in told:
                return f"expected an error that says '{wanted}', got: {told or 'none'}"
            return None
        return told

    def _call(self, command: list, **named) -> str | None:
        """Runs a command; gives the error with which it ended, or None."""
        return self._run(command, **named)[0]

    def _run(self, command: list, **named) -> tuple[str | None, str]:
        """(error, standard output) of a command."""
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  cwd=self.folder, env=self.environment, timeout=SECONDS,
                                  stdin=None if "input" in named else subprocess.DEVNULL, **named)
        except subprocess.TimeoutExpired:
            return f"no end within {SECONDS} s", ""
        return (None if done.returncode == 0 else
                f"exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}",
                done.stdout)

    def _graph(self, block: Block) -> str | None:
        told, plan = self._run([self.build / "bin" / "ingot", "explain", "-", "--format=json"],
                               input=block.text)
        if told is None and block.note.startswith("kernels: "):
            wanted = int(block.note.removeprefix("kernels: "))
            num = len(json.loads(plan)["kernels"])
            return None if num == wanted else f"{num} kernels, the page says {wanted}"
        return told

    def _shell(self, block: Block) -> str | None:
        lines = [line for line in block.text.split("\n")
                 if self.on_gpu or not line.endswith("# needs a GPU")]
        return self._call(["bash", "-euo", "pipefail", "-c", "\n".join(lines)])

    def _native(self, block: Block) -> str | None:
        suffix, standard = {"c++": ("cpp", "c++20"), "c": ("c", "c99")}[block.language]
        text = block.text
        if "int main(" not in text:
            heads = [line for line in text.split("\n") if line.startswith("#")]
            body = [line for line in text.split("\n") if not line.startswith("#")]
            heads += {"c++": ["#include <ingot/ingot.h>"],
                      "c": ["#include <ingot/ingot_c.h>", "#include <stddef.h>"]}[block.language]
            text = "\n".join([*heads, "int fragment(void) {", *body, "return 0;", "}"])
        source = self.folder / f"block{block.line}.{suffix}"
        source.write_text(text, encoding="utf-8")
        return self._call([self.tools[block.language], f"-std={standard}", "-fsyntax-only", "-Wall",
                           "-Wno-unused-variable", f"-I{ROOT / 'include'}", source])

    def _python(self, block: Block) -> str | None:
        try:
            compile(block.text, "block", "exec")
        except SyntaxError as error:
            return str(error)
        lacks = any(re.search(rf"^import .*\b{module}\b", block.text, re.MULTILINE)
                    for module in self.lacking)
        if lacks or (block.note == "needs a GPU" and not self.on_gpu):
            return None
        return self._call([self.tools["python"], "-"], input=block.text)

    @staticmethod
    def _json(block: Block) -> str | None:
        try:
            json.loads(block.text)
        except json.JSONDecodeError as error:
            return str(error)
        return None


def pages() -> list[pathlib.Path]:
    """The pages for users."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
            ROOT / "python" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    tools = {"c++": sys.argv[2], "c": sys.argv[3],
             "python": str(pathlib.Path(sys.argv[4]).absolute()) if len(sys.argv) > 4 else ""}
    if not pathlib.Path(tools["python"]).is_file():
        tools["python"] = sys.executable
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[5:]] or pages()
    failed, count, on_gpu = 0, 0, has_gpu()
    for path in chosen:
        page, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        faults = [(0, fault) for fault in bad_anchors(path, page)]
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(pathlib.Path(folder), build, tools, on_gpu)
            for block in blocks_of(page):
                count += 1
                fault = runner.fault(block)
                if fault:
                    faults.append((block.line, fault))
        for line, fault in faults:
            print(f"{name}:{line}: {fault}")
        failed += len(faults)
    print(f"{len(chosen)} pages, {count} blocks, {failed} faults"
          + ("" if on_gpu else "; there is no GPU: blocks that need one did not run")
          + "".join(f"; Python has no {module}: blocks that import it did not run"
                    for module in runner.lacking))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
