# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operator database beside eager, by the reference interpreter: some calls of every
operator. tools/verify_operators.py makes all of them, on a GPU or here."""
import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from conftest import ROOT  # noqa: E402

LEAST_LAUNCHED = 200  # operators; fewer where a rule is lost


def test_sampled_calls_of_every_operator(tmp_path):
    summary = tmp_path / "summary.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "verify_operators.py"), "--on=reference", "--sampled",
         "--jobs=2", f"--json={summary}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    told = json.loads(summary.read_text())
    assert told["differences"] == [] and len(told["launched"]) >= LEAST_LAUNCHED
