// SPDX-License-Identifier: Apache-2.0
// Every operator of ingot/ops.h against the text language: one call of each, all options away from
// their defaults, gives the graph that its spec gives.
#include "ingot/ingot.h"

#include "ir/library.h"
#include "src/api/internal.h"
#include "tests/support/equivalence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace ingot;

namespace {

constexpr const char* kInputs =
    "x: f32[4, 6], y: f32[4, 6], z: f32[4, 6], v: f32[6], w: f32[8, 6], r: f32[8],\n"
    "        t: f32[2, 6, 10], q: f32[2, 4, 8], b: bool[4, 6], c: bool[4, 6], k: i64[4, 6], "
    "l: i64[4],\n        s: f32[4, 1, 6]";

/// A graph with these inputs.
struct Values {
  GraphBuilder graph{"g"};
  Var x = matrix("x"), y = matrix("y"), z = matrix("z");
  Var v = graph.input("v", ElementType::f32, {6}), w = graph.input("w", ElementType::f32, {8, 6});
  Var r = graph.input("r", ElementType::f32, {8});
  Var t = graph.input("t", ElementType::f32, {2, 6, 10});
  Var q = graph.input("q", ElementType::f32, {2, 4, 8});
  Var b = graph.input("b", ElementType::boolean, {4, 6});
  Var c = graph.input("c", ElementType::boolean, {4, 6});
  Var k = graph.input("k", ElementType::i64, {4, 6}), l = graph.input("l", ElementType::i64, {4});
  Var s = graph.input("s", ElementType::f32, {4, 1, 6});

  Var matrix(const char* name) { return graph.input(name, ElementType::f32, {4, 6}); }
};

/// An expression of the language, and the calls that should mean the same.
struct Row {
  std::string spec;
  std::vector<Var> (*build)(Values&);
};

std::vector<Var> results(const Var& value) { return {value}; }
std::vector<Var> results(std::vector<Var> values) { return values; }

#define INGOT_ROW(spec, ...) {spec, [](Values& i) { return results(__VA_ARGS__); }}
#define INGOT_UNARY(name, function) INGOT_ROW(#name "(x)", function(i.x))
#define INGOT_BINARY(name, function)                                                               \
  INGOT_ROW(#name "(x, y)", function(i.x, i.y)), INGOT_ROW(#name "(x, 2.5)", function(i.x, 2.5))

std::vector<Row> arithmetic_rows() {
  return {
      INGOT_ROW("add(x, y)", i.x + i.y),
      INGOT_ROW("sub(x, y)", i.x - i.y),
      INGOT_ROW("mul(x, y)", i.x * i.y),
      INGOT_ROW("div(x, y)", i.x / i.y),
      INGOT_ROW("add(x, 2.5)", i.x + 2.5),
      INGOT_ROW("sub(x, 2.5)", i.x - 2.5),
      INGOT_ROW("mul(x, 2.5)", i.x * 2.5),
      INGOT_ROW("div(x, 2.5)", i.x / 2.5),
      INGOT_ROW("add(2.5, x)", 2.5 + i.x),
      INGOT_ROW("sub(2.5, x)", 2.5 - i.x),
      INGOT_ROW("mul(2.5, x)", 2.5 * i.x),
      INGOT_ROW("div(2.5, x)", 2.5 / i.x),
      INGOT_ROW("neg(x)", -i.x),
      INGOT_BINARY(add, add),
      INGOT_BINARY(sub, sub),
      INGOT_BINARY(mul, mul),
      INGOT_BINARY(div, div),
      INGOT_BINARY(pow, pow),
      INGOT_BINARY(power, power),
      INGOT_ROW("power(x, 2)", power(i.x, 2)),
      INGOT_BINARY(minimum, minimum),
      INGOT_BINARY(maximum, maximum),
      INGOT_BINARY(equal, equal),
      INGOT_BINARY(not_equal, not_equal),
      INGOT_BINARY(less, less),
      INGOT_BINARY(less_equal, less_equal),
      INGOT_BINARY(greater, greater),
      INGOT_BINARY(greater_equal, greater_equal),
      INGOT_UNARY(neg, neg),
      INGOT_ROW("div(k, 2, rounding_mode=\"floor\")", div(i.k, 2, "floor")),
      INGOT_ROW("k / 2", i.k / 2),
  };
}

std::vector<Row> elementwise_rows() {
  return {
      INGOT_UNARY(abs, abs),
      INGOT_UNARY(sign, sign),
      INGOT_UNARY(reciprocal, reciprocal),
      INGOT_UNARY(exp, exp),
      INGOT_UNARY(exp2, exp2),
      INGOT_UNARY(expm1, expm1),
      INGOT_UNARY(log, log),
      INGOT_UNARY(log2, log2),
      INGOT_UNARY(log10, log10),
      INGOT_UNARY(log1p, log1p),
      INGOT_UNARY(sqrt, sqrt),
      INGOT_UNARY(rsqrt, rsqrt),
      INGOT_UNARY(tanh, tanh),
      INGOT_UNARY(erf, erf),
      INGOT_UNARY(sin, sin),
      INGOT_UNARY(cos, cos),
      INGOT_UNARY(floor, floor),
      INGOT_UNARY(ceil, ceil),
      INGOT_UNARY(round, round),
      INGOT_UNARY(square, square),
      INGOT_UNARY(is_nan, is_nan),
      INGOT_UNARY(is_inf, is_inf),
      INGOT_ROW("not(b)", logical_not(i.b)),
      INGOT_ROW("and(b, c)", logical_and(i.b, i.c)),
      INGOT_ROW("or(b, c)", logical_or(i.b, i.c)),
      INGOT_ROW("select(b, x, 1.5)", select(i.b, i.x, 1.5)),
      INGOT_ROW("where(b, 1.5, y)", select(i.b, 1.5, i.y)),
      INGOT_ROW("cast(x, f16)", cast(i.x, ElementType::f16)),
      INGOT_ROW("constant(2.5, f16)", i.graph.constant(ElementType::f16, 2.5)),
      INGOT_UNARY(relu, relu),
      INGOT_UNARY(relu6, relu6),
      INGOT_ROW("hardtanh(x, min=-2, max=3)", hardtanh(i.x, -2, 3)),
      INGOT_ROW("clamp(x, min=-2, max=3)", clamp(i.x, -2, 3)),
      INGOT_ROW("clamp(x, max=3)", clamp(i.x, {}, 3)),
      INGOT_UNARY(sigmoid, sigmoid),
      INGOT_UNARY(log_sigmoid, log_sigmoid),
      INGOT_UNARY(silu, silu),
      INGOT_UNARY(swish, silu),
      INGOT_UNARY(gelu, gelu),
      INGOT_ROW("gelu(x, approximate=\"tanh\")", gelu_tanh(i.x)),
      INGOT_UNARY(mish, mish),
      INGOT_ROW("softplus(x, beta=2, threshold=9)", softplus(i.x, 2, 9)),
      INGOT_UNARY(softsign, softsign),
      INGOT_ROW("hardshrink(x, lambd=0.7)", hardshrink(i.x, 0.7)),
      INGOT_ROW("softshrink(x, lambd=0.7)", softshrink(i.x, 0.7)),
      INGOT_ROW("threshold(x, 0.5, -3)", threshold(i.x, 0.5, -3)),
      INGOT_ROW("lerp(x, y, z)", lerp(i.x, i.y, i.z)),
      INGOT_ROW("lerp(x, y, 0.25)", lerp(i.x, i.y, 0.25)),
      INGOT_ROW("addcmul(x, y, z, value=2)", addcmul(i.x, i.y, i.z, 2)),
      INGOT_ROW("addcdiv(x, y, z, value=2)", addcdiv(i.x, i.y, i.z, 2)),
      INGOT_UNARY(hardsigmoid, hardsigmoid),
      INGOT_UNARY(hardswish, hardswish),
      INGOT_UNARY(atan, atan),
      INGOT_UNARY(tan, tan),
      INGOT_BINARY(fmod, fmod),
      INGOT_BINARY(remainder, remainder),
      INGOT_UNARY(sinh, sinh),
      INGOT_UNARY(cosh, cosh),
      INGOT_ROW("clip(x, min=-2)", clamp(i.x, -2, {})),
      INGOT_ROW("celu(x, alpha=0.7)", celu(i.x, 0.7)),
      INGOT_ROW("prelu(x, v)", prelu(i.x, i.v)),
      INGOT_ROW("glu(x, dim=0)", glu(i.x, 0)),
      INGOT_ROW("masked_fill(x, b, 1.5)", masked_fill(i.x, i.b, 1.5)),
      INGOT_ROW("leaky_relu(x, slope=0.2)", leaky_relu(i.x, 0.2)),
      INGOT_ROW("elu(x, alpha=0.7)", elu(i.x, 0.7)),
      INGOT_UNARY(selu, selu),
      INGOT_ROW("dropout(x, p=0.3)", dropout(i.x, 0.3)),
      INGOT_BINARY(xlogy, xlogy),
      INGOT_BINARY(logaddexp, logaddexp),
      INGOT_BINARY(hypot, hypot),
      INGOT_BINARY(heaviside, heaviside),
      INGOT_UNARY(nan_to_num, nan_to_num),
      INGOT_ROW("nan_to_num(x, 1, posinf=2, neginf=-3)", nan_to_num(i.x, 1, 2, -3)),
      INGOT_ROW("constant(true, bool)", i.graph.constant(ElementType::boolean, 1)),
      INGOT_ROW("x < 0.1", less(i.x, 0.1)),
  };
}

#define INGOT_REDUCTION(name, function)                                                            \
  INGOT_ROW(#name "(t)", function(i.t)),                                                           \
      INGOT_ROW(#name "(t, axis=[0, 2])", function(i.t, {.axes = {{0, 2}}})),                      \
      INGOT_ROW(#name "(t, axis=-1, keepdim=true)",                                                \
                function(i.t, {.axes = {{-1}}, .keepdim = true}))

std::vector<Row> reduction_rows() {
  return {
      INGOT_REDUCTION(sum, sum),
      INGOT_REDUCTION(mean, mean),
      INGOT_REDUCTION(prod, prod),
      INGOT_REDUCTION(reduce_max, reduce_max),
      INGOT_REDUCTION(amax, reduce_max),
      INGOT_REDUCTION(reduce_min, reduce_min),
      INGOT_REDUCTION(amin, reduce_min),
      INGOT_REDUCTION(max_sumexp, max_sumexp),
      INGOT_REDUCTION(moments, moments),
      INGOT_REDUCTION(logsumexp, logsumexp),
      INGOT_REDUCTION(any, any),
      INGOT_REDUCTION(all, all),
      INGOT_REDUCTION(count_nonzero, count_nonzero),
      INGOT_ROW("var(t, axis=1, correction=0.5, keepdim=true)",
                variance(i.t, 0.5, {.axes = {{1}}, .keepdim = true})),
      INGOT_ROW("std(t, axis=1, correction=0, keepdim=true)",
                stddev(i.t, 0, {.axes = {{1}}, .keepdim = true})),
      INGOT_ROW("norm(t, p=3, axis=[0, 1], keepdim=true)",
                norm(i.t, 3, {.axes = {{0, 1}}, .keepdim = true})),
      INGOT_ROW("norm(t, p=inf)", norm(i.t, INFINITY)),
      INGOT_ROW("max(t, axis=1, keepdim=true)", max(i.t, 1, true)),
      INGOT_ROW("min(t, axis=-1)", min(i.t, -1)),
      INGOT_ROW("argmax(t)", argmax(i.t)),
      INGOT_ROW("argmax(t, axis=1)", argmax(i.t, 1)),
      INGOT_ROW("argmin(t, axis=-2)", argmin(i.t, -2)),
      INGOT_ROW("softmax(t, axis=1)", softmax(i.t, 1)),
      INGOT_ROW("log_softmax(t, axis=0)", log_softmax(i.t, 0)),
      INGOT_ROW("normalize(t, p=1, axis=2, eps=0.5)", normalize(i.t, 1, 2, 0.5)),
      INGOT_ROW("layer_norm(x, gamma=v, beta=v, dims=1, eps=0.5)",
                layer_norm(i.x, {.gamma = i.v, .beta = i.v}, 1, 0.5)),
      INGOT_ROW("layer_norm(t, dims=2)", layer_norm(i.t, {}, 2)),
      INGOT_ROW("group_norm(t, gamma=v, groups=3, eps=0.5)",
                group_norm(i.t, 3, {.gamma = i.v}, 0.5)),
      INGOT_ROW("instance_norm(t, beta=v, eps=0.5)", instance_norm(i.t, {.beta = i.v}, 0.5)),
      INGOT_ROW("rms_norm(x, weight=v, axis=-1, eps=0.5)", rms_norm(i.x, i.v, -1, 0.5)),
      INGOT_ROW("rms_norm(x, axis=0)", rms_norm(i.x, {}, 0)),
      INGOT_ROW("batch_norm(t, gamma=v, beta=v, running_mean=v, running_var=v, training=true, "
                "momentum=0.3, eps=0.5)",
                batch_norm(i.t, {.affine = {.gamma = i.v, .beta = i.v},
                                 .running_mean = i.v,
                                 .running_var = i.v,
                                 .training = true,
                                 .momentum = 0.3,
                                 .eps = 0.5})),
      INGOT_ROW("max_pool1d(t, 5)", max_pool1d(i.t, 5)),
      INGOT_ROW("avg_pool1d(t, 2)", avg_pool1d(i.t, 2)),
      INGOT_ROW("matmul(x, y, transpose_b=true)", matmul(i.x, i.y, {.transpose_b = true})),
      INGOT_ROW("matmul(x, y, transpose_a=true)", matmul(i.x, i.y, {.transpose_a = true})),
      INGOT_ROW("x @ transpose(y)", matmul(i.x, transpose(i.y))),
      INGOT_ROW("mm(x, transpose(w))", mm(i.x, transpose(i.w))),
      INGOT_ROW("bmm(q, transpose(q))", bmm(i.q, transpose(i.q))),
      INGOT_ROW("addmm(r, x, transpose(w), beta=0.5, alpha=2)",
                addmm(i.r, i.x, transpose(i.w), 0.5, 2)),
      INGOT_ROW("einsum(\"ij,kj->ki\", x, w)", einsum("ij,kj->ki", i.x, i.w)),
      INGOT_ROW("einsum(\"ij->j\", x)", einsum("ij->j", i.x)),
      INGOT_ROW("linear(x, w)", linear(i.x, i.w)),
      INGOT_ROW("linear(x, w, r)", linear(i.x, i.w, i.r)),
      INGOT_ROW("scaled_dot_product_attention(q, q, q)",
                scaled_dot_product_attention(i.q, i.q, i.q)),
      INGOT_ROW("scaled_dot_product_attention(q, q * 2.0, q * 3.0, scale=0.3)",
                scaled_dot_product_attention(i.q, i.q * 2.0, i.q * 3.0, {.scale = 0.3})),
      INGOT_ROW("scaled_dot_product_attention(q, q, q, enable_gqa=true)",
                scaled_dot_product_attention(i.q, i.q, i.q, {.enable_gqa = true})),
      INGOT_ROW("scaled_dot_product_attention(q, q, q, is_causal=true)",
                scaled_dot_product_attention(i.q, i.q, i.q, {.is_causal = true})),
      INGOT_ROW("scaled_dot_product_attention(q, q, q, attn_mask=narrow(q, 2, 0, 4))",
                scaled_dot_product_attention(i.q, i.q, i.q, {.attn_mask = narrow(i.q, 2, 0, 4)})),
  };
}

std::vector<Row> movement_and_loss_rows() {
  return {
      INGOT_ROW("cumsum(t, axis=1, exclusive=true)", cumsum(i.t, 1, {.exclusive = true})),
      INGOT_ROW("cumprod(t, axis=0, reverse=true)", cumprod(i.t, 0, {.reverse = true})),
      INGOT_ROW("gather(x, k, axis=0)", gather(i.x, i.k, 0)),
      INGOT_ROW("iota(i32, [3, 5], axis=1)", iota(i.graph, ElementType::i32, {3, 5}, 1)),
      INGOT_ROW("extent(i64, [3, 5])", extent(i.graph, ElementType::i64, {3, 5})),
      INGOT_ROW("reshape(x, [3, -1])", reshape(i.x, {3, -1})),
      INGOT_ROW("transpose(t)", transpose(i.t)),
      INGOT_ROW("transpose(t, 0, -1)", transpose(i.t, 0, -1)),
      INGOT_ROW("transpose(t, dim0=2, dim1=1)", transpose(i.t, 1, 2)),
      INGOT_ROW("permute(t, [2, 0, 1])", transpose(i.t, {{2, 0, 1}})),
      INGOT_ROW("view(x, -1)", reshape(i.x, {-1})),
      INGOT_ROW("broadcast_to(s, 4, 3, -1)", broadcast(i.s, {4, 3, -1})),
      INGOT_ROW("broadcast(v, [4, 6])", broadcast(i.v, {4, 6})),
      INGOT_ROW("expand(s, [4, 3, 6])", broadcast(i.s, {4, 3, 6})),
      INGOT_ROW("slice(x, [1, 2], [3, 6])", slice(i.x, {1, 2}, {3, 6})),
      INGOT_ROW("slice(x, [0, 1], [4, 6], [3, 2])", slice(i.x, {0, 1}, {4, 6}, {{3, 2}})),
      INGOT_ROW("concat([x, y, x], axis=1)", concat({i.x, i.y, i.x}, 1)),
      INGOT_ROW("window(x, 1, -2, 7)", window(i.x, 1, -2, 7)),
      INGOT_ROW("narrow(x, 1, 2, 3)", narrow(i.x, 1, 2, 3)),
      INGOT_ROW("flatten(t, 1, 2)", flatten(i.t, 1, 2)),
      INGOT_ROW("squeeze(s)", squeeze(i.s)),
      INGOT_ROW("squeeze(s, axis=[1])", squeeze(i.s, {{1}})),
      INGOT_ROW("unsqueeze(x, 1)", unsqueeze(i.x, 1)),
      INGOT_ROW("repeat_interleave(x, 3)", repeat_interleave(i.x, 3)),
      INGOT_ROW("repeat_interleave(x, 3, dim=-1)", repeat_interleave(i.x, 3, -1)),
      INGOT_ROW("repeat(x, 2, 3)", repeat(i.x, {2, 3})),
      INGOT_ROW("tile(t, [2, 3])", tile(i.t, {2, 3})),
      INGOT_ROW("roll(x, 5)", roll(i.x, {5})),
      INGOT_ROW("roll(t, [1, -2], [0, 2])", roll(i.t, {1, -2}, {{0, 2}})),
      INGOT_ROW("pad(x, [1, 2, 3, 4], value=2.5)", pad(i.x, {1, 2, 3, 4}, 2.5)),
      INGOT_ROW("movedim(t, [0, 1], [2, 0])", movedim(i.t, {0, 1}, {2, 0})),
      INGOT_ROW("moveaxis(t, 0, 2)", movedim(i.t, {0}, {2})),
      INGOT_ROW("swapaxes(t, 0, 2)", transpose(i.t, 0, 2)),
      INGOT_ROW("swapdims(t, 0, 2)", transpose(i.t, 0, 2)),
      INGOT_ROW("unflatten(t, 1, [2, -1])", unflatten(i.t, 1, {2, -1})),
      INGOT_ROW("full_like(k, 3)", full_like(i.k, 3)),
      INGOT_ROW("zeros_like(x)", zeros_like(i.x)),
      INGOT_ROW("ones_like(k)", ones_like(i.k)),
      INGOT_ROW("type_as(x, k)", type_as(i.x, i.k)),
      INGOT_ROW("flip(x, 0)", flip(i.x, 0)),
      INGOT_ROW("flip(x, [0, -1])", flip(i.x, std::vector<int64_t>{0, -1})),
      INGOT_ROW("cat([x, y], dim=1)", concat({i.x, i.y}, 1)),
      INGOT_ROW("stack([x, y], dim=1)", stack({i.x, i.y}, 1)),
      INGOT_ROW("split(x, [2, 3, 1], dim=1)", split(i.x, {2, 3, 1}, 1)),
      INGOT_ROW("split(x, 4, dim=1)", split(i.x, 4, 1)),
      INGOT_ROW("chunk(x, 3, dim=-1)", chunk(i.x, 3, -1)),
      INGOT_ROW("index_select(x, 1, l)", index_select(i.x, 1, i.l)),
      INGOT_ROW("embedding(k, w)", embedding(i.k, i.w)),
      INGOT_ROW("one_hot(l, 5)", one_hot(i.l, 5)),
      INGOT_ROW("full([2, 3], 7, dtype=i32)", full(i.graph, ElementType::i32, {2, 3}, 7)),
      INGOT_ROW("zeros([2])", zeros(i.graph, ElementType::f32, {2})),
      INGOT_ROW("ones([2], dtype=bool)", ones(i.graph, ElementType::boolean, {2})),
      INGOT_ROW("arange(2, 9, 3, dtype=f16)", arange(i.graph, ElementType::f16, 2, 9, 3)),
      INGOT_ROW("triu(t, 1)", triu(i.t, 1)),
      INGOT_ROW("tril(t)", tril(i.t)),
      INGOT_ROW("mse_loss(x, y, reduction=\"sum\")", mse_loss(i.x, i.y, "sum")),
      INGOT_ROW("l1_loss(x, y, reduction=\"none\")", l1_loss(i.x, i.y, "none")),
      INGOT_ROW("smooth_l1_loss(x, y, beta=0.5, reduction=\"sum\")",
                smooth_l1_loss(i.x, i.y, 0.5, "sum")),
      INGOT_ROW("huber_loss(x, y, delta=0.5, reduction=\"sum\")", huber_loss(i.x, i.y, 0.5, "sum")),
      INGOT_ROW("huber(x, y)", huber_loss(i.x, i.y)),
      INGOT_ROW("kl_div(x, y, reduction=\"sum\")", kl_div(i.x, i.y, "sum")),
      INGOT_ROW("kl_div(x, y, log_target=true)", kl_div(i.x, i.y, "mean", true)),
      INGOT_ROW("cross_entropy(x, l, reduction=\"sum\")", cross_entropy(i.x, i.l, "sum")),
      INGOT_ROW(
          "cross_entropy(x, l, weight=v, ignore_index=2, label_smoothing=0.1)",
          cross_entropy(i.x, i.l, {.weight = i.v, .ignore_index = 2, .label_smoothing = 0.1})),
      INGOT_ROW("nll_loss(x, l, weight=v, ignore_index=2, reduction=\"none\")",
                nll_loss(i.x, i.l, {.weight = i.v, .ignore_index = 2, .reduction = "none"})),
      INGOT_ROW("binary_cross_entropy(x, y, weight=v)",
                binary_cross_entropy(i.x, i.y, {.weight = i.v})),
      INGOT_ROW(
          "binary_cross_entropy_with_logits(x, y, reduction=\"sum\", pos_weight=v)",
          binary_cross_entropy_with_logits(i.x, i.y, {.reduction = "sum", .pos_weight = i.v})),
      INGOT_ROW("hinge_loss(x, y)", hinge_loss(i.x, i.y)),
      INGOT_ROW("triplet_margin_loss(x, y, z, margin=0.5, eps=0.25)",
                triplet_margin_loss(i.x, i.y, i.z, 0.5, 0.25)),
      INGOT_ROW("margin_ranking_loss(x, y, z, margin=0.5, reduction=\"sum\")",
                margin_ranking_loss(i.x, i.y, i.z, 0.5, "sum")),
      INGOT_ROW("hinge_embedding_loss(x, y, margin=0.5)", hinge_embedding_loss(i.x, i.y, 0.5)),
      INGOT_ROW("cosine_embedding_loss(x, y, sum(z, 1), margin=0.5)",
                cosine_embedding_loss(i.x, i.y, sum(i.z, {.axes = {{1}}}), 0.5)),
      INGOT_ROW("gaussian_nll_loss(x, y, z, full=true, eps=0.5)",
                gaussian_nll_loss(i.x, i.y, i.z, {.full = true, .eps = 0.5})),
      INGOT_ROW("poisson_nll_loss(x, y, log_input=false, full=true, eps=0.5, reduction=\"none\")",
                poisson_nll_loss(
                    i.x, i.y, {.log_input = false, .full = true, .eps = 0.5, .reduction = "none"})),
      INGOT_ROW("cosine_similarity(x, y, axis=0, eps=0.5)", cosine_similarity(i.x, i.y, 0, 0.5)),
  };
}

/// `row` built and parsed: empty where both are the same graph.
std::string difference(const Row& row) {
  Values values;
  const std::vector<Var> built = row.build(values);
  std::string names, outputs;
  for (size_t n = 0; n < built.size(); ++n) {
    values.graph.output("r" + std::to_string(n), built[n]);
    const std::string name = "p" + std::to_string(n), comma = n ? ", " : "";
    names += comma + name;
    outputs += comma + "r" + std::to_string(n) + " = " + name;
  }
  const auto graph = values.graph.finish();
  if (!graph.ok()) return "builder: " + graph.status().message();
  const std::string text = std::string("graph g(") + kInputs + ") {\n  " + names + " = " +
                           row.spec + "\n  return " + outputs + "\n}\n";
  const auto parsed = parse(text);
  if (!parsed.ok()) return parsed.status().message();
  if (equivalent(graph->state().graph, parsed->state().graph)) return "";
  return "built:\n" + graph->text() + "parsed:\n" + parsed->text();
}

} // namespace

TEST_CASE("api: each operator called on the builder gives the graph of its spec") {
  std::set<std::string> called;
  for (const auto& rows :
       {arithmetic_rows(), elementwise_rows(), reduction_rows(), movement_and_loss_rows()})
    for (const Row& row : rows) {
      const std::string problem = difference(row);
      CHECK_MESSAGE(problem.empty(), row.spec, ": ", problem);
      called.insert(row.spec.substr(0, row.spec.find('(')));
    }
  for (const LibraryFunction& function : library_functions())
    CHECK_MESSAGE(called.count(function.name.str()), function.name.str());
}
