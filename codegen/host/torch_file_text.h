// SPDX-License-Identifier: Apache-2.0
// The Python text that is the same for every module. torch_file.cpp uses it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot {

inline constexpr llvm::StringLiteral kImportsText = R"py(import functools
import hashlib
import inspect
import os

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline
)py";

/// This text follows NAME, LEAST_CAPABILITY, IS_EXACT, PREPARES, PREPARES_BY_INPUTS, INTERFACE,
/// KERNELS, BINDING.
inline constexpr llvm::StringLiteral kChainText =
    R"py(
# ---- building and launching -----------------------------------------------------------------

NO_MEMORY = torch.empty(0, dtype=torch.uint8, device="cpu")


def arch_flags():
    """Flags of nvcc for the GPUs present; none if TORCH_CUDA_ARCH_LIST names others."""
    if os.environ.get("TORCH_CUDA_ARCH_LIST"):
        return []
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found = sorted({torch.cuda.get_device_capability(i) for i in range(count)})
    usable = [capability for capability in found
              if (capability == LEAST_CAPABILITY if IS_EXACT else capability >= LEAST_CAPABILITY)]
    if not usable:
        raise RuntimeError(
            f"ingot: {NAME}: expected an NVIDIA GPU of compute capability {LEAST_CAPABILITY}"
            f"{'' if IS_EXACT else ' or more'} that PyTorch can use, got {found or 'none'}; to "
            "compile without one, set TORCH_CUDA_ARCH_LIST to the capability of the GPUs that the "
            f"file is for{', such as 9.0a' if IS_EXACT else ''}")
    suffix = "a" if IS_EXACT else ""
    return [f"-gencode=arch=compute_{major}{minor}{suffix},code=sm_{major}{minor}{suffix}"
            for major, minor in usable]


@functools.lru_cache(maxsize=None)
def extension():
    """The compiled sources. Their first build takes about a minute; PyTorch keeps the result."""
    # Hidden names: files of one graph in several precisions may be loaded side by side.
    options = {"extra_cflags": ["-O2", "-fvisibility=hidden"],
               "extra_cuda_cflags": ["-O3", "-Xcompiler=-fvisibility=hidden", *arch_flags()]}
    # The sources include what they need, and the kernels need no header of PyTorch.
    if "no_implicit_headers" in inspect.signature(load_inline).parameters:
        options["no_implicit_headers"] = True
    content = "\0".join([INTERFACE, KERNELS, BINDING, repr(options), torch.__version__])
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    functions = ["ingot_prepare", "ingot_launch"] if PREPARES else ["ingot_launch"]
    return load_inline(name=f"ingot_{NAME}_{digest}", cpp_sources=[INTERFACE + BINDING],
                       cuda_sources=[INTERFACE + KERNELS], functions=functions, **options)


class Chain:
    """The kernels, with the memory that they prepared from one set of params.

    A call takes lists of inputs and params and returns the list of outputs. Memory is prepared at
    the first call, and again where a param is another, lies elsewhere or was written to. Writes
    that PyTorch does not count, such as those through `param.data` or to tensors of inference_mode,
    need a `reset()`.
    """

    def __init__(self):
        self._held = None  # (the origin of the memory, the memory, the params themselves)
        if torch.cuda.is_available():
            extension()  # so that the first call need not wait for a compiler

    def reset(self):
        """Makes the next call prepare again."""
        if self._held is not None:
            self._held = (None, self._held[1], None)

    def __call__(self, inputs, params):
        memory = self._prepared(inputs, params) if PREPARES else NO_MEMORY
        return extension().ingot_launch(inputs, params, memory)

    def _prepared(self, inputs, params):
        # Params are kept with it: another tensor could have the id and the address of a dead one.
        origin = [(id(param), param.data_ptr(), param.shape,
                   0 if param.is_inference() else param._version) for param in params]
        if PREPARES_BY_INPUTS:
            origin += [tensor.shape for tensor in inputs]
        held = self._held
        if held is not None and held[0] == origin:
            return held[1]
        if torch.cuda.is_current_stream_capturing():
            # The graph prepares whenever it is replayed; until then the memory holds nothing.
            return extension().ingot_prepare(inputs, params, NO_MEMORY)
        # The same memory again: captured graphs read it and see the new values.
        self.reset()
        memory = extension().ingot_prepare(inputs, params, held[1] if held else NO_MEMORY)
        self._held = (origin, memory, list(params))
        return memory

    def __reduce__(self):
        return (Chain, ())  # a copy prepares its own memory
)py";

inline constexpr llvm::StringLiteral kUniformText = R"py(

def uniform(shape, dtype):
    """A parameter drawn from U(-1/sqrt(k), 1/sqrt(k)), k being the last extent."""
    bound = max(shape[-1] if shape else 1, 1) ** -0.5
    return nn.Parameter(torch.empty(shape, dtype=dtype).uniform_(-bound, bound))
)py";

} // namespace ingot
