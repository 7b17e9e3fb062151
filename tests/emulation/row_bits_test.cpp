// SPDX-License-Identifier: Apache-2.0
// The byte of a row's record (RowBits, tile/row_split.cuh): rows that suit each other by their
// bytes suit each other by their records, and bytes of several rows are those of the merged record.
// The record of a row by its elements (RowSplit).
#include "src/support/error.h"
#include "tests/emulation/hand_written.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace ingot;
using namespace ingot::emulation;

namespace {

struct Record {
  int32_t strong, flags;
};
constexpr int32_t kWeak = 1, kTooLarge = 2, kUnlisted = 4;

/// Writes whether rows a and b of K = depth suit by their bytes, and by their records; whether the
/// bytes of a and b, or'ed, are those of the merged record; the byte of a; and whether the rows
/// need their residuals.
KernelCode bits_kernel() {
  return hand_written(
      "bits", "tile/halves.cuh",
      "extern \"C\" __global__ void bits(const i32* a, const i32* b, i64 depth, i64* result) {\n"
      "  const HalvedRow first = {0, a[0], a[1]}, second = {0, b[0], b[1]};\n"
      "  const u32 of_a = RowBits::of(first, depth), of_b = RowBits::of(second, depth);\n"
      "  HalvedTile tile = HalvedTile::none();\n"
      "  tile.add(first, true);\n  tile.add(second, false);\n"
      "  const HalvedRow merged = {0, a[0] < b[0] ? a[0] : b[0], a[1] | b[1]};\n"
      "  result[0] = RowBits::suit(of_a, of_b);\n"
      "  result[1] = tile.suits(depth);\n"
      "  result[2] = (of_a | of_b) == RowBits::of(merged, depth);\n"
      "  result[3] = of_a;\n"
      "  result[4] = RowBits::need_residuals(of_a, of_b);\n}\n");
}

/// Writes the record of a row of `depth` elements, a multiple of 4, split into `planes` f16 each:
/// with weak elements that are not listed, and with listed ones if they can be.
KernelCode record_kernel(int planes) {
  const std::string name = fmt::format("record{}", planes);
  return hand_written(
      name, "tile/row_split.cuh",
      fmt::format(
          "extern \"C\" __global__ void {}(const f32* row, i64 depth, HalvedRow* record) {{\n"
          "  RowExtremes extremes;\n"
          "  for (i64 k = 0; k < depth; k += 4) extremes.add(load_vector<4>(row + k));\n"
          "  RowSplit<{}> split(extremes, extremes.least);\n  Vector<f16, 4> planes[{}];\n"
          "  for (i64 k = 0; k < depth; k += 4) split.run(load_vector<4>(row + k), planes);\n"
          "  record[0] = split.record(depth, false);\n"
          "  record[1] = split.record(depth, split.can_list());\n}}\n",
          name, planes, planes));
}

struct RowRecord {
  float factor;
  int32_t strong, flags;
};

/// The record by the words of row_split.cuh: each element is scaled and compared. lists: whether
/// weak elements are listed if they can be.
RowRecord record_of(const std::vector<float>& row, int planes, bool lists) {
  uint32_t largest = 0;
  for (const float x : row) {
    uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    largest = std::max(largest, bits & 0x7fffffffu);
  }
  int shift = std::min(14 + 127 - static_cast<int>(largest >> 23), 78);
  const bool is_too_large = shift < -66;
  if (is_too_large) shift = 0;
  RowRecord record = {std::ldexp(1.0f, -shift), 0, is_too_large ? kTooLarge : 0};
  bool can_list = planes == 2 && !is_too_large;
  for (const float x : row) {
    const double t = std::ldexp(std::abs(static_cast<double>(x)), shift);
    if (t > 0 && t < std::ldexp(1.0, planes == 2 ? -2 : -14)) record.flags |= kWeak;
    if (t > 0 && t < std::ldexp(1.0, -24)) can_list = false;
    if (t >= 512) ++record.strong;
  }
  if ((record.flags & kWeak) != 0 && !(lists && can_list)) record.flags |= kUnlisted;
  if (largest == 0) record.strong = static_cast<int32_t>(row.size());
  return record;
}

/// The counts of strong elements at which a byte changes, and one below each.
std::vector<int32_t> counts_of(int64_t depth) {
  std::vector<int32_t> counts;
  for (int64_t sixteenths = 0; sixteenths <= 16; ++sixteenths) {
    const auto least = static_cast<int32_t>((sixteenths * depth + 15) / 16);
    counts.push_back(least);
    counts.push_back(std::max(least - 1, 0));
  }
  return counts;
}

} // namespace

TEST_CASE("emulation: rows that suit by their bytes suit by their records") {
  auto library = library_of({bits_kernel()});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  int64_t decided = 0, undecided = 0;
  for (const int64_t depth : {0, 1, 15, 16, 17, 300, 4096})
    for (const int32_t of_a : counts_of(depth))
      for (const int32_t of_b : counts_of(depth))
        for (const int32_t flags : {0, kWeak, kTooLarge, kWeak | kUnlisted, kWeak | kTooLarge,
                                    kWeak | kTooLarge | kUnlisted}) {
          const Record a = {of_a, flags}, b = {of_b, 0};
          int64_t result[5] = {-1, -1, -1, -1, -1};
          const unsigned long long words[] = {reinterpret_cast<uintptr_t>(&a),
                                              reinterpret_cast<uintptr_t>(&b), uint64_t(depth),
                                              reinterpret_cast<uintptr_t>(result)};
          (*library)->kernel("bits")(words);
          CAPTURE(depth);
          CAPTURE(of_a);
          CAPTURE(of_b);
          CAPTURE(flags);
          CHECK(result[0] <= result[1]);
          CHECK(result[2] == 1);
          CHECK(result[3] < 256);
          if (flags == 0) CHECK(result[0] == 1);
          if ((flags & kTooLarge) != 0) CHECK(result[0] == 0);
          if (flags == kWeak) CHECK(result[0] == 1);
          if (flags != kWeak) CHECK(result[4] == 0);
          // 8 and 9 sixteenths are 17: the least at which bytes decide for weak rows.
          const bool suffices = depth == 4096 && of_a == 2048 && of_b == 2304;
          const bool does_not = depth == 4096 && of_a == 2047 && of_b == 2304;
          if (flags == (kWeak | kUnlisted) && suffices) CHECK(result[0] == 1);
          if (flags == (kWeak | kUnlisted) && does_not) CHECK(result[0] == 0);
          if (flags == kWeak && suffices) CHECK(result[4] == 0);
          if (flags == kWeak && does_not) CHECK(result[4] == 1);
          if (result[1] == 1) ++(result[0] == 1 ? decided : undecided);
        }
  CHECK(decided > undecided);
  CHECK(undecided > 0);
}

TEST_CASE("emulation: the record of a row says which of its elements are weak, to the last bit") {
  auto library = library_of({record_kernel(1), record_kernel(2)});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> rows = {{0, 0, 0, 0},
                                          {0, -0.0f, 1e-45f, -1e-45f},
                                          {1e-45f, 1.0f, 0, 0},
                                          {std::ldexp(1.0f, -127), 0, -0.0f, 0},
                                          {1.0f, kInfinity, 0, 0},
                                          {1e-30f, std::nanf(""), 0, 0},
                                          {std::ldexp(1.0f, 81), 1e-10f, 0, 0}};
  // The least shift, the greatest and some between them; elements at the limits and one step below.
  for (const int exponent : {80, 79, 14, 0, -1, -50, -63, -64, -65, -100})
    for (const int limit : {-2, -14, -24, 9}) {
      const float largest = std::ldexp(-1.5f, exponent);
      const float at = std::ldexp(1.0f, limit + std::max(exponent - 14, -78));
      rows.push_back({largest, at, 0, at});
      rows.push_back({at, largest, std::nextafter(at, 0.0f), -0.0f});
      rows.push_back({largest, 0, std::nextafter(at, kInfinity), at});
    }
  int weak = 0, listed = 0;
  for (const std::vector<float>& row : rows)
    for (const int planes : {1, 2}) {
      RowRecord records[2] = {};
      const unsigned long long words[] = {reinterpret_cast<uintptr_t>(row.data()), row.size(),
                                          reinterpret_cast<uintptr_t>(records)};
      (*library)->kernel(fmt::format("record{}", planes))(words);
      for (const bool lists : {false, true}) {
        const RowRecord expected = record_of(row, planes, lists);
        const RowRecord& record = records[lists ? 1 : 0];
        CAPTURE(row);
        CAPTURE(planes);
        CAPTURE(lists);
        CHECK(record.factor == expected.factor);
        CHECK(record.strong == expected.strong);
        CHECK(record.flags == expected.flags);
        weak += (record.flags & kWeak) != 0 ? 1 : 0;
        listed += (record.flags & (kWeak | kUnlisted)) == kWeak ? 1 : 0;
      }
    }
  CHECK(listed > 0);
  CHECK(weak > 2 * listed);
  CHECK(weak < static_cast<int>(4 * rows.size()));
}
