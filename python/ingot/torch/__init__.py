# SPDX-License-Identifier: Apache-2.0
"""Ingot as a backend of torch.compile.

    model = torch.compile(model, backend="ingot")
    with torch.no_grad():
        y = model(x)

Operators that Ingot has rules for become its kernels. The others stay with eager PyTorch; `explain`
gives the reason of each. Parameters are read at each call, so that every write to them counts. With
options={"freeze": True} memory is prepared from them, and again after a write that PyTorch counts.
A call that records gradients has a forward and a backward graph, for which nothing is prepared.

The installed package registers the backend by an entry point. Where it is not installed, as with a
checkout on PYTHONPATH, the import of this module registers it.
"""
import torch

from ingot.torch.dynamo import ingot_backend as backend
from ingot.torch.explanation import Explanation, explain
from ingot.torch.export import export

# With the entry point PyTorch lists the name already, and refuses a second registration.
if "ingot" not in torch._dynamo.list_backends(None):
    torch._dynamo.register_backend(backend, "ingot")

__all__ = ["Explanation", "backend", "explain", "export"]
