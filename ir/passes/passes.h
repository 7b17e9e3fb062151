// SPDX-License-Identifier: Apache-2.0
// Rewrites of the graph. In: a verified graph as written. Out: an equal graph with less to compute,
// in a form that depends little on how it was spelled. Called by the compiler before fusion.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ingot {

/// Which rewrites may be applied. Every mode includes those before it.
enum class MathMode : uint8_t {
  strict,  ///< results keep their bits
  relaxed, ///< also reassociation: equal within the error bound where all intermediates are finite
  finite,  ///< also what holds for finite values only
};
/// strict relaxed finite.
llvm::StringRef spelling(MathMode mode);
std::optional<MathMode> parse_math_mode(llvm::StringRef text);

struct PassContext {
  MathMode math = MathMode::relaxed;
};

/// What a pass may assume. exact: every result keeps its bits, NaN, Inf and the sign of zero
/// included (a NaN may be another NaN). reassociating: equal in real arithmetic. finite_only: equal
/// for finite values.
enum class PassClass : uint8_t { exact, reassociating, finite_only };

/// A free function over a verified graph that yields a verified graph with the same inputs in the
/// same order, unused ones included, and the same outputs by name and type. It is deterministic,
/// and applied to its own result it changes nothing that the fixpoint would not reach.
using PassFunction = llvm::Expected<Graph> (*)(const Graph&, const PassContext&);

struct Pass {
  llvm::StringRef name;
  PassClass pass_class;
  PassFunction function;
  llvm::StringRef purpose;
};
/// The one table, in the order of a round.
llvm::ArrayRef<Pass> all_passes();
bool applies(const Pass& pass, MathMode mode);

/// One pass that changed the graph.
struct PassReport {
  const Pass& pass;
  int round; ///< from 0
  const Graph& before;
  const Graph& after;
};
using PassObserver = llvm::function_ref<void(const PassReport&)>;

/// Rounds after which run_passes stops though the graph still changes: one form may then differ
/// from another, values never.
constexpr int kMaxRounds = 64;

/// Runs the table's passes that `context.math` allows, round after round until a round changes
/// nothing, and verifies after each change unless NDEBUG is set. `observer` hears of every change.
/// Errors: ErrorCode::internal naming the pass whose result does not verify.
llvm::Expected<Graph> run_passes(Graph graph, const PassContext& context,
                                 PassObserver observer = nullptr);

/// Drops ops that no output needs; inputs stay.
llvm::Expected<Graph> remove_dead_code(const Graph& graph, const PassContext& context);
/// Merges ops of one kind, operands and attributes.
llvm::Expected<Graph> merge_common_subexpressions(const Graph& graph, const PassContext& context);
/// Removes reshapes, transposes, broadcasts, slices and concats that move nothing, and joins chains
/// of them; transposes of the matrix axes become matmul's flags.
llvm::Expected<Graph> simplify_movement(const Graph& graph, const PassContext& context);
/// Gives elementwise ops and the movement around them one order: broadcasts and then reshapes and
/// transposes come after elementwise ops, a number spread over a shape is a rank-0 operand, and
/// commutative ops take the value with more in it first and constants last.
llvm::Expected<Graph> canonicalize_elementwise(const Graph& graph, const PassContext& context);
/// x+x, x*1, x/1, x-0, double negation, powers of two, select with one outcome, casts to own dtype.
llvm::Expected<Graph> simplify_arithmetic(const Graph& graph, const PassContext& context);

} // namespace ingot
