// SPDX-License-Identifier: Apache-2.0
#include "ir/text/parser.h"

#include "ir/text/printer.h"
#include "tests/support/equivalence.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Graph parse(llvm::StringRef text) {
  auto graph = parse_graph(text, "test.ingot");
  if (!graph) {
    auto [code, message] = take_error(graph.takeError());
    FAIL_CHECK(message);
    return Graph();
  }
  return std::move(*graph);
}

/// Parses, prints, and demands that the print reads back to an equivalent graph and the same text.
std::string printed(llvm::StringRef text) {
  Graph graph = parse(text);
  std::string first = print_graph(graph);
  Graph again = parse(first);
  CHECK(equivalent(graph, again));
  CHECK(print_graph(again) == first);
  return first;
}

} // namespace

constexpr llvm::StringRef kInputs94 = R"(graph chain94(x: f32[1024, 8192],
              param w: f32[8192, 8192],
              param b: f32[8192],
              param bias: f32[8192],
              param gamma: f32[8192],
              param beta: f32[8192]) {
)";

TEST_CASE("chain 94 prints its primitive form") {
  std::string text = kInputs94.str() + R"(
  // Linear -> bias -> hardtanh -> mish -> GroupNorm
  h = linear(x, w, b) + bias
  return group_norm(mish(hardtanh(h)), gamma, beta, groups=256)
}
)";
  CHECK(printed(text) == kInputs94.str() + R"(  v6 = matmul(x, w, transpose_b=true)
  v7 = broadcast(b, shape=[1024, 8192])
  v8 = add(v6, v7)
  v9 = broadcast(bias, shape=[1024, 8192])
  h = add(v8, v9)
  v12 = maximum(h, -1.0)
  v14 = minimum(v12, 1.0)
  v16 = minimum(v14, 20.0)
  v17 = exp(v16)
  v19 = add(v17, 2.0)
  v20 = mul(v17, v19)
  v21 = add(v20, 2.0)
  v22 = div(v20, v21)
  v23 = mul(v14, v22)
  v24 = reshape(v23, shape=[1024, 256, 32])
  v25, v26 = moments(v24, axes=[2])
  v27 = reshape(v25, shape=[1024, 256, 1])
  v28 = reshape(v26, shape=[1024, 256, 1])
  v29 = broadcast(v27, shape=[1024, 256, 32])
  v30 = sub(v24, v29)
  v32 = add(v28, 1e-05)
  v33 = rsqrt(v32)
  v34 = reshape(gamma, shape=[256, 32])
  v35 = broadcast(v33, shape=[1024, 256, 32])
  v36 = mul(v30, v35)
  v37 = broadcast(v34, shape=[1024, 256, 32])
  v38 = mul(v36, v37)
  v39 = reshape(beta, shape=[256, 32])
  v40 = broadcast(v39, shape=[1024, 256, 32])
  v41 = add(v38, v40)
  v42 = reshape(v41, shape=[1024, 8192])
  return output=v42
}
)");
}

TEST_CASE("chain 22 prints its primitive form") {
  CHECK(printed(R"(
graph chain22(x: f32[m, 8192], param w: f32[8192, 8192]) {
  h = matmul(x, w, transpose_b=true) * 2
  z = logsumexp(clamp(h + h, min=-10, max=10), axis=1, keepdim=true)
  return z * mish(z)
}
)") == R"(graph chain22(x: f32[m, 8192],
              param w: f32[8192, 8192]) {
  v2 = matmul(x, w, transpose_b=true)
  h = mul(v2, 2.0)
  v5 = add(h, h)
  v7 = maximum(v5, -10.0)
  v9 = minimum(v7, 10.0)
  v10, v11 = max_sumexp(v9, axes=[1])
  v12 = reshape(v10, shape=[m, 1])
  v13 = reshape(v11, shape=[m, 1])
  v14 = log(v13)
  v15 = add(v12, v14)
  v16 = is_inf(v12)
  z = select(v16, v12, v15)
  v19 = minimum(z, 20.0)
  v20 = exp(v19)
  v21 = add(v20, 2.0)
  v22 = mul(v20, v21)
  v23 = add(v22, 2.0)
  v24 = div(v22, v23)
  v25 = mul(z, v24)
  v26 = mul(z, v25)
  return output=v26
}
)");
}

TEST_CASE("every composite round-trips") {
  for (llvm::StringRef body : {
           "return relu(x), relu6(x), hardtanh(x), clamp(x, max=2), sigmoid(x)",
           "return silu(x), swish(x), gelu(x), gelu(x, approximate=\"tanh\"), mish(x)",
           "return softplus(x), softplus(x, beta=2, threshold=10), softsign(x), hardsigmoid(x)",
           "return hardswish(x), leaky_relu(x, slope=0.1), elu(x), elu(x, alpha=2), selu(x)",
           "return log_sigmoid(x), square(x), x ** 2, x ** 3, x ** 0.5, 2 ** x, dropout(x)",
           "return softmax(x), softmax(x, axis=0), log_softmax(x), logsumexp(x)",
           "return var(x, axis=1), var(x, axis=0), std(x), norm(x), norm(x, p=1), norm(x, p=inf)",
           "return norm(x, p=3, axis=1, keepdim=true), normalize(x), normalize(x, p=1, axis=0)",
           "return layer_norm(x), layer_norm(x, g, g), layer_norm(x, dims=[64], eps=0.5)",
           "return group_norm(x, groups=4), group_norm(x, g, g, groups=1), rms_norm(x, g)",
           "return instance_norm(reshape(x, [m, 1, 1, 64]))",
           "return batch_norm(x, g, g, g, g), batch_norm(x, training=true)",
           "y, a, b = batch_norm(x, g, g, g, g, training=true)\n return y, a, b",
           "return max_pool1d(x, 4), avg_pool1d(x, 5), max_pool1d(x, kernel=64)",
           "return mse_loss(x, x), l1_loss(x, g, reduction=\"sum\"), smooth_l1_loss(x, g, "
           "beta=0.5)",
           "return huber_loss(x, g, reduction=\"none\"), huber(x, g), kl_div(x, x), hinge_loss(x, "
           "g)",
           "return cross_entropy(x, t), cross_entropy(x, t, reduction=\"none\")",
           "return triplet_margin_loss(x, x, g), cosine_similarity(x, x)",
           "return scaled_dot_product_attention(x, x, x), scaled_dot_product_attention(x, x, x, "
           "scale=2)",
           "return linear(x, w), linear(x, w, g), linear(reshape(x, [m, 2, 32]), reshape(w, [128, "
           "32]))",
           "return linear(g, w), matmul(x, g), matmul(g, w), matmul(g, g)",
           "return cumsum(x), cumprod(x, axis=0), cumsum(x, exclusive=true), cumprod(x, "
           "reverse=true)",
           "return cumsum(x, exclusive=true, reverse=true), flip(x, 1)",
           "return sum(x), mean(x, axis=0), prod(x, axes=[0, 1]), reduce_max(x, axis=-1, "
           "keepdim=true)",
           "return amax(x), amin(x, 1), argmax(x), argmin(x, axis=1, keepdim=true), argmax(x, "
           "keepdim=true)",
           "mean0, var0 = moments(x, axis=1)\n m1, s1 = max_sumexp(x)\n return mean0, var0, m1, s1",
           "return concat([x, x], axis=1), slice(x, starts=[0, 1], stops=[-1, 9], steps=[1, 3])",
           "return window(x, axis=1, start=-2, extent=300), window(x, 1, 60, 8)",
           "return narrow(x, axis=1, start=2, length=3), transpose(x), permute(x, [1, 0])",
           "return reshape(x, [m, -1, 8]), reshape(x, [2 * m, 32]), reshape(x, [64 * m]), "
           "flatten(x)",
           "return squeeze(reshape(x, [m, 1, 64])), unsqueeze(x, 0), unsqueeze(x, axis=-1)",
           "return expand(g, [m, 64]), broadcast(1, shape=[m]), where(x > 0, x, 0), select(x < 0, "
           "-1, x)",
           "return cast(x, f16), cast(x, f16) * 0.1, cast(t, f32), t + 1, t * t, t < 3 and t >= 0",
           "return not (x == 0) or is_nan(x), is_inf(x) == false, x != nan, -x, abs(x), sign(t)",
           "return iota(i64, [m, 4], axis=1), gather(x, iota(i32, [m, 1]), axis=1), constant(3, "
           "i64)",
           "return extent(f32, [m]) * x, extent(i64, [m, 4]), extent(f16, [2 * m])",
           "return x * inf, x * -inf, x * nan, x + 1e-300, x + 0.1, x - -0.0, x / 16777217, x + "
           "1e22",
       }) {
    CAPTURE(body);
    printed("graph g(x: f32[m, 64], param w: f32[64, 64], param g: f32[64], t: i64[m]) { " +
            body.str() + "\n}");
  }
}

TEST_CASE("parser: a scalar that is reduced stays a scalar, whatever axes are named") {
  for (const char* const op : {"any", "all", "std", "var", "norm"})
    for (const char* const axes : {"axis=[]", "axis=0", "axis=-1, keepdim=true"}) {
      const std::string spec = fmt::format("graph g(x: f32[]) {{ return {}(x, {}) }}", op, axes);
      CAPTURE(spec);
      const Graph graph = llvm::cantFail(parse_graph(spec, "test"));
      CHECK(graph.type(graph.outputs()[0].value).shape.empty());
    }
}
