# SPDX-License-Identifier: Apache-2.0
"""Ingot as a backend of torch.compile.

    model = torch.compile(model, backend="ingot")
    with torch.no_grad():
        y = model(x)

Operators that Ingot knows become its kernels, the rest stays with eager PyTorch; `explain` says
which and why. Parameters are prepared once, and again after they were written to. For inference: a
call that needs gradients runs in eager PyTorch, and says so once.
"""
from ingot.torch.dynamo import ingot_backend as backend
from ingot.torch.explanation import Explanation, explain
from ingot.torch.export import export

__all__ = ["Explanation", "backend", "explain", "export"]
