# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python package with pytest, by the environment that ./dev setup made in the
build folder where this Python lacks pytest or PyTorch; exit status 77 where pytest is missing."""
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD_DIR", HERE.parents[1] / "build")).resolve()
OWN = BUILD / "python"


def main() -> int:
    lacks_some = any(importlib.util.find_spec(name) is None for name in ("pytest", "torch"))
    if lacks_some and (OWN / "bin" / "python3").exists() and pathlib.Path(sys.prefix) != OWN:
        os.execv(OWN / "bin" / "python3", [OWN / "bin" / "python3", *sys.argv])
    try:
        import pytest
    except ImportError:
        print("[skip] pytest is not installed; ./dev setup makes an environment with it")
        return 77
    return pytest.main(["-q", "-rs", "-p", "no:cacheprovider", "-p", "no:logging", str(HERE),
                        *sys.argv[1:]])


# Processes that a test spawns import this file again.
if __name__ == "__main__":
    sys.exit(main())
