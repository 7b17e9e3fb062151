// SPDX-License-Identifier: Apache-2.0
// How blocks share the tiles of a matmul: when, into how many parts, and in which memory.
#include "codegen/kernel/split_k.h"
#include "codegen/schedule/choosers.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <map>

using namespace ingot;

namespace {

struct Row {
  const char* spec;
  MatmulPrecision precision;
  std::map<std::string, int64_t> dims;
  int64_t parts; ///< 0: the schedule does not divide
  int64_t tiles, sums, arrivals;
};

void check(const Row& row) {
  CAPTURE(row.spec);
  CompileOptions options;
  options.precision = row.precision;
  options.device = "a100"; // of 108 SMs
  auto compilation = compile_graph(llvm::cantFail(parse_graph(row.spec, "case")), options);
  REQUIRE(bool(compilation));
  const auto& body = std::get<TileBody>(compilation->kernels.front().body);
  REQUIRE_FALSE(body.mainloops.empty());
  const Schedule& schedule = compilation->schedules.front().front();
  auto value = [&](const Expr& expr) {
    return *expr.evaluate(
        [&](llvm::StringRef name) { return std::optional(row.dims.at(name.str())); });
  };
  CHECK(schedule.splits_k() == (row.parts > 0));
  CHECK(value(split_parts(body, schedule)) == std::max<int64_t>(row.parts, 1));
  CHECK(value(tile_count(body, schedule)) == row.tiles);
  CHECK(value(split_sums_bytes(body, schedule)) == row.sums);
  CHECK(value(split_arrivals_bytes(body, schedule)) == row.arrivals);
}

} // namespace

TEST_CASE("split-k: when K is split, and the memory that it takes") {
  constexpr auto kFma = MatmulPrecision::pedantic;
  constexpr int64_t kTile = 64 * 64 * 4;
  const Row rows[] = {
      // Two parts of 512 on tensor cores, of 256 in FMA; one less in K divides nothing.
      {"graph g(x: f16[20, 1023], w: f16[40, 1023]) { return linear(x, w) }", kFma, {}, 0, 1, 0, 0},
      {"graph g(x: f16[20, 1024], w: f16[40, 1024]) { return linear(x, w) }",
       kFma,
       {},
       2,
       1,
       2 * kTile,
       4},
      {"graph g(x: f32[20, 511], w: f32[40, 511]) { return linear(x, w) }", kFma, {}, 0, 1, 0, 0},
      {"graph g(x: f32[20, 512], w: f32[40, 512]) { return linear(x, w) }",
       kFma,
       {},
       2,
       1,
       2 * kTile,
       4},
      // At most 24 parts of up to 34000 K, more of more K, and no more blocks than SMs.
      {"graph g(x: f16[20, 32768], w: f16[40, 32768]) { return linear(x, w) }",
       kFma,
       {},
       24,
       1,
       24 * kTile,
       4},
      {"graph g(x: f16[20, 65536], w: f16[40, 65536]) { return linear(x, w) }",
       kFma,
       {},
       33,
       1,
       33 * kTile,
       4},
      {"graph g(x: f16[64, 65536], w: f16[1280, 65536]) { return linear(x, w) }",
       kFma,
       {},
       10,
       10,
       100 * 2 * kTile,
       40},
      {"graph g(x: f16[64, 65536], w: f16[7040, 65536]) { return linear(x, w) }",
       kFma,
       {},
       0,
       55,
       0,
       0},
      // A product of prepare is not split.
      {"graph g(param x: f16[20, 65536], param w: f16[40, 65536], y: f16[40]) {\n"
       "  return where(y > -2.0, linear(x, w), 0.0) }",
       kFma,
       {},
       0,
       1,
       0,
       0},
      // The shorter of two contractions decides, and there are two sums.
      {"graph g(x: f16[20, 1040], w: f16[40, 1040], y: f16[20, 1100], v: f16[40, 1100]) {\n"
       "  return linear(x, w) * linear(y, v) }",
       kFma,
       {},
       2,
       1,
       2 * 2 * kTile,
       4},
      // Named extents may be large or small.
      {"graph g(x: f16[m, k], w: f16[40, k]) { return linear(x, w) }",
       kFma,
       {{"m", 1}, {"k", 65536}},
       24,
       1,
       24 * 2 * kTile,
       4},
      {"graph g(x: f16[m, k], w: f16[40, k]) { return linear(x, w) }",
       kFma,
       {{"m", 1}, {"k", 1023}},
       1,
       1,
       0,
       0},
      {"graph g(x: f16[m, k], w: f16[40, k]) { return linear(x, w) }",
       kFma,
       {{"m", 128 * 55}, {"k", 65536}},
       1,
       55,
       0,
       0},
      {"graph g(x: f16[m, k], w: f16[40, k]) { return linear(x, w) }",
       kFma,
       {{"m", 0}, {"k", 65536}},
       24,
       0,
       0,
       0},
  };
  for (const Row& row : rows) check(row);
}
