# SPDX-License-Identifier: Apache-2.0
"""clang-format 19, which .clang-format configures, has nothing to change."""
import pathlib
import re
import subprocess

from common import GENERATED, ROOT, Finding

FORMATTED = {".cpp", ".h", ".cuh", ".cu", ".c"}
COMMAND = "clang-format-19"
REPORT = re.compile(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", re.MULTILINE)


def formatted(paths):
    """The files that clang-format owns."""
    return [path for path in paths if pathlib.PurePosixPath(path).suffix in FORMATTED
            and not path.startswith(GENERATED)]


def check(paths, root=ROOT):
    """Findings of all files, one per file: its first line that differs."""
    result = subprocess.run([COMMAND, "--dry-run", "-Werror", "--", *formatted(paths)], cwd=root,
                            capture_output=True, text=True, check=False)
    first = {}
    for path, line in REPORT.findall(result.stderr):
        first.setdefault(path, int(line))
    if result.returncode != 0 and not first:
        yield Finding(COMMAND, 0, result.stderr.strip())
    for path, line in first.items():
        yield Finding(path, line, "not formatted: ./dev fmt")


def fix(paths, root=ROOT):
    """Formats in place."""
    subprocess.run([COMMAND, "-i", "--", *formatted(paths)], cwd=root, check=True)
