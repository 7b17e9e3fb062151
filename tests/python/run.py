# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python package with pytest; exit status 77 where there is none."""
import pathlib
import sys

try:
    import pytest
except ImportError:
    print("skipped: pytest is not installed; ./dev setup makes an environment with it")
    sys.exit(77)

sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", "-p", "no:logging", str(pathlib.Path(__file__).parent),
                      *sys.argv[1:]]))
