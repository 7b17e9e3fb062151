// SPDX-License-Identifier: Apache-2.0
// Products in a row whose tiles stay in registers (tile/resident_tiles.cuh).
#include "codegen/schedule/choosers.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "tests/emulation/mutations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// A row of layers of the widths `widths`, the first of which is that of the rows.
std::string layers(const char* type, const char* rows, const std::vector<int>& widths,
                   bool transposed = true) {
  std::string inputs = fmt::format("x: {}[{}, {}]", type, rows, widths.front()), ops;
  for (size_t k = 1; k < widths.size(); ++k) {
    const int in = widths[k - 1], out = widths[k];
    inputs += fmt::format(", w{0}: {1}[{2}, {3}], b{0}: {1}[{4}]", k, type, transposed ? out : in,
                          transposed ? in : out, out);
    ops += fmt::format("  x = relu(matmul(x, w{0}{1}) + b{0})\n", k,
                       transposed ? ", transpose_b=true" : "");
  }
  return fmt::format("graph g({}) {{\n{}  return x }}", inputs, ops);
}

/// A case for sm_90a, by wgmma with so many slots and tiles of so many rows; 0: for sm_80, on a
/// card of few SMs, where one kernel has all layers.
Case resident(const std::string& spec, int64_t slots = 0, int64_t tile_m = 0,
              std::vector<DimBindings> sizes = {{}}) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.target = slots > 0 ? "sm_90a" : "sm_80";
  if (slots == 0) result.sm_count = 3;
  result.choice.wgmma = slots;
  result.choice.tile_m = tile_m;
  return result;
}

/// The failures of a case, or that it is not one kernel with the schedule `expected`.
std::string check_resident(const Case& one, const std::string& expected) {
  const std::string schedules = schedules_of(one);
  if (schedules.find(expected) != 0 || schedules.find('\n') + 1 != schedules.size())
    return "not one kernel of " + expected + ": " + schedules;
  return check_cases({one});
}

/// A case for each schedule by wgmma.
std::vector<Case> all_by_wgmma(const std::string& spec) {
  CompileOptions options;
  options.target = "sm_90a";
  const auto compilation =
      llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(spec, "case")), options));
  std::vector<Case> cases;
  for (const auto& schedules :
       nested_candidates(schedule_site(compilation, 0), compilation.schedules.front()))
    cases.push_back(resident(spec, schedules.front().slots, schedules.front().tile_m));
  return cases;
}

} // namespace

TEST_CASE("emulation: two layers in one kernel by mma.sync") {
  CHECK(check_resident(resident(layers("f16", "130", {40, 72, 24})), "resident mma") == "");
  CHECK(check_resident(resident(layers("bf16", "130", {40, 72, 24}, false)), "resident mma") == "");
  CHECK(check_resident(resident(layers("f16", "130", {300, 256, 256})), "resident mma") == "");
  CHECK(check_resident(resident(layers("f16", "33", {7, 13, 5})), "resident mma") == "");
  CHECK(check_resident(resident(layers("f16", "r", {24, 40, 8}), 0, 0, {{{"r", 200}}, {{"r", 1}}}),
                       "resident mma") == "");
}

TEST_CASE("emulation: two layers in one kernel by wgmma") {
  for (const bool is_transposed : {false, true}) {
    const std::string spec = layers("f16", "230", {40, 72, 24}, is_transposed);
    CHECK(check_resident(resident(spec, 3, 128), "resident wgmma f16 128x64x64") == "");
    CHECK(check_resident(resident(spec, 3, 192), "resident wgmma f16 192x64x64") == "");
    CHECK(check_resident(resident(spec, 2, 128), "resident wgmma f16 128x64x64") == "");
  }
  // Each B is longer than the ring. With few rows, two kernels are faster.
  const std::string wide = layers("bf16", "r", {264, 256, 200});
  CHECK(check_resident(resident(wide, 5, 128, {{{"r", 150}}}), "resident wgmma bf16 128x256x64") ==
        "");
  CHECK(check_resident(resident(layers("f16", "r", {24, 40, 8}), 2, 128,
                                {{{"r", 300}}, {{"r", 1}}, {{"r", 0}}}),
                       "resident wgmma") == "");
}

TEST_CASE("emulation: many layers in one kernel") {
  const std::string mlp = layers("f16", "230", {24, 72, 40, 128, 8});
  CHECK(check_resident(resident(mlp), "resident mma") == "");
  CHECK(check_resident(resident(mlp, 6, 128), "resident wgmma f16 128x64x64") == "");
  CHECK(check_resident(resident(mlp, 5, 192), "resident wgmma f16 192x64x64") == "");
  const std::string wide = layers("bf16", "130", {136, 256, 200, 256}, false);
  CHECK(check_resident(resident(wide), "resident mma") == "");
  CHECK(check_resident(resident(wide, 4, 128), "resident wgmma bf16 128x256x64") == "");
}

TEST_CASE("emulation: a last layer of one column") {
  for (const bool is_transposed : {false, true}) {
    const std::string mlp = layers("f16", "230", {40, 72, 1}, is_transposed);
    CHECK(check_resident(resident(mlp), "resident mma") == "");
    CHECK(check_resident(resident(mlp, 3, 128), "resident wgmma f16 128x64x64") == "");
  }
  // Its operand is stored, and it multiplies alone.
  Case stored = resident("graph g(x: f16[230, 40], w: f16[40, 72], v: f16[72, 1]) {\n"
                         "  h = relu(matmul(x, w))\n  return h, matmul(h, v) }");
  stored.target = "sm_90a";
  CHECK(schedules_of(stored).find("a mapped*8 b mapped*8 vec 2", 100) != std::string::npos);
  CHECK(check_cases({stored}) == "");
}

TEST_CASE("emulation: views between layers") {
  // The rows are one axis of the second product and two of the others.
  const std::string views =
      "graph g(x: f16[3, 70, 40], w: f16[40, 72], u: f16[72, 24], v: f16[24, 16], b: f16[72], "
      "p: f16[70, 1], r: f16[210, 24]) {\n"
      "  h = reshape(relu(matmul(x, w) + b) * p, shape=[210, 72])\n"
      "  h = reshape(relu(matmul(h, u)) + r, shape=[3, 70, 24])\n"
      "  return reshape(matmul(relu(h), v), shape=[3, 70, 4, 4]) }";
  CHECK(check_resident(resident(views), "resident mma") == "");
  CHECK(check_resident(resident(views, 4, 128), "resident wgmma f16 128x64x64") == "");
  // Each batch has a matrix of its own of one product, so that all count batches.
  const std::string own =
      "graph g(x: f16[420, 40], w: f16[40, 72], u: f16[3, 72, 24], v: f16[24, 16], b: f16[72]) {\n"
      "  h = reshape(relu(matmul(x, w) + b), shape=[3, 140, 72])\n"
      "  h = reshape(layer_norm(matmul(h, u)), shape=[420, 24])\n"
      "  return matmul(relu(h), v) }";
  CHECK(check_resident(resident(own), "resident mma") == "");
  CHECK(check_resident(resident(own, 3, 128), "resident wgmma f16 128x64x64") == "");
  const std::string first = "graph g(x: f16[3, t, 40], w: f16[3, 40, 72], u: f16[72, 24]) {\n"
                            "  return matmul(reshape(gelu(matmul(x, w)), shape=[-1, 72]), u) }";
  CHECK(check_resident(resident(first, 0, 0, {{{"t", 150}}, {{"t", 1}}}), "resident mma") == "");
  CHECK(check_resident(resident(first, 2, 128, {{{"t", 150}}, {{"t", 0}}}), "resident wgmma") ==
        "");
}

TEST_CASE("emulation: stages that read values of earlier tiles") {
  // The value that a product multiplies, one layer and two layers before; a value behind which a
  // norm or an activation makes the operand; the values of two tiles; one that another shape names.
  const std::string inputs = "graph g(x: f16[230, 40], a: f16[40, 72], b: f16[72, 72], "
                             "c: f16[72, 72], d: f16[72, 24]) {\n";
  for (const char* body :
       {"  h = relu(matmul(x, a))\n  return relu(matmul(h, b)) + h }",
        "  h = relu(matmul(x, a))\n  h = tanh(matmul(h, b)) + h\n  return matmul(h, c) * h }",
        "  h = matmul(x, a)\n  h = h + matmul(relu(matmul(h, b)), c)\n  return matmul(h, d) }",
        "  h = matmul(x, a)\n  h = h + matmul(relu(matmul(relu(h), b)), c)\n  return h }",
        "  h = matmul(x, a)\n  h = h + matmul(relu(matmul(layer_norm(h), b)), c)\n"
        "  return matmul(layer_norm(h), d) }",
        "  h = tanh(matmul(x, a))\n  k = tanh(matmul(h, b))\n  return matmul(k, c) + k * h }",
        "  h = tanh(matmul(x, a))\n  k = reshape(h, shape=[10, 23, 72])\n"
        "  return reshape(matmul(relu(k), b), shape=[230, 72]) + h }"}) {
    CAPTURE(body);
    CHECK(check_resident(resident(inputs + body), "resident mma f16") == "");
    const std::vector<Case> cases = all_by_wgmma(inputs + body);
    REQUIRE(!cases.empty());
    for (const Case& one : cases) CHECK(check_resident(one, "resident wgmma f16") == "");
  }
  // With 256 columns, threads have no registers for a value two products before.
  const std::string wide = "graph g(x: bf16[70, 256], a: bf16[256, 256], b: bf16[256, 256], "
                           "c: bf16[256, 256]) {\n  h = relu(matmul(x, a))\n";
  const Case one_back = resident(wide + "  return matmul(h, b) + h }", 4, 128);
  CHECK(check_resident(one_back, "resident wgmma bf16 128x256x64") == "");
  const Case two_back = resident(wide + "  return matmul(relu(matmul(h, b)), c) + h }");
  CHECK(check_cases({two_back}) == "");
}

TEST_CASE("emulation: layers in f32 are one kernel") {
  const auto check_f32 = [](Case one, MatmulPrecision precision = MatmulPrecision::highest,
                            bool is_short = false) {
    one.precision = precision;
    const bool has_thirds = is_short || precision == MatmulPrecision::highest;
    return check_resident(one, has_thirds ? "resident mma bf16x3" : "resident mma bf16x2");
  };
  CHECK(check_f32(resident(layers("f32", "130", {40, 72, 24}))) == "");
  CHECK(check_f32(resident(layers("f32", "70", {100, 128, 64, 33}, false))) == "");
  CHECK(check_f32(resident(layers("f32", "33", {7, 13, 5, 1}))) == "");
  CHECK(check_f32(resident(layers("f32", "r", {24, 40, 8}), 0, 0, {{{"r", 200}}, {{"r", 1}}})) ==
        "");
  for (MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium})
    CHECK(check_f32(resident(layers("f32", "70", {40, 64, 24})), precision) == "");
  // Products of few terms keep f32's accuracy.
  for (MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium})
    for (const std::vector<int>& widths : {std::vector{3, 64, 24}, std::vector{40, 16, 24}})
      CHECK(check_f32(resident(layers("f32", "70", widths)), precision, true) == "");
  const std::string inputs = "graph g(x: f32[150, 40], a: f32[40, 48], b: f32[48, 48], "
                             "c: f32[48, 48]) {\n";
  for (const char* body :
       {"  h = tanh(matmul(x, a))\n  return h + tanh(matmul(tanh(matmul(h, b)), c)) }",
        "  h = matmul(x, a)\n  return h * matmul(relu(matmul(layer_norm(h), b)), c) }"})
    CHECK(check_f32(resident(inputs + body)) == "");
}

TEST_CASE("emulation: layers in f32 whose sums thirds do not hold") {
  // The second layer forgets how large the sums of the first are.
  Case one = resident("graph g(x: f32[70, 40], a: f32[40, 32], b: f32[32, 24]) {\n"
                      "  h = matmul(exp(x + 60), a)\n  return matmul(1e26 / h, b) }");
  one.precision = MatmulPrecision::highest;
  CHECK(check_resident(one, "resident mma bf16x3") == "");
}

TEST_CASE("emulation: short attention between the products of its projections") {
  // The rows of the projections are those of all batches.
  const std::string attention =
      "graph g(x: f16[140, 40], q: f16[40, 24], k: f16[2, 56, 24], v: f16[2, 56, 32], "
      "w: f16[32, 40]) {\n"
      "  s = matmul(reshape(matmul(x, q), shape=[2, 70, 24]), k, transpose_b=true)\n"
      "  o = matmul(softmax(s * 0.25), v)\n"
      "  return matmul(reshape(o, shape=[140, 32]), w) }";
  CHECK(check_resident(resident(attention), "resident mma") == "");
  CHECK(check_resident(resident(attention, 3, 128), "resident wgmma f16 128x64x64") == "");
}

TEST_CASE("emulation: reductions of rows between layers") {
  const std::string norms =
      "graph g(x: f16[230, 40], w: f16[40, 96], u: f16[96, 72], v: f16[72, 24], g: f16[96], b: "
      "f16[96]) {\n"
      "  h = layer_norm(matmul(x, w), weight=g, bias=b)\n"
      "  s = softmax(matmul(h, u), axis=1)\n"
      "  return matmul(s * 2.0, v) }";
  CHECK(check_resident(resident(norms), "resident mma") == "");
  CHECK(check_resident(resident(norms, 5, 128), "resident wgmma f16 128x64x64") == "");
  CHECK(check_resident(resident(norms, 4, 192), "resident wgmma f16 192x64x64") == "");
}

TEST_CASE("emulation: a block computes tiles of several matrices") {
  // Each has operands B of its own, which then do not stay in shared memory.
  const std::string spec = "graph g(x: bf16[3, 5, 128], u: bf16[3, 128, 128], v: bf16[3, 128, 32])"
                           " {\n  return matmul(tanh(matmul(x, u)), v) }";
  CHECK(check_resident(resident(spec), "resident mma") == "");
  const std::vector<Case> cases = all_by_wgmma(spec);
  CHECK(!cases.empty());
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: columns behind layers are reduced over tiles of one size") {
  // Tensors of any alignment have tiles of as many rows, because the tiles share partial sums.
  const auto reduced = [](int n) {
    return fmt::format("graph g(x: f16[r, 40], w: f16[40, 72], u: f16[72, {0}]) {{\n"
                       "  h = matmul(relu(matmul(x, w)), u)\n  return h - mean(h, axis=0) }}",
                       n);
  };
  const std::vector<DimBindings> sizes = {{{"r", 300}}, {{"r", 1}}};
  for (const int n : {24, 72}) {
    const Case one = resident(reduced(n), 0, 0, sizes);
    REQUIRE(schedules_of(one).find("resident mma f16 128x") == 0);
    CHECK(check_cases({one}) == "");
  }
  const Case mapped = resident(reduced(72), 3, 128, sizes);
  REQUIRE(schedules_of(mapped).find("resident wgmma f16 128x128x64") == 0);
  CHECK(check_cases({mapped}) == "");
}

TEST_CASE("emulation: every operation that orders resident tiles by wgmma is needed") {
  // By one block: two tiles of rows, whose operands go through a ring of four slots for five B.
  const Case one = resident(layers("f16", "130", {152, 72, 24}), 4, 128);
  REQUIRE(schedules_of(one).find("resident wgmma f16 128x64x64") == 0);
  check_each(kBarrier, one, 1);
  check_each(kArrival, one, 8);
  check_each(kPhaseWait, one, 8);
  // Behind the last products, nobody fills the slots that two of them release.
  check_each(kProductWait, one, 4, {6, 8});
}

TEST_CASE("emulation: every operation that orders resident tiles by mma.sync is needed") {
  const Case one = resident(layers("f16", "130", {136, 72, 24}));
  REQUIRE(schedules_of(one).find("resident mma f16 64x32x64") == 0);
  check_each(kBarrier, one, 4);
  check_each(kWait, one, 4);
  check_each(kCommit, one, 4, {5, 11, 17}); // behind the last slot, nothing is copied
}
