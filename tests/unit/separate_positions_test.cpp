// SPDX-License-Identifier: Apache-2.0
// separate_positions: products do not share a mask of positions.
#include "ir/passes/separate_positions.h"

#include "codegen/kernel/visit.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Graph passed(const std::string& spec) {
  const Graph parsed = llvm::cantFail(parse_graph("graph g(" + spec + " }", "case"));
  return llvm::cantFail(run_passes(parsed, {MathMode::relaxed}));
}

int64_t count(const Graph& graph, OpKind kind) {
  return llvm::count_if(graph.ops(), [&](const Op& op) { return op.kind == kind; });
}

const char* const kTwoLayers = "x: f16[4, 128, 64]) {\n"
                               "  y = scaled_dot_product_attention(x, x, x, is_causal=true)\n"
                               "  return scaled_dot_product_attention(y, y, y, is_causal=true)";

} // namespace

TEST_CASE("separate_positions: each product has its own mask") {
  const Graph graph = passed(kTwoLayers);
  CHECK(count(graph, OpKind::less_equal) == 1);
  const Graph separate = separate_positions(graph);
  CHECK(count(separate, OpKind::less_equal) == 2);
  CHECK(count(separate, OpKind::iota) == count(graph, OpKind::iota));
  CHECK(count(separate, OpKind::matmul) == 4);
}

TEST_CASE("separate_positions: two layers of causal attention are two kernels") {
  CompileOptions options;
  options.target = "sm_90a";
  auto parsed = llvm::cantFail(parse_graph(std::string("graph g(") + kTwoLayers + " }", "case"));
  auto compilation = compile_graph(parsed, options);
  REQUIRE(bool(compilation));
  CHECK(compilation->kernels.size() == 2);
  for (const Kernel& kernel : compilation->kernels)
    CHECK(computed_tile(std::get<TileBody>(kernel.body)));
}

TEST_CASE("separate_positions: values stay shared where no product is between their readers") {
  const auto stays = [](const std::string& spec) {
    const Graph graph = passed(spec);
    return separate_positions(graph).ops().size() == graph.ops().size();
  };
  CHECK(stays("x: f32[64, 64], y: f32[64, 64]) {\n"
              "  m = iota(i32, [64, 64], axis=0) >= iota(i32, [64, 64], axis=1)\n"
              "  z = where(m, x, 0.0)\n  return z, softmax(where(m, y + sum(z), 1.0))"));
  // A mask from memory, and sines: to read them takes less time.
  CHECK(stays("x: f32[64, 64], m: bool[64, 64]) {\n"
              "  y = where(m, matmul(x, x), 0.0)\n  return where(m, matmul(y, y), 0.0)"));
  CHECK(stays("x: f32[64, 64]) {\n  s = sin(iota(f32, [64, 64], axis=0) * 0.1)\n"
              "  y = matmul(x, x) * s\n  return matmul(y, y) * s"));
}
