// SPDX-License-Identifier: Apache-2.0
// Modules too large for a launch plan: the text of every refusal.
#include "runtime/launch_plan.h"

#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// A sum that is nested `depth` deep.
Expr deep(int depth) {
  Expr expr = Expr::symbol("m");
  for (int i = 0; i < depth; ++i) expr = Expr::symbol("m") * max(expr, 3);
  return expr;
}

} // namespace

TEST_CASE("launch plan: a size that needs a deep stack is unsupported") {
  Module module = ingot::testing::sample_module();
  module.state.bytes = deep(10);
  CHECK(bool(LaunchPlan::bind(module)));
  module.state.bytes = deep(100);
  auto plan = LaunchPlan::bind(module);
  REQUIRE_FALSE(bool(plan));
  auto [code, text] = take_error(plan.takeError());
  CHECK(code == ErrorCode::unsupported);
  CHECK(text == "'sample': the size '" + deep(100).text() + "' is nested too deep");
}

TEST_CASE("launch plan: a kernel of more arguments than CUDA passes is unsupported") {
  Module module = ingot::testing::sample_module();
  auto& arguments = module.kernels[1].variants[0].arguments;
  // A tensor map takes 184 of the 4096 bytes.
  arguments.resize(490, arguments[0]);
  CHECK(bool(LaunchPlan::bind(module)));
  arguments.resize(491, arguments[0]);
  auto plan = LaunchPlan::bind(module);
  REQUIRE_FALSE(bool(plan));
  auto [code, text] = take_error(plan.takeError());
  CHECK(code == ErrorCode::unsupported);
  CHECK(
      text ==
      "kernel sample_pack of 'sample' takes 4104 bytes of arguments, expected at most 4096: 8 for "
      "each tensor, intermediate memory and named dimension, and 184 for a tensor map; split the "
      "graph");
}
