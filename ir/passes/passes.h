// SPDX-License-Identifier: Apache-2.0
// Rewrites of the graph. In: a verified graph as the user wrote it. Out: an equal graph with less
// computation, in a form that depends little on its spelling. The compiler calls them before
// fusion.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace ingot {

/// Which rewrites may be applied. Every mode includes the modes before it.
enum class MathMode : uint8_t {
  strict,  ///< results keep their bits, except for the tree of a reduction
  relaxed, ///< also reassociation: within the error bound if all intermediates are finite
  finite,  ///< also rewrites that hold for finite values only
};

struct PassContext {
  MathMode math = MathMode::relaxed;
};

/// The assumptions of a pass.
/// exact: every result keeps its bits in f32 arithmetic, including NaN, Inf and the sign of zero. A
/// NaN may be another NaN, minimum and maximum of zeros of both signs may yield either, and a
/// reduction may use any other tree.
/// reassociating: results are equal in real arithmetic.
/// finite_only: results are equal for finite values.
enum class PassClass : uint8_t { exact, reassociating, finite_only };

/// A free function from a verified graph to a verified graph. The new graph has the same inputs in
/// the same order, including unused ones, and the same outputs by name and type. A pass is
/// deterministic. Applied to its own result, it changes nothing that the fixpoint would not reach.
using PassFunction = Graph (*)(const Graph&, const PassContext&);

struct Pass {
  llvm::StringRef name;
  PassClass pass_class;
  PassFunction function;
};
/// The passes of passes.def.
llvm::ArrayRef<Pass> all_passes();
bool applies(const Pass& pass, MathMode mode);

/// A report of one pass that changed the graph.
struct PassReport {
  const Pass& pass;
  int round; ///< starts at 0
  const Graph& before;
  const Graph& after;
};
using PassObserver = llvm::function_ref<void(const PassReport&)>;

/// The maximum number of rounds. run_passes then stops although the graph still changes. Different
/// spellings may then give different forms, but never different values.
constexpr int kMaxRounds = 64;

/// Runs the passes that `context.math` allows, in rounds, until a round changes nothing. Verifies
/// the graph after each change, unless NDEBUG is set. `observer` receives every change. Errors:
/// ErrorCode::internal with the pass whose result does not verify.
llvm::Expected<Graph> run_passes(Graph graph, const PassContext& context,
                                 PassObserver observer = nullptr);

#define INGOT_PASS(name, pass_class) Graph name(const Graph& graph, const PassContext& context);
#include "ir/passes/passes.def"

} // namespace ingot
