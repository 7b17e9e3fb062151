// SPDX-License-Identifier: Apache-2.0
// f32 products by wgmma from packed halves, as the compiler generates them for sm_90a: results,
// stages behind them, and the guard that computes tiles again whose rows do not suit.
#include "codegen/schedule/choose.h"
#include "ir/text/parser.h"
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <tuple>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// A case whose first kernel multiplies by wgmma.
Case wgmma(const std::string& spec, std::vector<DimBindings> sizes = {{}}, int slots = 3) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.halves_from = std::numeric_limits<int64_t>::min();
  result.target = "sm_90a";
  result.choice.wgmma = slots;
  return result;
}

Case product(int m, int n, int k, const std::string& body) {
  return wgmma(fmt::format("graph g(a: f32[{0}, {2}], b: f32[{2}, {1}], s: f32[{2}]) {{\n"
                           "  return {3} }}",
                           m, n, k, body));
}

bool has_wgmma(const Case& one) { return schedules_of(one).find("wgmma f16x3") == 0; }

} // namespace

TEST_CASE("emulation: f32 products by wgmma, however the operands lie") {
  const Case cases[] = {
      wgmma("graph g(a: f32[67, 300], param b: f32[131, 300]) {\n"
            "  return matmul(a, b, transpose_b=true) }"),
      wgmma("graph g(a: f32[264, 130], b: f32[264, 72]) {\n"
            "  return matmul(a, b, transpose_a=true) }"),
      wgmma("graph g(a: f32[3, 65, 257], param b: f32[257, 66]) { return matmul(a, b) }"),
      wgmma("graph g(a: f32[3, 65, 257], b: f32[3, 257, 66]) { return matmul(a, b) }"),
      wgmma("graph g(a: f32[m, 256], param b: f32[256, 193]) { return matmul(a, b) }",
            {{{"m", 1}}, {{"m", 129}}, {{"m", 0}}}),
      wgmma("graph g(a: f32[m, k], b: f32[n, k]) { return matmul(a, b, transpose_b=true) }",
            {{{"m", 5}, {"n", 200}, {"k", 300}},
             {{"m", 5}, {"n", 6}, {"k", 4}},
             {{"m", 200}, {"n", 5}, {"k", 1}},
             {{"m", 5}, {"n", 6}, {"k", 0}},
             {{"m", 5}, {"n", 0}, {"k", 4}},
             {{"m", 0}, {"n", 6}, {"k", 4}}},
            2),
  };
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: stages behind f32 products by wgmma") {
  // Segments that no warp has go through scratch, which leaves memory for two slots.
  Case segments = product(70, 126, 260, "group_norm(silu(matmul(a, b)), groups=6)");
  segments.choice.wgmma = 2;
  const Case cases[] = {
      product(70, 120, 300, "softmax(matmul(relu(a), b) + 1.0)"),
      product(70, 128, 260, "group_norm(silu(matmul(a, b)), groups=4)"),
      segments,
      product(130, 64, 260, "sum(relu(matmul(a, b)), axis=0)"),
      product(66, 300, 260, "layer_norm(matmul(a, b))"),
      product(65, 66, 4500, "matmul(abs(a), abs(b))"), // sums that move to totals
      product(64, 64, 4096, // powers of rows and columns that only together are in range
              "matmul(a * 0.0 + 1.7014118346046923e+38, b * 0.0 + 1.52587890625e-05)"),
  };
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: tiles by wgmma begin with whole blocks of packed rows and whole segments") {
  for (const auto& [columns, groups, is_legal] :
       {std::tuple(240, 10, false), {640, 2, false}, {256, 4, true}}) {
    CAPTURE(columns);
    CompileOptions options;
    options.target = "sm_90a";
    options.halves_from = std::numeric_limits<int64_t>::min();
    auto graph = parse_graph(fmt::format("graph g(a: f32[140, 260], b: f32[260, {}]) {{\n"
                                         "  return group_norm(matmul(a, b), groups={}) }}",
                                         columns, groups),
                             "case");
    REQUIRE(bool(graph));
    auto compilation = compile_graph(std::move(*graph), options);
    REQUIRE(bool(compilation));
    ScheduleChoice choice;
    choice.wgmma = 2;
    auto schedules = choose_schedules(schedule_site(*compilation, 0), choice);
    CHECK(bool(schedules) == is_legal);
    if (!schedules) llvm::consumeError(schedules.takeError());
  }
}

TEST_CASE("emulation: a row that is read twice is packed") {
  CHECK(check_cases({product(3, 5, 8260, "matmul(a, b)")}) == "");
}

TEST_CASE("emulation: a guard computes the tiles again that halves do not suit") {
  // Factors that undo one another along k: small elements of a row meet large ones of a column.
  const std::string skewed = "matmul(a * exp(s * 20.0), b * exp(reshape(s, [{}, 1]) * -20.0))";
  Case some = wgmma("graph g(a: f32[200, 300], param b: f32[300, 140]) {\n"
                    "  return relu(matmul(a * where(iota(f32, [200, 300], axis=0) > 150.0,\n"
                    "    exp(iota(f32, [200, 300], axis=1) * 0.3 - 45.0), 1.0), b)) }");
  Case norm =
      product(70, 128, 260, "group_norm(" + fmt::format(fmt::runtime(skewed), 260) + ", groups=4)");
  Case non_finite = wgmma("graph g(a: f32[70, 300], param b: f32[131, 300]) {\n"
                          "  return matmul(a, b, transpose_b=true) }");
  non_finite.non_finite = true;
  const Case cases[] = {
      product(70, 130, 300, fmt::format(fmt::runtime(skewed), 300)), some, norm,
      product(130, 70, 300, "sum(relu(" + fmt::format(fmt::runtime(skewed), 300) + "), axis=0)"),
      non_finite};
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}
