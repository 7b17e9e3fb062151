# SPDX-License-Identifier: Apache-2.0
"""The command line, which the wheel holds: `ingot`, or `python -m ingot`."""
from __future__ import annotations

import os
import pathlib
import sys

# Beside the library, so that it finds the NVRTC of a wheel as that does.
PROGRAM = pathlib.Path(__file__).resolve().parent / "ingot"


def main() -> None:
    """Becomes the command line."""
    try:
        os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"ingot: cannot run {PROGRAM}: {error.strerror}; the wheel holds it, a source "
                 "tree has build/bin/ingot")


if __name__ == "__main__":
    main()
