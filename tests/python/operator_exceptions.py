# SPDX-License-Identifier: Apache-2.0
"""Differences from eager PyTorch that are known and stay, with their reasons."""
from __future__ import annotations

#: Operators whose values are not defined, or drawn at random anew.
UNDEFINED = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty",
                       "new_empty_strided"))

#: (operator, kind of difference): reason.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("signal.windows.nuttall", "value"):
        "four terms that cancel to a thousandth: lanes add them as a tree, eager in a row, where "
        "no sum rounds",
    ("torch.ops.aten._efficient_attention_forward", "device"):
        "eager gives the random seed on the CPU, its fake tensor is on the GPU",
}

#: The same where the reference interpreter runs on the CPU.
ON_REFERENCE = {
    ("nn.functional.batch_norm", "strides"):
        "PyTorch's kernel of the CPU gives a contiguous result, its fake tensors keep the strides",
    ("signal.windows.hann", "value"):
        "all elements cancel to zero, and f64 does not round away the same bits as f32",
}

#: Kinds that are known of every operator.
EVERYWHERE = {
    "denormal": "results below the smallest normal number may be flushed to zero",
}


def exempt(op: str, device: str, kind: str) -> str | None:
    """Why a kind of difference is none, or None."""
    if op in UNDEFINED and kind in ("value", "nan", "inf", "zero", "bits", "writes", "denormal"):
        return "the values are not defined"
    listed = EXCEPTIONS.get((op, kind)) or EVERYWHERE.get(kind)
    return listed or (ON_REFERENCE.get((op, kind)) if device == "cpu" else None)
