// SPDX-License-Identifier: Apache-2.0
// The table of passes and the loop that runs it.
#include "ir/passes/passes.h"

#include "ir/passes/dataflow.h"

namespace ingot {
namespace {

constexpr Pass kPasses[] = {
#define INGOT_PASS(name, pass_class) {#name, PassClass::pass_class, name},
#include "ir/passes/passes.def"
};

llvm::Error verify_result(const Pass& pass, const Graph& graph) {
#ifdef NDEBUG
  return llvm::Error::success();
#else
  llvm::Error error = verify(graph);
  if (!error) return llvm::Error::success();
  return make_error(ErrorCode::internal, "pass {} left a broken graph: {}", pass.name.str(),
                    take_error(std::move(error)).second);
#endif
}

} // namespace

llvm::ArrayRef<Pass> all_passes() { return kPasses; }

bool applies(const Pass& pass, MathMode mode) {
  switch (pass.pass_class) {
  case PassClass::exact: return true;
  case PassClass::reassociating: return mode != MathMode::strict;
  case PassClass::finite_only: return mode == MathMode::finite;
  }
  llvm_unreachable("not a pass class");
}

llvm::Expected<Graph> run_passes(Graph graph, const PassContext& context, PassObserver observer) {
  size_t unchanged = 0; // consecutive passes that changed nothing
  for (int round = 0; unchanged < std::size(kPasses) && round < kMaxRounds; ++round) {
    for (const Pass& pass : kPasses) {
      if (unchanged == std::size(kPasses)) break;
      ++unchanged;
      if (!applies(pass, context.math)) continue;
      Graph result = pass.function(graph, context);
      if (identical(graph, result)) continue;
      unchanged = 0;
      if (llvm::Error error = verify_result(pass, result)) return error;
      if (observer) observer({pass, round, graph, result});
      graph = std::move(result);
    }
  }
  return graph;
}

} // namespace ingot
