# SPDX-License-Identifier: Apache-2.0
"""Device headers above ptx/ are plain C++17: a stage sees a TileContext and no hardware name. Where
a block runs, its barrier and its shared memory are known to skeletons and mainloops alone."""
import re

from common import Finding, blank_comments, line_of

DEVICE = "codegen/device/"
ONLY_IN_PTX = re.compile(
    r"\b(threadIdx|blockIdx|blockDim|gridDim|warpSize|asm|__asm__|__asm|__shared__|__constant__"
    r"|__syncthreads\w*|__syncwarp|__shfl\w*|__ballot\w*|__(?:any|all|activemask|match|reduce)_?\w*"
    r"|__threadfence\w*|__ldg|__ldcg|__stcg|__nanosleep|__cvta\w*|__pipeline\w*|atomic[A-Z]\w*"
    r"|__float2half\w*|__half2float|__nv_\w+|__CUDA_ARCH__|__CUDACC\w*)\b")
# ptx/ functions that a TileContext stands for, and the headers that make one or own a pipeline.
OF_THE_BLOCK = re.compile(
    r"\b(thread_index|block_index|block_count|block_barrier|shared_memory)\b(?=\s*\()")
MAY_ASK_THE_BLOCK = re.compile(r"^(ptx|kernels)/|^tile/(context|\w+_mainloop)\.cuh$")
NOWHERE = re.compile(r"\b(__CUDA_ARCH__|printf|cooperative_groups|__float2\w+)\b")


def check_file(path, text):
    """Findings of one file."""
    if not path.startswith(DEVICE):
        return
    in_ptx = path.startswith(DEVICE + "ptx/")
    code = blank_comments(text)
    for match in (NOWHERE if in_ptx else ONLY_IN_PTX).finditer(code):
        rule = "not used in device headers" if in_ptx else "belongs to ptx/; call its function"
        yield Finding(path, line_of(code, match.start()), f"{match.group(1)}: {rule}")
    if MAY_ASK_THE_BLOCK.match(path.removeprefix(DEVICE)):
        return
    for match in OF_THE_BLOCK.finditer(code):
        yield Finding(path, line_of(code, match.start()),
                      f"{match.group(1)}: belongs to skeletons and mainloops; use the TileContext")
