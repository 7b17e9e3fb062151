// SPDX-License-Identifier: Apache-2.0
// stack_batches: rows of several matrices that meet one matrix are rows of one matmul.
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// The shapes of the first matmul's results, after the passes.
std::string product_of(const std::string& spec) {
  const Graph parsed = llvm::cantFail(parse_graph("graph g(" + spec + " }", "case"));
  const Graph graph = llvm::cantFail(run_passes(parsed, {MathMode::relaxed}));
  for (const Op& op : graph.ops())
    if (op.kind == OpKind::matmul) return text_of(graph.type(op.results[0]).shape);
  return "none";
}

} // namespace

TEST_CASE("stack_batches: a batch times one matrix is one matmul") {
  CHECK(product_of("x: f32[8, 5, 64], w: f32[64, 32]) { return matmul(x, w)") == "[40, 32]");
}

TEST_CASE("stack_batches: heads that share keys are rows of one matmul") {
  // One row of each head, with the heads of q in groups of 4.
  const std::string inputs = "q: f16[2, 32, 1, 64], k: f16[2, 8, 100, 64], v: f16[2, 8, 100, 64]";
  CHECK(product_of(inputs + ") {\n  return scaled_dot_product_attention(q, k, v, "
                            "enable_gqa=true)") == "[2, 8, 4, 100]");
  CHECK(product_of(inputs +
                   ") {\n  w = reshape(expand(reshape(k, [2, 8, 1, 100, 64]), [2, 8, 4, 100, "
                   "64]), [2, 32, 100, 64])\n  return matmul(q, w, transpose_b=true)") ==
        "[2, 8, 4, 100]");
  // A few rows of each, and a number of sequences that has a name.
  CHECK(product_of("q: f16[n, 6, 3, 64], k: f16[n, 2, 100, 64], v: f16[n, 2, 100, 64]) {\n"
                   "  return scaled_dot_product_attention(q, k, v, enable_gqa=true)") ==
        "[n, 2, 9, 100]");
}

TEST_CASE("stack_batches: heads with rows of their own for a tile stay a batch") {
  CHECK(product_of("q: f16[2, 8, 100, 64], k: f16[2, 2, 100, 64], v: f16[2, 2, 100, 64]) {\n"
                   "  return scaled_dot_product_attention(q, k, v, enable_gqa=true)") ==
        "[2, 8, 100, 100]");
  CHECK(product_of("q: f16[2, 8, n, 64], k: f16[2, 2, n, 64], v: f16[2, 2, n, 64]) {\n"
                   "  return scaled_dot_product_attention(q, k, v, enable_gqa=true)") ==
        "[2, 8, n, n]");
  CHECK(product_of("q: f16[2, 8, 2, 64], k: f16[2, 8, 100, 64]) {\n"
                   "  return matmul(q, k, transpose_b=true)") == "[2, 8, 2, 100]");
}
