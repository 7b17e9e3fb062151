# SPDX-License-Identifier: Apache-2.0
"""Runs last of the tests of rules: a rule that no case reaches is not tested."""
import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from one_operator import SEEN  # noqa: E402
from ingot.torch.rules import RULES  # noqa: E402


def test_every_rule_was_seen():
    if len(SEEN) < 150:
        pytest.skip("only some cases were run")
    missed = set(RULES) - SEEN
    assert not missed, " ".join(sorted(map(str, missed)))
