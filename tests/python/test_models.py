# SPDX-License-Identifier: Apache-2.0
"""The models that need no library, beside eager and f64, by the reference interpreter."""
import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from conftest import ROOT  # noqa: E402

sys.path.append(str(ROOT / "tools"))
from plain_models import BUILDERS  # noqa: E402

NAMES = [f"plain_{name}" for name in BUILDERS if name != "hand_lstm"]  # of many steps


def run(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "tools" / "verify_models.py"), *arguments],
                          capture_output=True, text=True, check=False)


def test_plain_models_are_at_least_as_exact_as_eager(tmp_path):
    summary = tmp_path / "summary.json"
    done = run("--on=reference", f"--json={summary}", "--precision", "f32", "bf16", "--", *NAMES)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    rows = json.loads(summary.read_text())
    assert len(rows) == 2 * len(NAMES)
    assert [name for name, row in rows.items() if not row["pieces"]] == []


def test_an_error_beyond_eagers_is_told():
    import verify_models
    row = {"error": [1e-6, 1e-6], "eager_error": [1e-7, 1e-7], "is_exact_enough": False,
           "left": [["aten.triu", "no rule for this operator", 1]]}
    assert verify_models.verdict("plain_mlp", row) == "FAIL: error"
    assert verify_models.verdict("t5", row) == "FAIL: error, leaves aten.triu"
    assert verify_models.verdict("t5", {"skipped": "transformers is not installed"}).startswith(
        "skip")
