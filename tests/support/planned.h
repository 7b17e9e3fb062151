// SPDX-License-Identifier: Apache-2.0
// Plans of specs without a machine, for tests of fusion.
#pragma once

#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

namespace ingot::testing {

struct Planned {
  Graph graph;
  FusionPlan plan;
};

/// The plan of `graph g(SPEC }` after the passes, verified. Products are joined wherever that is
/// legal.
inline Planned planned(const std::string& spec) {
  auto parsed = parse_graph("graph g(" + spec + "\n}\n", "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  Graph graph = llvm::cantFail(run_passes(*parsed, {MathMode::relaxed}));
  FusionPlan plan = llvm::cantFail(plan_fusion(graph, {}));
  llvm::cantFail(verify(plan, graph));
  return {std::move(graph), std::move(plan)};
}

} // namespace ingot::testing
