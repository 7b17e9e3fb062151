# SPDX-License-Identifier: Apache-2.0
"""Ingot as a backend of torch.compile.

    model = torch.compile(model, backend="ingot")
    with torch.no_grad():
        y = model(x)

Operators that Ingot knows become its kernels, the rest stays with eager PyTorch; `explain` says
which and why. Parameters are read at each call, so that every write to them counts. With
options={"freeze": True} memory is prepared from them, and again after a write that PyTorch counts.
For inference: a call that needs gradients runs in eager PyTorch, and says so once.
"""
from ingot.torch.dynamo import ingot_backend as backend
from ingot.torch.explanation import Explanation, explain
from ingot.torch.export import export

__all__ = ["Explanation", "backend", "explain", "export"]
