// SPDX-License-Identifier: Apache-2.0
// Modules that no launch plan can be made of: the text of every refusal.
#include "runtime/launch_plan.h"

#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

#include <functional>

using namespace ingot;

namespace {

struct Refusal {
  std::function<void(Module&)> spoil;
  std::string text;
  ErrorCode code = ErrorCode::internal;
};

KernelVariant& variant(Module& module) { return module.kernels[0].variants[0]; }

/// A sum that is nested `depth` deep.
Expr deep(int depth) {
  Expr expr = Expr::symbol("m");
  for (int i = 0; i < depth; ++i) expr = Expr::symbol("m") * max(expr, 3);
  return expr;
}

} // namespace

TEST_CASE("launch plan: an inconsistent module is refused, and the error names the contradiction") {
  const std::vector<Refusal> refusals = {
      {[](Module& m) { m.dims.push_back(m.dims[0]); }, "dimension 'm' is listed twice"},
      {[](Module& m) { m.outputs[0].alignment = 0; }, "'y' has alignment 0"},
      {[](Module& m) { m.workspace.alignment = -1; }, "a memory has alignment -1"},
      {[](Module& m) { variant(m).arguments[1].name = "x"; },
       "argument names the tensor 'x', which does not exist in its role"},
      {[](Module& m) { variant(m).arguments[6].kind = ArgumentKind::tensormap; },
       "tensor maps cannot be launched by this version"},
      {[](Module& m) { m.kernels[1].variants.clear(); }, "kernel 'pack' has no variant"},
      {[](Module& m) { variant(m).when[0].argument = 8; },
       "'sample_main_fast' has a condition on argument 8 of 8"},
      {[](Module& m) { variant(m).when[0].number = 0; },
       "'sample_main_fast' has a condition with divisor 0"},
      {[](Module& m) { variant(m).when[1].number = -4; },
       "'sample_main_fast' has a condition with divisor -4"},
      {[](Module& m) { m.prepare.steps[0].kernel = 2; }, "a step runs kernel 2 of 2"},
      {[](Module& m) { variant(m).launch.grid[1] = Expr::symbol("rows"); },
       "expression 'rows' uses 'rows', which is no named dimension"},
      {[](Module& m) { m.state.bytes = deep(100); },
       "expression '" + deep(100).text() + "' is nested too deep"},
  };
  for (const Refusal& refusal : refusals) {
    Module module = ingot::testing::sample_module();
    refusal.spoil(module);
    auto plan = LaunchPlan::bind(module);
    REQUIRE_FALSE_MESSAGE(bool(plan), refusal.text);
    auto [code, text] = take_error(plan.takeError());
    CHECK(code == refusal.code);
    CHECK(text == "plan of 'sample': " + refusal.text);
  }
  CHECK(bool(LaunchPlan::bind(ingot::testing::sample_module())));
}

TEST_CASE("launch plan: a kernel of more arguments than CUDA passes is unsupported") {
  Module module = ingot::testing::sample_module();
  auto& arguments = module.kernels[1].variants[0].arguments;
  arguments.resize(512, arguments[0]);
  CHECK(bool(LaunchPlan::bind(module)));
  arguments.resize(513, arguments[0]);
  auto plan = LaunchPlan::bind(module);
  REQUIRE_FALSE(bool(plan));
  auto [code, text] = take_error(plan.takeError());
  CHECK(code == ErrorCode::unsupported);
  CHECK(text ==
        "kernel sample_pack of 'sample' takes 513 arguments, expected at most 512: tensors, "
        "intermediate memory and named dimensions together; split the graph");
}
