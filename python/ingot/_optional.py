# SPDX-License-Identifier: Apache-2.0
"""PyTorch, which a caller may have: a call without PyTorch's tensors does not import it."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def torch_tensor_in(tensors: Iterable[Any]) -> Any:
    """The first of PyTorch's tensors among some tensors, or None."""
    torch = sys.modules.get("torch")
    if torch is not None:
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor):
                return tensor
    return None


def torch_of(tensors: Iterable[Any]) -> Any:
    """The module torch where one of the tensors is PyTorch's; else None."""
    return sys.modules["torch"] if torch_tensor_in(tensors) is not None else None
