// SPDX-License-Identifier: Apache-2.0
// The distance of tiles of a given width.
#include "ir/fusion/tile_step.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("tile step: the largest one of a width that meets the demand") {
  CHECK(step_of_width({}, 192, 64) == 192);
  CHECK(step_of_width({}, 96, 64) == 64); // whole blocks of packed rows
  CHECK(step_of_width({.multiple = 100}, 256, 1) == 200);
  CHECK(step_of_width({.multiple = 130}, 256, 1) == 130);
  CHECK(step_of_width({.multiple = 96}, 256, 64) == 192);
  CHECK(step_of_width({.divides = 768}, 192, 64) == 192);
  CHECK(step_of_width({.divides = 768}, 256, 64) == 256);
}

TEST_CASE("tile step: none where a width holds too little") {
  CHECK_FALSE(step_of_width({.multiple = 130}, 128, 1));
  CHECK_FALSE(step_of_width({.multiple = 130}, 256, 64)); // no common multiple in the tile
  // Shared segments of 640 leave half of 256 columns, and all of 128.
  CHECK_FALSE(step_of_width({.divides = 640}, 256, 64));
  CHECK(step_of_width({.divides = 640}, 128, 64) == 128);
  CHECK(step_of_width({.divides = 640}, 192, 1) == 160);
}
