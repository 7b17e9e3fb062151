// SPDX-License-Identifier: Apache-2.0
// Two products whose sum is one tile (tile/matmul_sum.cuh, tile/wgmma_sum.cuh).
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/wgmma.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "tests/emulation/mutations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

struct Sizes {
  const char *rows, *columns, *first, *second;
};

/// f(x w, y v, c), where `transposed` weights are those of a linear layer.
std::string summed(const char* type, const Sizes& of, const char* f, bool transposed) {
  const auto weight = [&](const char* k) {
    return transposed ? fmt::format("{}[{}, {}]", type, of.columns, k)
                      : fmt::format("{}[{}, {}]", type, k, of.columns);
  };
  const char* const flag = transposed ? ", transpose_b=true" : "";
  return fmt::format("graph g(x: {0}[{1}, {3}], w: {5}, y: {0}[{1}, {4}], v: {6}, c: {0}[{2}]) {{\n"
                     "  p = matmul(x, w{7})\n  q = matmul(y, v{7})\n  return {8} }}",
                     type, of.rows, of.columns, of.first, of.second, weight(of.first),
                     weight(of.second), flag, f);
}

Case sum_case(const std::string& spec, const char* target, std::vector<DimBindings> sizes = {{}}) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.target = target;
  return result;
}

/// The failures of a case, or that it is not one kernel with one tile of sums.
std::string check_summed(const Case& one) {
  const std::string schedules = schedules_of(one);
  if (schedules.find("mma f16") == std::string::npos ||
      schedules.find('\n') + 1 != schedules.size())
    return "not one kernel: " + schedules;
  return check_cases({one});
}

/// A case for each schedule by wgmma.
std::vector<Case> all_by_wgmma(const std::string& spec) {
  CompileOptions options;
  options.target = "sm_90a";
  const auto compilation =
      llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(spec, "case")), options));
  std::vector<Case> cases;
  for (const auto& schedules : wgmma_candidates(schedule_site(compilation, 0), {})) {
    cases.push_back(sum_case(spec, "sm_90a"));
    cases.back().choice = choice_of(schedules.front());
  }
  return cases;
}

} // namespace

TEST_CASE("emulation: the sum of two products is one tile") {
  for (const bool is_transposed : {false, true})
    for (const char* f : {"p + q", "relu(p + c) + q * 0.5", "p + c + q * 0.25", "c - p + q",
                          "tanh(q - p) * c", "sum(p + q, axis=1)"}) {
      CAPTURE(f);
      const std::string spec = summed("f16", {"150", "136", "72", "200"}, f, is_transposed);
      CHECK(check_summed(sum_case(spec, "sm_80")) == "");
      Case by_wgmma = sum_case(spec, "sm_90a");
      // Of two kernels, a variant may be for the alignment of one tensor alone.
      by_wgmma.depth = Case::Depth::results;
      CHECK(check_cases({by_wgmma}) == "");
    }
}

TEST_CASE("emulation: sums of two products of any sizes and alignments") {
  for (const auto& of : std::vector<Sizes>{{"70", "33", "5", "17"}, {"129", "257", "96", "40"}}) {
    const std::string spec = summed("f16", of, "p + q * 2.0 + c", true);
    CHECK(check_summed(sum_case(spec, "sm_80")) == "");
    CHECK(check_summed(sum_case(spec, "sm_90a")) == "");
  }
  // Named rows and columns, and a named K of the second product, which may be 0.
  const std::vector<DimBindings> sizes = {{{"m", 140}, {"n", 72}, {"k", 100}},
                                          {{"m", 1}, {"n", 1}, {"k", 1}},
                                          {{"m", 0}, {"n", 8}, {"k", 16}},
                                          {{"m", 40}, {"n", 130}, {"k", 0}}};
  for (const char* target : {"sm_80", "sm_90a"}) {
    const std::string second = summed("f16", {"m", "72", "1000", "k"}, "p * 0.5 + q", false);
    CHECK(check_cases({sum_case(second, target, sizes)}) == "");
    const std::string all = summed("f16", {"m", "n", "40", "72"}, "p + q", true);
    CHECK(check_summed(sum_case(all, target, sizes)) == "");
  }
}

TEST_CASE("emulation: blocks share the contraction of a sum of products") {
  // The parts begin in either product, and one has the end of the first and the begin of the
  // second.
  for (const char* target : {"sm_80", "sm_90a"}) {
    const Case one =
        sum_case(summed("f16", {"30", "64", "1000", "1500"}, "p * 0.5 + q + c", true), target);
    REQUIRE(schedules_of(one).find("split-k") != std::string::npos);
    CHECK(check_summed(one) == "");
  }
}

TEST_CASE("emulation: sums of two products by wgmma, by every schedule") {
  for (const bool is_transposed : {false, true}) {
    const std::vector<Case> cases =
        all_by_wgmma(summed("f16", {"300", "264", "200", "136"}, "p + q * 0.5 + c", is_transposed));
    REQUIRE(cases.size() > 4);
    CHECK(check_cases(cases) == "");
  }
}

TEST_CASE("emulation: every operation that orders the sum of two products is needed") {
  Case by_mma = sum_case(summed("f16", {"70", "64", "136", "200"}, "p + q", true), "sm_80");
  by_mma.sm_count = 1;
  REQUIRE(schedules_of(by_mma).find("mma f16") == 0);
  // Behind the last slot of a product nothing is read that is used.
  check_each(kWait, by_mma, 8, {5, 6, 14});
  check_each(kBarrier, by_mma, 8, {5, 6, 14});
  const std::vector<Case> by_wgmma =
      all_by_wgmma(summed("f16", {"130", "128", "136", "200"}, "p + q", true));
  REQUIRE(!by_wgmma.empty());
  check_each(kPhaseWait, by_wgmma.front(), 8);
  // No slot comes before the first of a product, and nobody fills the last ones again.
  check_each(kProductWait, by_wgmma.front(), 8, {0, 4, 9, 13, 14, 15, 16});
}
