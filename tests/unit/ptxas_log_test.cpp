// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptxas_log.h"

#include <doctest/doctest.h>

TEST_CASE("ptx: joined parts have one head and all entries") {
  const std::string head = "//\n.version 9.0\n.target sm_80\n.address_size 64\n";
  const std::string a = ".visible .entry a() { ret; }\n", b = ".visible .entry b() { ret; }\n";
  const std::string parts[] = {head + a, head + b};
  CHECK(ingot::join_ptx({parts[0], parts[1]}) == head + a + b);
  CHECK(ingot::join_ptx({parts[0]}) == parts[0]);
}
