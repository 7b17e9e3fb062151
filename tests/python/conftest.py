# SPDX-License-Identifier: Apache-2.0
"""Finds the package and the programs in the source tree: INGOT_BUILD_DIR, default build."""
import os
import pathlib
import sys
import warnings

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD_DIR", ROOT / "build")).resolve()
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
os.environ.setdefault("INGOT_LIBRARY", str(BUILD / "libingot.so"))


@pytest.fixture
def on_reference(monkeypatch):
    """Pieces of the backend run on the reference interpreter. Random numbers have one seed."""
    import reference
    import torch
    reference.install(monkeypatch)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="input's size at dim=1")
        yield
