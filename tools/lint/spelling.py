# SPDX-License-Identifier: Apache-2.0
"""Spelling of the pages, by codespell."""
import re
import shutil
import subprocess

from common import ROOT, Finding

LINE = re.compile(r"^(.*?):(\d+): (.*)$")


def check(paths, root=ROOT):
    """Findings of all pages; none where codespell is missing, with a word about it."""
    pages = [path for path in paths if path.endswith(".md")]
    if shutil.which("codespell") is None:
        print("[skip] spelling: codespell is not installed; ./dev setup installs it")
        return
    done = subprocess.run(["codespell", "--quiet-level=2", *pages], capture_output=True, text=True,
                          check=False, cwd=root)
    for line in done.stdout.splitlines():
        if match := LINE.match(line):
            yield Finding(match[1].removeprefix("./"), int(match[2]), match[3])
