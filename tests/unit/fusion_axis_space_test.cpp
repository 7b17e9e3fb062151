// SPDX-License-Identifier: Apache-2.0
// The axes of a group as equations: which axes join, which are split, and which do not line up.
#include "ir/fusion/axis_space.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

std::string factors(const AxisSpace& space, const AtomList& list) {
  std::string text;
  for (Atom leaf : space.leaves(list))
    text += (text.empty() ? "" : "x") + space.extent(leaf).text();
  return text;
}

AtomList joined(const AtomShape& shape) {
  AtomList result;
  for (const AtomList& list : shape) result.append(list);
  return result;
}

} // namespace

TEST_CASE("axis space: an extent of 1 has no factors") {
  AxisSpace space;
  CHECK(space.fresh(Dim(1)).empty());
  CHECK(space.fresh(Dim(0)).size() == 1);
  CHECK(space.equate(space.fresh(Dim(1)), {}));
  CHECK_FALSE(space.equate(space.fresh(Dim(2)), {}));
}

TEST_CASE("axis space: equal extents become one atom") {
  AxisSpace space;
  const AtomList a = space.fresh(Dim(6)), b = space.fresh(Dim(6)), c = space.fresh(Dim(6));
  REQUIRE(space.equate(a, b));
  CHECK(space.leaves(a) == space.leaves(b));
  CHECK(space.leaves(a) != space.leaves(c));
  REQUIRE(space.equate(c, b));
  CHECK(space.leaves(a) == space.leaves(c));
  CHECK(space.equate(a, c));
}

TEST_CASE("axis space: a merge splits the merged axes, for all that share them") {
  AxisSpace space;
  const AtomList flat = space.fresh(Dim(24)), other = space.fresh(Dim(24));
  REQUIRE(space.equate(flat, other));
  const AtomShape parts = space.fresh(Shape{2, 3, 4});
  REQUIRE(space.equate(joined(parts), flat));
  CHECK(factors(space, other) == "2x3x4");
  CHECK(space.leaves(other) == space.leaves(parts));
  const AtomShape coarse = space.fresh(Shape{6, 4});
  REQUIRE(space.equate(joined(coarse), flat));
  CHECK(factors(space, coarse[0]) == "2x3");
  CHECK(space.leaves(coarse[1]) == space.leaves(parts[2]));
}

TEST_CASE("axis space: factors that do not line up are refused") {
  AxisSpace space;
  CHECK_FALSE(space.equate(joined(space.fresh(Shape{2, 3})), joined(space.fresh(Shape{3, 2}))));
  AxisSpace again;
  CHECK_FALSE(again.equate(again.fresh(Dim(6)), again.fresh(Dim(9))));
}

TEST_CASE("axis space: named extents split and join by name") {
  AxisSpace space;
  const Dim m = Dim::named("m");
  const AtomList flat = space.fresh(m * Dim(8));
  const AtomShape parts = space.fresh(Shape{m, 8});
  REQUIRE(space.equate(flat, joined(parts)));
  CHECK(factors(space, flat) == "mx8");
  CHECK(space.leaves(flat) == space.leaves(parts));
  CHECK_FALSE(space.equate(space.fresh(m), space.fresh(Dim::named("n"))));
}
