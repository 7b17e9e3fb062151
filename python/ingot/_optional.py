# SPDX-License-Identifier: Apache-2.0
"""The libraries that Ingot does without where they are missing."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def torch_of(tensors: Iterable[Any]) -> Any:
    """The module torch where one of the tensors is PyTorch's; else None. Who has none of PyTorch's
    tensors need not wait for its import."""
    torch = sys.modules.get("torch")
    is_torch = torch is not None and any(isinstance(tensor, torch.Tensor) for tensor in tensors)
    return torch if is_torch else None
