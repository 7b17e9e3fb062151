# SPDX-License-Identifier: Apache-2.0
"""Finds the package and the programs in the source tree: INGOT_BUILD_DIR, default build."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD_DIR", ROOT / "build")).resolve()
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
os.environ.setdefault("INGOT_LIBRARY", str(BUILD / "libingot.so"))
