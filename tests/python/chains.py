# SPDX-License-Identifier: Apache-2.0
"""The development chains as plain modules: tests/chains as a user of PyTorch would write them.

CHAINS maps the name of a spec to a Chain: the module's class, its arguments and the shapes of its
inputs, at full size and at a size for tests without a GPU.
"""
from typing import NamedTuple

import torch
from torch import nn

F = nn.functional


class Linear(nn.Module):
    """A linear layer and its tail: forward(x) = tail(linear(x))."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.gemm = nn.Linear(inputs, outputs)


class Gemm_Multiply_LeakyReLU(Linear):
    def forward(self, x):
        return F.leaky_relu(self.gemm(x) * 2.0, 0.1)


class Gemm_Divide_Sum_Scaling(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))

    def forward(self, x):
        return torch.sum(torch.matmul(x, self.weight.T) / 2, dim=1, keepdim=True) * 1.5


class Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp(Linear):
    def forward(self, x):
        x = torch.sum(self.gemm(x), dim=1, keepdim=True)
        x = torch.max(x, dim=1, keepdim=True)[0]
        x = torch.mean(x, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return torch.logsumexp(x, dim=1, keepdim=True)


class Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish(Linear):
    def forward(self, x):
        x = self.gemm(x) * 2.0
        x = torch.clamp(x + x, -10.0, 10.0)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


class BMM_InstanceNorm_Sum_ResidualAdd_Multiply(Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.instance_norm = nn.InstanceNorm2d(outputs)

    def forward(self, x, y):
        x = self.gemm(x)
        x = self.instance_norm(x.unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)
        return (x + y) * y


class Gemm_GroupNorm_Hardtanh(Linear):
    def __init__(self, inputs, outputs, groups):
        super().__init__(inputs, outputs)
        self.group_norm = nn.GroupNorm(groups, outputs)
        self.hardtanh = nn.Hardtanh(min_val=-2.0, max_val=2.0)

    def forward(self, x):
        return self.hardtanh(self.group_norm(self.gemm(x)))


class Matmul_Swish_Sum_GroupNorm(Linear):
    def __init__(self, inputs, outputs, groups):
        super().__init__(inputs, outputs)
        self.bias = nn.Parameter(torch.randn(outputs))
        self.group_norm = nn.GroupNorm(groups, outputs)

    def forward(self, x):
        x = self.gemm(x)
        return self.group_norm(torch.sigmoid(x) * x + self.bias)


class Gemm_Scale_BatchNorm(Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.scale = nn.Parameter(torch.randn(outputs))
        self.bn = nn.BatchNorm1d(outputs)

    def forward(self, x):
        return self.bn(self.gemm(x) * self.scale)


class Gemm_Sigmoid_LogSumExp(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.linear1 = nn.Linear(inputs, hidden)
        self.linear2 = nn.Linear(hidden, outputs)

    def forward(self, x):
        return torch.logsumexp(self.linear2(torch.sigmoid(self.linear1(x))), dim=1)


class Matmul_Sigmoid_Sum(Linear):
    def forward(self, x):
        return torch.sum(torch.sigmoid(self.gemm(x)), dim=1, keepdim=True)


class Gemm_GroupNorm_Min_BiasAdd(Linear):
    def __init__(self, inputs, outputs, groups):
        super().__init__(inputs, outputs)
        self.group_norm = nn.GroupNorm(groups, outputs)
        self.bias = nn.Parameter(torch.randn(1, outputs, 1, 1))

    def forward(self, x):
        x = self.group_norm(self.gemm(x))
        return torch.min(x, dim=1, keepdim=True)[0] + self.bias


class Gemm_Max_Subtract_GELU(Linear):
    def forward(self, x):
        x = torch.max(self.gemm(x), dim=1, keepdim=True).values
        return F.gelu(x - x.mean(dim=1, keepdim=True))


class Gemm_BatchNorm_Scaling_Softmax(Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.bn = nn.BatchNorm1d(outputs)
        self.scale = nn.Parameter(torch.ones(1))
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        return self.softmax(self.scale * self.bn(self.gemm(x)))


class Gemm_BiasAdd_Hardtanh_Mish_GroupNorm(Linear):
    def __init__(self, inputs, outputs, groups):
        super().__init__(inputs, outputs)
        self.bias = nn.Parameter(torch.randn(outputs))
        self.hardtanh, self.mish = nn.Hardtanh(), nn.Mish()
        self.groupnorm = nn.GroupNorm(groups, outputs)

    def forward(self, x):
        return self.groupnorm(self.mish(self.hardtanh(self.gemm(x) + self.bias)))


class Matmul_Add_Swish_Tanh_GELU_Hardtanh(Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.add_value = nn.Parameter(torch.randn(outputs))

    def forward(self, x):
        x = self.gemm(x) + self.add_value
        return F.hardtanh(F.gelu(torch.tanh(torch.sigmoid(x) * x)), min_val=-1, max_val=1)


class Matmul_AvgPool_GELU_Scale_Max(Linear):
    def __init__(self, inputs, outputs, pool):
        super().__init__(inputs, outputs)
        self.avg_pool = nn.AvgPool1d(kernel_size=pool)

    def forward(self, x):
        x = self.avg_pool(self.gemm(x).unsqueeze(1)).squeeze(1)
        return torch.max(F.gelu(x) * 2.0, dim=1).values


class Matmul_GELU_Softmax(Linear):
    def forward(self, x):
        return F.softmax(F.gelu(self.gemm(x)), dim=1)


class Function(nn.Module):
    """A chain without parameters."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, *x):
        return FUNCTIONS[self.name](*x)


FUNCTIONS = {
    "product": torch.matmul,
    "transposed": lambda a, b: torch.matmul(a.T, b),
    "softmax": lambda x: torch.softmax(x, dim=1),
    "gelu": F.gelu,
    "rms_norm": lambda x: x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5),
    "sum": lambda x: torch.sum(x, dim=1, keepdim=True),
    "mse_loss": F.mse_loss,
}


class Chain(NamedTuple):
    """A module's class with its arguments and the shapes of its inputs: (full size, small)."""
    module: type
    arguments: tuple
    shapes: tuple
    small_arguments: tuple
    small_shapes: tuple


def _linear(module, rows, inputs, outputs, *more, small=(), extra=0):
    def shapes(m, n):
        return ((m, inputs if m == rows else 72),) + ((m, n),) * extra
    return Chain(module, (inputs, outputs, *more), shapes(rows, outputs),
                 (72, 96, *(small or more)), shapes(10, 96))


CHAINS = {
    "1_square_matrix_multiplication": Chain(
        Function, ("product",), ((4096, 4096),) * 2, ("product",), ((48, 48),) * 2),
    "3_batched_matrix_multiplication": Chain(
        Function, ("product",), ((128, 512, 1024), (128, 1024, 2048)),
        ("product",), ((3, 20, 24), (3, 24, 40))),
    "12_gemm_multiply_leakyrelu": _linear(Gemm_Multiply_LeakyReLU, 1024, 8192, 8192),
    "14_gemm_divide_sum_scaling": _linear(Gemm_Divide_Sum_Scaling, 1024, 8192, 8192),
    "16_matmul_with_transposed_a": Chain(
        Function, ("transposed",), ((8192, 2048), (8192, 4096)),
        ("transposed",), ((40, 24), (40, 56))),
    "18_matmul_sum_max_avgpool_logsumexp_logsumexp": _linear(
        Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp, 1024, 8192, 8192),
    "22_matmul_scale_residualadd_clamp_logsumexp_mish": _linear(
        Matmul_Scale_ResidualAdd_Clamp_LogSumExp_Mish, 1024, 8192, 8192),
    "23_softmax": Chain(Function, ("softmax",), ((4096, 393216),), ("softmax",), ((4, 600),)),
    "26_gelu": Chain(Function, ("gelu",), ((4096, 393216),), ("gelu",), ((4, 600),)),
    "28_bmm_instancenorm_sum_residualadd_multiply": _linear(
        BMM_InstanceNorm_Sum_ResidualAdd_Multiply, 1024, 8192, 8192, extra=1),
    "30_gemm_groupnorm_hardtanh": _linear(
        Gemm_GroupNorm_Hardtanh, 1024, 8192, 8192, 16, small=(4,)),
    "35_groupnorm": Chain(nn.GroupNorm, (8, 64), ((112, 64, 512, 512),), (8, 64), ((2, 64, 6, 5),)),
    "36_rmsnorm": Chain(Function, ("rms_norm",), ((112, 64, 512, 512),),
                        ("rms_norm",), ((2, 64, 6, 5),)),
    "37_matmul_swish_sum_groupnorm": _linear(
        Matmul_Swish_Sum_GroupNorm, 32768, 1024, 4096, 64, small=(4,)),
    "39_gemm_scale_batchnorm": _linear(Gemm_Scale_BatchNorm, 16384, 4096, 4096),
    "40_layernorm": Chain(nn.LayerNorm, ((64, 256, 256),), ((16, 64, 256, 256),),
                          ((4, 6, 5),), ((3, 4, 6, 5),)),
    "45_gemm_sigmoid_logsumexp": Chain(
        Gemm_Sigmoid_LogSumExp, (2048, 4096, 1024), ((16384, 2048),), (24, 40, 56), ((10, 24),)),
    "47_sum_reduction_over_a_dimension": Chain(
        Function, ("sum",), ((128, 4096, 4095),), ("sum",), ((3, 40, 31),)),
    "56_matmul_sigmoid_sum": _linear(Matmul_Sigmoid_Sum, 128, 32768, 32768),
    "75_gemm_groupnorm_min_biasadd": _linear(
        Gemm_GroupNorm_Min_BiasAdd, 1024, 8192, 8192, 512, small=(6,)),
    "80_gemm_max_subtract_gelu": _linear(Gemm_Max_Subtract_GELU, 1024, 8192, 8192),
    "84_gemm_batchnorm_scaling_softmax": _linear(
        Gemm_BatchNorm_Scaling_Softmax, 1024, 8192, 8192),
    "94_gemm_biasadd_hardtanh_mish_groupnorm": _linear(
        Gemm_BiasAdd_Hardtanh_Mish_GroupNorm, 1024, 8192, 8192, 256, small=(3,)),
    "94_mseloss": Chain(Function, ("mse_loss",), ((32768, 32768),) * 2,
                        ("mse_loss",), ((12, 31),) * 2),
    "95_matmul_add_swish_tanh_gelu_hardtanh": _linear(
        Matmul_Add_Swish_Tanh_GELU_Hardtanh, 1024, 8192, 8192),
    "98_matmul_avgpool_gelu_scale_max": _linear(
        Matmul_AvgPool_GELU_Scale_Max, 1024, 8192, 8192, 16),
    "99_matmul_gelu_softmax": _linear(Matmul_GELU_Softmax, 1024, 8192, 8192),
}
