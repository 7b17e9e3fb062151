// SPDX-License-Identifier: Apache-2.0
#include "ir/library.h"
#include "tests/support/golden.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("the page of functions in docs lists the functions of the library") {
  testing::check_golden("../../docs/functions.md", function_reference());
}
