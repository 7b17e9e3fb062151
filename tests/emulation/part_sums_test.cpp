// SPDX-License-Identifier: Apache-2.0
// The sums of parts of a contraction (tile/split_k.cuh), where plain sums lose a part: as
// functions, and as a promoted matmul uses them.
#include "src/support/error.h"
#include "tests/emulation/cases.h"
#include "tests/emulation/hand_written.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// A one and then terms that are each below half its last bit; together almost six of its bits.
constexpr int kTerms = 24;
constexpr float kSmall = 0x1p-25f;
constexpr float kSum = 1.0f + 6 * 0x1p-23f; // 23 * 2^-25 are 5.75 bits

/// Kernels that sum `count` terms as PartSum<kCompensated> does.
std::vector<KernelCode> sum_kernels() {
  std::vector<KernelCode> kernels;
  for (const char* compensated : {"true", "false"}) {
    const std::string entry = fmt::format("sum_{}", compensated);
    kernels.push_back(hand_written(
        entry, "tile/split_k.cuh",
        fmt::format(
            "extern \"C\" __global__ void {0}(const f32* terms, i64 count, f32* result) {{\n"
            "  PartSum<{1}> sum;\n"
            "  for (i64 i = 0; i < count; ++i) sum.add(terms[i]);\n"
            "  *result = sum.result();\n}}\n",
            entry, compensated)));
  }
  return kernels;
}

/// A kernel that writes part_of<16>(k, parts, part), begin and end.
KernelCode range_kernel() {
  return hand_written(
      "range", "tile/split_k.cuh",
      "extern \"C\" __global__ void range(i64 k, i64 parts, i64 part, i64* result) {\n"
      "  const KRange range = part_of<16>(k, parts, part);\n"
      "  result[0] = range.begin;\n  result[1] = range.end;\n}\n");
}

float sum_of(const KernelLibrary& library, const char* entry, const std::vector<float>& terms) {
  float result = std::numeric_limits<float>::quiet_NaN();
  const unsigned long long words[] = {reinterpret_cast<uintptr_t>(terms.data()), terms.size(),
                                      reinterpret_cast<uintptr_t>(&result)};
  library.kernel(entry)(words);
  return result;
}

} // namespace

TEST_CASE("emulation: compensated sums of parts are off by one rounding") {
  auto library = library_of(sum_kernels());
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  std::vector<float> terms(kTerms, kSmall);
  terms[0] = 1.0f;
  CHECK(sum_of(**library, "sum_true", terms) == kSum);
  CHECK(sum_of(**library, "sum_false", terms) == 1.0f); // the terms do tell the two apart
  // The largest term last, and one that cancels it.
  CHECK(sum_of(**library, "sum_true", {kSmall, 1.0f, -1.0f, kSmall}) == 2 * kSmall);
  CHECK(sum_of(**library, "sum_false", {kSmall, 1.0f, -1.0f, kSmall}) == kSmall);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(sum_of(**library, "sum_true", {1.0f, -kInfinity, 2.0f}) == -kInfinity);
  CHECK(sum_of(**library, "sum_true", {3e38f, 3e38f, 1.0f}) == kInfinity);
  const float none = sum_of(**library, "sum_true", {kInfinity, -kInfinity, 1.0f});
  CHECK(none != none);
}

TEST_CASE("emulation: parts of a contraction are whole tiles, balanced, and none is empty") {
  auto library = library_of({range_kernel()});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  int64_t checked = 0;
  for (const int64_t k : {1, 16, 17, 500, 512, 1031, 3000, 12320, 1 << 20})
    for (int64_t parts = 1; parts <= std::min<int64_t>(24, (k + 15) / 16); ++parts) {
      CAPTURE(k);
      CAPTURE(parts);
      int64_t end = 0, least = INT64_MAX, most = 0;
      for (int64_t part = 0; part < parts; ++part) {
        int64_t range[2] = {-1, -1};
        const unsigned long long words[] = {uint64_t(k), uint64_t(parts), uint64_t(part),
                                            reinterpret_cast<uintptr_t>(range)};
        (*library)->kernel("range")(words);
        CHECK(range[0] == end);
        CHECK(range[0] % 16 == 0);
        end = range[1];
        const int64_t tiles = (range[1] - range[0] + 15) / 16;
        least = std::min(least, tiles);
        most = std::max(most, tiles);
        ++checked;
      }
      CHECK(end == k);
      CHECK(least >= 1);
      CHECK(most <= least + 1);
    }
  CHECK(checked > 1000);
}

TEST_CASE("emulation: promoted matmuls compensate the sums of their parts") {
  // 24 parts of 256: the first sums to one, each of the others to a term too small for a plain sum.
  auto parts = [](const std::string& result) {
    return Case{"graph g(a: f32[3, 6144], b: f32[6144, 5], c: f32[6144, 5]) {\n"
                "  ones = where(a > 2.0, a, 1.0)\n"
                "  first = iota(i32, [24, 256, 5], axis=1) == 0\n"
                "  whole = iota(i32, [24, 256, 5], axis=0) == 0\n"
                "  terms = where(first, where(whole, 1.0, 0.0000000298023223876953125), 0.0)\n"
                "  h = matmul(ones, reshape(terms, [6144, 5]) + b * 0.0)\n" +
                    result + " }",
                {{}},
                MatmulPrecision::highest};
  };
  for (const Case& one :
       {parts("  return h"), parts("  one = where(iota(i32, [6144, 5], axis=0) == 0, 1.0, 0.0)\n"
                                   "  return h * matmul(ones, one + c * 0.0)")}) {
    CHECK(schedules_of(one).find("split-k at most 24") != std::string::npos);
    const BuiltCase built = BuiltCase::make(one);
    const Outcome outcome = built.run({});
    REQUIRE(built.judge(outcome) == "");
    CAPTURE(one.spec);
    for (int64_t i = 0; i < 15; ++i) CHECK(outcome.outputs[0].real(i) == kSum);
  }
}
