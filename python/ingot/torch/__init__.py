# SPDX-License-Identifier: Apache-2.0
"""Ingot as a backend of torch.compile.

    model = torch.compile(model, backend="ingot")
    with torch.no_grad():
        y = model(x)

Operators that Ingot knows become its kernels, the rest stays with eager PyTorch; `explain` says
which and why. Parameters are read at each call, so that every write to them counts. With
options={"freeze": True} memory is prepared from them, and again after a write that PyTorch counts.
For inference: a call that needs gradients runs in eager PyTorch, and says so once.

The installed package tells PyTorch its backend by an entry point. Where it is not installed, as
with a checkout on PYTHONPATH, importing this module does that.
"""
import torch

from ingot.torch.dynamo import ingot_backend as backend
from ingot.torch.explanation import Explanation, explain
from ingot.torch.export import export

# With the entry point PyTorch lists the name already, and refuses to be told it again.
if "ingot" not in torch._dynamo.list_backends(None):
    torch._dynamo.register_backend(backend, "ingot")

__all__ = ["Explanation", "backend", "explain", "export"]
