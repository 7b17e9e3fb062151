# SPDX-License-Identifier: Apache-2.0
"""Differences from eager PyTorch that are known and stay, with their reasons."""
from __future__ import annotations

#: Operators whose values are not defined, or drawn at random anew.
UNDEFINED = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty",
                       "new_empty_strided"))

#: (operator, kind of difference): reason.
EXCEPTIONS: dict[tuple[str, str], str] = {}

#: Kinds that are known of every operator.
EVERYWHERE = {
    "denormal": "results below the smallest normal number may be flushed to zero",
}


def exempt(op: str, dtype: str, kind: str) -> str | None:
    """Why a kind of difference is none, or None."""
    if op in UNDEFINED and kind in ("value", "nan", "inf", "zero", "bits", "writes", "denormal"):
        return "the values are not defined"
    return EXCEPTIONS.get((op, kind)) or EVERYWHERE.get(kind)
