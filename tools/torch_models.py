# SPDX-License-Identifier: Apache-2.0
"""The graphs of examples/ and tests/chains/ in PyTorch: by the graph's name, a
function of its inputs and params by their names, which returns one tensor or as many as the graph.
"""
import torch

F = torch.nn.functional


def group_norm(h, groups, gamma, beta):
    return F.group_norm(h, groups, gamma, beta)


def chain_14(x, w):
    return torch.sum(x @ w.T / 2, 1, keepdim=True) * 1.5


def chain_18(x, w, b):
    s = F.linear(x, w, b).sum(1, keepdim=True)
    s = s.amax(1, keepdim=True).mean(1, keepdim=True)
    return s.logsumexp(1, keepdim=True).logsumexp(1, keepdim=True)


def chain_22(x, w, b):
    h = F.linear(x, w, b) * 2.0
    z = torch.logsumexp(torch.clamp(h + h, -10.0, 10.0), 1, keepdim=True)
    return z * F.mish(z)


def chain_28(x, y, w, b):
    h = F.linear(x, w, b)
    n = F.instance_norm(h[:, None, None, :])[:, 0, 0, :]
    return (n + y) * y


def chain_30(x, w, b, gamma, beta):
    return F.hardtanh(group_norm(F.linear(x, w, b), 16, gamma, beta), -2.0, 2.0)


def chain_37(x, w, b, bias, gamma, beta):
    h = F.linear(x, w, b)
    return group_norm(torch.sigmoid(h) * h + bias, 64, gamma, beta)


def batch_norm(h, gamma, beta, running_mean, running_var):
    """(y, new mean, new variance) of training mode."""
    mean, var = running_mean.clone(), running_var.clone()
    y = F.batch_norm(h, mean, var, gamma, beta, training=True)
    return y, mean, var


def chain_39(x, w, b, scale, gamma, beta, running_mean, running_var):
    return batch_norm(F.linear(x, w, b) * scale, gamma, beta, running_mean, running_var)


def chain_45(x, w1, b1, w2, b2):
    return torch.logsumexp(F.linear(torch.sigmoid(F.linear(x, w1, b1)), w2, b2), 1)


def chain_75(x, w, b, gamma, beta, bias):
    return group_norm(F.linear(x, w, b), 512, gamma, beta).amin(1, keepdim=True) + bias


def chain_80(x, w, b):
    m = F.linear(x, w, b).amax(1, keepdim=True)
    return F.gelu(m - m.mean(1, keepdim=True))


def chain_84(x, w, b, gamma, beta, running_mean, running_var, scale):
    n, mean, var = batch_norm(F.linear(x, w, b), gamma, beta, running_mean, running_var)
    return F.softmax(scale * n, 1), mean, var


def chain_94(x, w, b, bias, gamma, beta):
    return group_norm(F.mish(F.hardtanh(F.linear(x, w, b) + bias)), 256, gamma, beta)


def chain_95(x, w, b, v):
    return F.hardtanh(F.gelu(torch.tanh(F.silu(F.linear(x, w, b) + v))))


def chain_98(x, w, b):
    p = F.avg_pool1d(F.linear(x, w, b)[:, None, :], 16)[:, 0, :]
    return torch.amax(F.gelu(p) * 2.0, 1)


# Chains of which a rewrite leaves less than the product: Ingot's time beside PyTorch's says nothing
# about kernels there.
REWRITTEN = {
    "gemm_divide_sum_scaling",
    "matmul_sum_max_avgpool_logsumexp_logsumexp",
    "gemm_max_subtract_gelu",
    "matmul_avgpool_gelu_scale_max",
}

MODELS = {
    "square_matrix_multiplication": lambda a, b: a @ b,
    "batched_matrix_multiplication": lambda a, b: a @ b,
    "gemm_multiply_leakyrelu": lambda x, w, b: F.leaky_relu(F.linear(x, w, b) * 2.0, 0.1),
    "gemm_divide_sum_scaling": chain_14,
    "matmul_with_transposed_a": lambda a, b: a.T @ b,
    "matmul_sum_max_avgpool_logsumexp_logsumexp": chain_18,
    "matmul_scale_residualadd_clamp_logsumexp_mish": chain_22,
    "softmax_long_rows": lambda x: F.softmax(x, 1),
    "gelu_erf": lambda x: F.gelu(x),
    "bmm_instancenorm_sum_residualadd_multiply": chain_28,
    "gemm_groupnorm_hardtanh": chain_30,
    "groupnorm": lambda x, gamma, beta: group_norm(x, 8, gamma, beta),
    "rmsnorm": lambda x: x / torch.sqrt(torch.mean(x ** 2, 1, keepdim=True) + 1e-5),
    "matmul_swish_sum_groupnorm": chain_37,
    "gemm_scale_batchnorm": chain_39,
    "layernorm": lambda x, gamma, beta: F.layer_norm(x, x.shape[1:], gamma, beta),
    "gemm_sigmoid_logsumexp": chain_45,
    "sum_reduction_over_a_dimension": lambda x: x.sum(1, keepdim=True),
    "matmul_sigmoid_sum": lambda x, w, b: torch.sigmoid(F.linear(x, w, b)).sum(1, keepdim=True),
    "gemm_groupnorm_min_biasadd": chain_75,
    "gemm_max_subtract_gelu": chain_80,
    "gemm_batchnorm_scaling_softmax": chain_84,
    "gemm_biasadd_hardtanh_mish_groupnorm": chain_94,
    "gemm_biasadd_hardtanh_mish_groupnorm_bf16": chain_94,
    "mseloss": lambda predictions, targets: F.mse_loss(predictions, targets),
    "matmul_add_swish_tanh_gelu_hardtanh": chain_95,
    "matmul_avgpool_gelu_scale_max": chain_98,
    "matmul_gelu_softmax": lambda x, w, b: F.softmax(F.gelu(F.linear(x, w, b)), 1),
    "swiglu": lambda x, gate, up: F.silu(F.linear(x, gate)) * F.linear(x, up),
    "feed_forward": lambda x, gate, up, down: F.linear(
        F.silu(F.linear(x, gate)) * F.linear(x, up), down),
    "normalized_projection": lambda x, mean, rstd, gamma, beta, w: F.linear(
        (x - mean) * rstd * gamma + beta, w),
    "softmax_rows": lambda x: F.softmax(x, 1),
    "layer_norm_rows": lambda x, gamma, beta: F.layer_norm(x, x.shape[1:], gamma, beta),
    "elementwise_chain": lambda x: F.mish(F.gelu(x * 1.5 + 0.25)),
}
