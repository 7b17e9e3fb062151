// SPDX-License-Identifier: Apache-2.0
// The byte of a row's record (RowBits, tile/row_split.cuh): rows that suit each other by their
// bytes suit each other by their records, and bytes of several rows are those of the merged record.
#include "src/support/error.h"
#include "tests/emulation/hand_written.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace ingot;
using namespace ingot::emulation;

namespace {

struct Record {
  int32_t strong, flags;
};
constexpr int32_t kWeak = 1, kTooLarge = 2;

/// Writes whether rows a and b of K = depth suit by their bytes, and by their records; whether the
/// bytes of a and b, or'ed, are those of the merged record; and the byte of a.
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
      "  result[3] = of_a;\n}\n");
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
        for (const int32_t flags : {0, kWeak, kTooLarge, kWeak | kTooLarge}) {
          const Record a = {of_a, flags}, b = {of_b, 0};
          int64_t result[4] = {-1, -1, -1, -1};
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
          // 8 and 9 sixteenths are 17: the least at which bytes decide for weak rows.
          if (flags == kWeak && depth == 4096 && of_a == 2048 && of_b == 2304)
            CHECK(result[0] == 1);
          if (flags == kWeak && depth == 4096 && of_a == 2047 && of_b == 2304)
            CHECK(result[0] == 0);
          if (result[1] == 1) ++(result[0] == 1 ? decided : undecided);
        }
  CHECK(decided > undecided);
  CHECK(undecided > 0);
}
