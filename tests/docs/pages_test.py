#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of the pages finds planted errors."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages  # noqa: E402

# Stands for the command line: refuses graphs that hold `wrong`, and plans one kernel for others.
INGOT = """#!/bin/sh
text=$(cat)
case $text in *wrong*) echo "a wrong name" >&2; exit 1 ;; esac
echo '{"kernels": [{}]}'
"""


class Blocks(unittest.TestCase):
    """Blocks of code."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "ingot").write_text(INGOT, encoding="utf-8")
        (self.folder / "bin" / "ingot").chmod(0o755)

    def fault(self, page):
        """The error of the last block of a page."""
        tools = {"c++": "c++", "c": "cc", "python": sys.executable}
        runner = pages.Runner(self.folder, self.folder, tools, on_gpu=False)
        return [runner.fault(block) for block in pages.blocks_of(page)][-1]

    def test_what_is_right_passes(self):
        for page in ("```ingot\ngraph\n```\n", "```sh\ntrue\n```\n", "```json\n[1]\n```\n",
                     "```c++\nint a = 1;\n```\n", "```c\n#include <stdio.h>\nputs(\"\");\n```\n",
                     "```python\nprint(1)\n```\n", "```text\n)(\n```\n",
                     "<!-- not run: it takes days -->\n```cmake\n)(\n```\n",
                     "```sh\nfalse  # needs a GPU\n```\n",
                     "<!-- needs a GPU -->\n```python\n1 / 0\n```\n",
                     "<!-- kernels: 1 -->\n```ingot\ngraph\n```\n",
                     "<!-- refused: a wrong name -->\n```ingot\nwrong\n```\n",
                     "<!-- file: a.txt -->\n```text\nx\n```\n\n```sh\ngrep -q x a.txt\n```\n"):
            with self.subTest(page=page):
                self.assertIsNone(self.fault(page))

    def test_what_is_wrong_is_found(self):
        for page, told in (
                ("```\nx\n```\n", "without a language"), ("```cmake\nx\n```\n", "say why"),
                ("```ingot\nwrong\n```\n", "a wrong name"),
                ("```sh\nfalse\ntrue\n```\n", "status 1"),
                ("```json\n[1\n```\n", "delimiter"), ("```c++\nint a = ;\n```\n", "expected"),
                ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
                ("<!-- needs a GPU -->\n```python\n)\n```\n", "unmatched"),
                ("<!-- kernels: 2 -->\n```ingot\ngraph\n```\n", "1 kernels, the page says 2"),
                ("<!-- refused: x -->\n```ingot\ngraph\n```\n", "got: none"),
                ("<!-- refused: right -->\n```ingot\nwrong\n```\n", "a wrong name")):
            with self.subTest(page=page):
                self.assertIn(told, self.fault(page) or "")

    def test_lines(self):
        page = "a\n\n<!-- needs a GPU -->\n```sh\ntrue\n```\n```text\n```\n"
        self.assertEqual([(block.note, block.line) for block in pages.blocks_of(page)],
                         [("needs a GPU", 4), ("", 7)])

    def test_anchors(self):
        (self.folder / "b.md").write_text("# One `two`, three\n```text\n# four\n```\n",
                                          encoding="utf-8")
        page = "# Own\n[a](#own) [b](b.md#one-two-three) [c](b.md#four) [d](#other)\n"
        found = list(pages.bad_anchors(self.folder / "a.md", page))
        self.assertEqual([text.split(",")[0] for text in found],
                         ["a link to b.md#four", "a link to #other"])


if __name__ == "__main__":
    unittest.main()
