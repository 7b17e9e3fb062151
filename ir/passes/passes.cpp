// SPDX-License-Identifier: Apache-2.0
// The table of passes and the loop that runs it.
#include "ir/passes/passes.h"

#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

using enum PassClass;

// The order matters where a comment gives a reason.
constexpr Pass kPasses[] = {
    // First, so that later passes neither measure dead ops nor count their uses.
    {"remove_dead_code", exact, remove_dead_code, "drop ops that no output needs"},
    // Before the arithmetic passes, which expect numbers as rank-0 operands. Before merging, which
    // then finds more equal ops.
    {"simplify_movement", exact, simplify_movement, "join and drop reshapes, transposes, ..."},
    {"transpose_products", exact, transpose_products, "reduce rows of a product, not columns"},
    {"stack_batches", exact, stack_batches, "multiply the rows of a batch by one matrix at once"},
    {"canonicalize_elementwise", exact, canonicalize_elementwise,
     "give elementwise ops and movement one order"},
    {"spread_concats", exact, spread_concats, "read the parts of a concat where they lie"},
    {"push_down_slices", exact, push_down_slices,
     "compute the elements that slices read, and no others"},
    {"push_down_gathers", exact, push_down_gathers, "compute the gathered elements, and no table"},
    // Before simplify_arithmetic, which recognises x + x only if both operands are one value.
    {"merge_common_subexpressions", exact, merge_common_subexpressions, "merge equal ops"},
    {"fold_constants", exact, fold_constants, "compute with numbers"},
    // Before the scale passes, because it rewrites division and negation as multiplication.
    {"simplify_arithmetic", exact, simplify_arithmetic, "apply identities that keep every bit"},
    {"merge_exact_scales", exact, merge_exact_scales, "multiply by powers of two once"},
    {"simplify_clamps", exact, simplify_clamps, "bound values once, if at all"},
    {"simplify_reductions", exact, simplify_reductions, "simplify and hoist reductions"},
    // Exact passes go first, because they need no assumption about rounding.
    {"expand_functions", reassociating, expand_functions, "compute compositions more cheaply"},
    {"relax_arithmetic", reassociating, relax_arithmetic, "apply identities but for a last bit"},
    {"merge_scales", reassociating, merge_scales, "multiply by numbers once"},
    // Before merge_reductions, which would take scales out of the chain that this pass follows.
    {"push_down_reductions", reassociating, push_down_reductions,
     "sum the operand of a matmul instead of its result"},
    {"expand_matrix_vectors", reassociating, expand_matrix_vectors,
     "sum the products of matrices and vectors without tiles"},
    {"merge_reductions", reassociating, merge_reductions, "reduce once, and fewer elements"},
    // After push_down_reductions, whose matches leave no reduction, and after merge_reductions,
    // which joins all other steps.
    {"split_reductions", exact, split_reductions, "reduce products row by row first"},
    // The mean of each row is divided before the merge. That is more than another reduction tree.
    {"split_means", reassociating, split_means, "average products row by row first"},
    {"reduce_gathers", exact, reduce_gathers, "pick elements of products where they are made"},
    {"group_params", reassociating, group_params, "let params and numbers meet"},
    {"simplify_finite", finite_only, simplify_finite,
     "replace ops that are constant for finite values"},
};

bool table_names_are_unique() {
  for (const Pass& pass : kPasses) {
    if (llvm::count_if(kPasses, [&](const Pass& other) { return other.name == pass.name; }) != 1) {
      return false;
    }
  }
  return true;
}

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

llvm::StringRef spelling(MathMode mode) {
  switch (mode) {
  case MathMode::strict: return "strict";
  case MathMode::relaxed: return "relaxed";
  case MathMode::finite: return "finite";
  }
  llvm_unreachable("not a math mode");
}

std::optional<MathMode> parse_math_mode(llvm::StringRef text) {
  for (MathMode mode : {MathMode::strict, MathMode::relaxed, MathMode::finite}) {
    if (text == spelling(mode)) return mode;
  }
  return std::nullopt;
}

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
  INGOT_ASSERT(table_names_are_unique());
  size_t unchanged = 0; // consecutive passes that changed nothing
  for (int round = 0; unchanged < std::size(kPasses) && round < kMaxRounds; ++round) {
    for (const Pass& pass : kPasses) {
      if (unchanged == std::size(kPasses)) break;
      ++unchanged;
      if (!applies(pass, context.math)) continue;
      llvm::Expected<Graph> result = pass.function(graph, context);
      if (!result) return result.takeError();
      if (identical(graph, *result)) continue;
      unchanged = 0;
      if (llvm::Error error = verify_result(pass, *result)) return error;
      if (observer) observer({pass, round, graph, *result});
      graph = std::move(*result);
    }
  }
  return graph;
}

} // namespace ingot
