// SPDX-License-Identifier: Apache-2.0
// cuts: the parts of an extent cover it, are no more than allowed, and have whole units.
#include "codegen/kernel/cuts.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

int64_t value(const Expr& expr, int64_t m) {
  return *expr.evaluate([&](llvm::StringRef) { return m; });
}

} // namespace

TEST_CASE("cuts: parts cover their extent, whether it is a number or named") {
  for (int64_t unit : {1, 8, 64})
    for (int64_t most : {0, 1, 3, 132})
      for (int64_t extent : {0, 1, 7, 64, 65, 191, 192, 193, 100000}) {
        CAPTURE(unit);
        CAPTURE(most);
        CAPTURE(extent);
        const AxisParts parts{unit, most};
        const int64_t width = value(part_width(Expr::symbol("m"), parts), extent);
        const int64_t count = value(part_count(Expr::symbol("m"), parts), extent);
        CHECK(width > 0);
        CHECK(width % unit == 0);
        CHECK(width * count >= extent);
        CHECK(width * (count - 1) < std::max<int64_t>(extent, 1));
        if (most > 0) CHECK(count <= most);
        CHECK(value(part_width(extent, parts), 0) == width);
        CHECK(value(part_count(extent, parts), 0) == count);
      }
}

TEST_CASE("cuts: a result of several extents has the product of their parts") {
  const Cuts cuts = {{10, {4, 0}}, {Expr::symbol("m"), {64, 0}}};
  CHECK(value(state_count(cuts), 65) == 3 * 2);
}
