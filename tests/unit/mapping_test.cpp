// SPDX-License-Identifier: Apache-2.0
// mapping: which operands are mapped, and the maps that kernels take.
#include "codegen/kernel/mapping.h"

#include "codegen/kernel/packing.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Compilation compiled(const std::string& graph,
                     MatmulPrecision precision = MatmulPrecision::highest) {
  CompileOptions options;
  options.target = "sm_90a";
  options.precision = precision;
  auto compilation = compile_graph(llvm::cantFail(parse_graph(graph, "case")), options);
  REQUIRE(bool(compilation));
  return std::move(*compilation);
}

/// The operands of a product: `mapped` or `packed` for A, then for B.
std::string operands(const std::string& graph) {
  const Compilation c = compiled(graph);
  std::string text;
  for (const Kernel& kernel : c.kernels)
    if (const auto* body = std::get_if<TileBody>(&kernel.body))
      for (const Mainloop& mainloop : body->mainloops)
        for (const MatrixOperand& operand : mainloop.operands)
          text += operand.map ? "mapped " : operand.packed ? "packed " : "fetched ";
  return text;
}

/// The tensor maps of the first variant of the first kernel.
std::vector<TensorMap> maps(const Compilation& c) {
  std::vector<TensorMap> result;
  for (const Argument& argument : c.module.kernels.front().variants.front().arguments)
    if (argument.kind == ArgumentKind::tensormap) result.push_back(argument.map);
  return result;
}

} // namespace

TEST_CASE("mapping: operands of 16 bits are mapped if each step is 16 bytes") {
  CHECK(operands("graph g(a: bf16[4096, 4096], b: bf16[4096, 4096]) {\n"
                 "  return matmul(a, b) }") == "mapped mapped ");
  CHECK(operands("graph g(a: bf16[m, 4096], b: bf16[n, 4096]) {\n"
                 "  return matmul(a, b, transpose_b=true) }") == "mapped mapped ");
  // A row of 4100 elements is 8 bytes more than a multiple of 16.
  CHECK(operands("graph g(a: bf16[4096, 4100], b: bf16[4100, 4096]) {\n"
                 "  return matmul(a, b) }") == "packed mapped ");
  // The step of a row is known at launch alone.
  CHECK(operands("graph g(a: f16[4096, k], b: f16[k, 4096]) { return matmul(a, b) }") ==
        "packed mapped ");
  // An earlier kernel stores tanh(a).
  CHECK(operands("graph g(a: f16[4096, 4096], b: f16[4096, 4096]) {\n"
                 "  return matmul(tanh(a), b) }") == "mapped mapped ");
  // Copies count in 32 bits.
  CHECK(operands("graph g(a: bf16[2147483656, 64], b: bf16[64, 64]) {\n"
                 "  return relu(matmul(a, b)) }")
            .find("mapped") == std::string::npos);
}

TEST_CASE("mapping: a map has the extents, steps and first element of its operand") {
  const Compilation c = compiled("graph g(a: bf16[2056, 4, 8192], b: bf16[4, 8192, 4096]) {\n"
                                 "  return matmul(transpose(a, 0, 1)[:, 8:, :], b) }");
  const std::vector<TensorMap> taken = maps(c);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].extents == std::array<Expr, 3>{8192, 2048, 4});
  CHECK(taken[0].strides == std::array<Expr, 2>{4 * 8192 * 2, 8192 * 2});
  CHECK(taken[0].box[0] == 64);
  CHECK(taken[1].extents == std::array<Expr, 3>{4096, 8192, 4});
  CHECK(taken[1].strides == std::array<Expr, 2>{4096 * 2, 8192 * 4096 * 2});
  CHECK(taken[1].box == std::array<int64_t, 3>{64, 64, 1});
  const Argument& map = c.module.kernels.front().variants.front().arguments[3];
  REQUIRE(map.kind == ArgumentKind::tensormap);
  CHECK(map.offset == Expr(8 * 4 * 8192 * 2));
}

TEST_CASE("mapping: heads side by side in a row have a common step, and may share a matrix") {
  const Compilation c =
      compiled("graph g(q: bf16[2, n, 16, 128], k: bf16[2, n, 4, 128], v: bf16[2, n, 4, 128]) {\n"
               "  return scaled_dot_product_attention(transpose(q, 1, 2), transpose(k, 1, 2),\n"
               "                                      transpose(v, 1, 2), enable_gqa=true) }");
  const std::vector<TensorMap> taken = maps(c);
  REQUIRE(taken.size() == 3);
  const Expr n = Expr::symbol("n");
  // Matrices are 128 elements apart. Those of a sample are 16 n of them.
  CHECK(taken[0].extents[0] == Expr(128));
  CHECK(taken[0].extents[1] == n);
  CHECK(taken[0].strides == std::array<Expr, 2>{16 * 128 * 2, 128 * 2});
  CHECK(taken[1].strides == std::array<Expr, 2>{4 * 128 * 2, 128 * 2});
  const auto matrices = [&](const TensorMap& map) {
    return map.extents[2].evaluate([](llvm::StringRef) { return std::optional<int64_t>(100); });
  };
  CHECK(matrices(taken[0]) >= 2 * 100 * 16);
  CHECK(matrices(taken[1]) >= 2 * 100 * 4);
}

TEST_CASE("mapping: copies round f32 operands of a product in TF32") {
  const Compilation c = compiled("graph g(a: f32[64, 512, 1024], b: f32[64, 1024, 2048]) {\n"
                                 "  return matmul(a, b) }",
                                 MatmulPrecision::high);
  CHECK(c.schedules.front().front().mainloop == MainloopKind::wgmma_swapped);
  const std::vector<TensorMap> taken = maps(c);
  REQUIRE(taken.size() == 2);
  for (const TensorMap& map : taken) CHECK(map.type == MapType::tf32);
  CHECK(taken[0].strides == std::array<Expr, 2>{1024 * 4, 512 * 1024 * 4});
  CHECK(taken[0].box == std::array<int64_t, 3>{32, 256, 1}); // all rows of a tile
  CHECK(taken[1].box == std::array<int64_t, 3>{32, 32, 1});
}

TEST_CASE("mapping: copies leave f32 operands of a product of thirds as they are") {
  const Compilation c = compiled("graph g(a: f32[32768, 4096], b: f32[4096, 64]) {\n"
                                 "  return matmul(a, b) }",
                                 MatmulPrecision::highest);
  CHECK(c.schedules.front().front().mainloop == MainloopKind::wgmma_thirds);
  const std::vector<TensorMap> taken = maps(c);
  REQUIRE(taken.size() == 2);
  for (const TensorMap& map : taken) CHECK(map.type == MapType::f32);
  CHECK(taken[0].box == std::array<int64_t, 3>{32, 128, 1}); // all rows of a tile
  CHECK(taken[1].box == std::array<int64_t, 3>{32, 32, 1});
}

TEST_CASE("mapping: swapped products reduce nothing and read no operand along the rows") {
  const auto is_swapped = [](const std::string& value) {
    const Compilation c = compiled("graph g(a: f32[64, 512, 1024], b: f32[64, 1024, 2048],\n"
                                   "        row: f32[512, 1], column: f32[2048]) {\n  return " +
                                       value + " }",
                                   MatmulPrecision::high);
    return c.schedules.front().front().mainloop == MainloopKind::wgmma_swapped;
  };
  CHECK(is_swapped("relu(matmul(a, b) * column)"));
  CHECK_FALSE(is_swapped("relu(matmul(a, b) * row)"));
  CHECK_FALSE(is_swapped("sum(relu(matmul(a, b)), axis=2)"));
}

TEST_CASE("mapping: each block of a cluster copies half of the columns of a tile") {
  const Compilation c = compiled("graph g(a: bf16[m, 1024], b: bf16[8192, 1024]) {\n"
                                 "  return swish(matmul(a, b, transpose_b=true)) }");
  const Schedule& s = c.schedules.front().front();
  REQUIRE(s.cluster == 2);
  const std::vector<TensorMap> taken = maps(c);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].box == std::array<int64_t, 3>{64, 16, 1}); // the rows of a warp in one product
  CHECK(taken[1].box == std::array<int64_t, 3>{64, s.tile_n / 2, 1});
  // Whole clusters: an odd number of row tiles has one more.
  const LaunchShape& launch = c.module.kernels.front().variants.front().launch;
  CHECK(launch.cluster == std::array<int64_t, 3>{2, 1, 1});
  const auto blocks = [&](int64_t rows) {
    return *launch.grid[0].evaluate([&](llvm::StringRef) { return rows; });
  };
  CHECK(blocks(s.tile_m) == 2 * 8192 / s.tile_n);
  CHECK(blocks(1 << 20) == c.target.device.sm_count);
}

TEST_CASE("mapping: a pair has one map of the operand that it shares") {
  const Compilation c = compiled("graph g(x: bf16[4096, 4096], gate: bf16[11008, 4096],\n"
                                 "        up: bf16[11008, 4096]) {\n"
                                 "  return swish(linear(x, gate)) * linear(x, up) }");
  CHECK(c.kernels.size() == 1);
  CHECK(maps(c).size() == 3);
}

TEST_CASE("mapping: the last variant takes pointers that no map describes") {
  const Compilation c = compiled("graph g(a: bf16[4096, 4096], b: bf16[4096, 4096]) {\n"
                                 "  return matmul(a, b) }");
  const std::vector<KernelVariant>& variants = c.module.kernels.front().variants;
  CHECK(variants.back().when.empty());
  for (const Argument& argument : variants.back().arguments)
    CHECK(argument.kind != ArgumentKind::tensormap);
  for (const KernelVariant& variant : llvm::ArrayRef(variants).drop_back())
    CHECK(variant.when.size() >= 2);
}
