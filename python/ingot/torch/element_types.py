# SPDX-License-Identifier: Apache-2.0
"""Groups of PyTorch's element types."""
from __future__ import annotations

from ingot.torch_device import TORCH_DTYPES

#: The name of each element type that graphs have.
NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}

INTEGERS = (TORCH_DTYPES["i32"], TORCH_DTYPES["i64"])

#: Kernels keep the results of arithmetic in these types in f32.
SIXTEEN_BITS = (TORCH_DTYPES["f16"], TORCH_DTYPES["bf16"])
