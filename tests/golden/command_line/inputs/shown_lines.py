# SPDX-License-Identifier: Apache-2.0
"""Fails unless the lines of a page's code blocks are lines of an output.

    shown_lines.py PAGE FROM TO OUTPUT: the blocks between two headings, without their commands
"""
import pathlib
import sys

page, begin, end, output = sys.argv[1:]
part = pathlib.Path(page).read_text().split(f"\n{begin}\n")[1].split(f"\n{end}\n")[0]
printed = pathlib.Path(output).read_text().splitlines()
blocks = [block.removeprefix("text") for block in part.split("```")[1::2]]
shown = [line for block in blocks for line in block.splitlines()
         if line.strip() and not line.lstrip("$ ").startswith("ingot ")]
assert len(shown) > 10, shown


def is_printed(line):
    """Whether a line, or its beginning, was printed."""
    if line.endswith("..."):
        return any(other.startswith(line[:-3].rstrip()) for other in printed)
    return line in printed


missing = [line for line in shown if not is_printed(line)]
sys.exit("not printed:\n" + "\n".join(missing) if missing else 0)
