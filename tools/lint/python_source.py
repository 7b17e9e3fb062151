# SPDX-License-Identifier: Apache-2.0
"""The Python package's source: its imports, and the findings of ruff and mypy. Their settings are
in python/pyproject.toml."""
import pathlib
import re
import shutil
import subprocess

import python_imports
from common import ROOT, Finding

LINE = re.compile(r"^(.+?):(\d+):(?:\d+:)? (.*)$")


def program(name, build):
    """The path of a tool: that of ./dev setup, or one that is installed; None where it is
    missing."""
    own = pathlib.Path(build, "lint", "bin", name).absolute()
    return str(own) if own.exists() else shutil.which(name)


def findings_of(name, arguments, build, folder):
    """Findings that a tool prints; none where it is missing, with a word about it."""
    path = program(name, build)
    if path is None:
        print(f"[skip] python: {name} is not installed; ./dev setup installs it")
        return
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False,
                          cwd=folder)
    found = [match for line in done.stdout.splitlines() if (match := LINE.match(line))]
    for match in found:
        if not match[3].startswith("note: "):
            yield Finding(f"python/{match[1]}", int(match[2]), f"{name}: {match[3]}")
    if done.returncode and not found:
        yield Finding("python/pyproject.toml", 1, f"{name} failed: {done.stdout}{done.stderr}")


def check(paths, read, build, folder=ROOT / "python"):
    """Findings of all checks."""
    yield from python_imports.check(paths, read)
    yield from findings_of("ruff", ["check", "--no-cache", "--output-format=concise", "ingot"],
                           build, folder)
    cache = pathlib.Path(build, "mypy").absolute()
    yield from findings_of("mypy", [f"--cache-dir={cache}"], build, folder)
