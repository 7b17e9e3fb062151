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
  strict,  ///< results keep their bits, whatever tree a reduction uses
  relaxed, ///< also reassociation: equal within the error bound where all intermediates are finite
  finite,  ///< also what holds for finite values only
};
/// strict relaxed finite.
llvm::StringRef spelling(MathMode mode);
std::optional<MathMode> parse_math_mode(llvm::StringRef text);

struct PassContext {
  MathMode math = MathMode::relaxed;
};

/// What a pass may assume.
/// exact: every result keeps its bits in f32 arithmetic, NaN, Inf and the sign of zero included. A
///   NaN may be another NaN, of zeros of both signs minimum and maximum yield either, and a
///   reduction may use any other tree.
/// reassociating: equal in real arithmetic. finite_only: equal for finite values.
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
/// (A B)^T as B^T A^T where rows of it are reduced, and no columns.
llvm::Expected<Graph> transpose_products(const Graph& graph, const PassContext& context);
/// Matmuls of a batch of matrices with one and the same as one matmul of all their rows.
llvm::Expected<Graph> stack_batches(const Graph& graph, const PassContext& context);
/// Gives elementwise ops and the movement around them one order: broadcasts and then reshapes and
/// transposes come after elementwise ops, a number spread over a shape is a rank-0 operand, and
/// commutative ops take the value with more in it first and constants last.
llvm::Expected<Graph> canonicalize_elementwise(const Graph& graph, const PassContext& context);
/// Concats of what lies in memory as choices by position, elementwise ops of others part by part.
llvm::Expected<Graph> spread_concats(const Graph& graph, const PassContext& context);
/// Slices of what elementwise ops yield, or of what matmuls, reductions, scans and gathers do of
/// which only slices are used, as the same ops of slices; but for those that the kernel of the
/// whole stores as well.
llvm::Expected<Graph> push_down_slices(const Graph& graph, const PassContext& context);
/// Gathers of what elementwise ops make of what lies in memory, and flips also of what scans do, as
/// the same of gathers.
llvm::Expected<Graph> push_down_gathers(const Graph& graph, const PassContext& context);
/// Elementwise ops of numbers.
llvm::Expected<Graph> fold_constants(const Graph& graph, const PassContext& context);
/// x+x, x*1, x/1, x-0, double negation, powers of two, select with one outcome, casts to own dtype.
llvm::Expected<Graph> simplify_arithmetic(const Graph& graph, const PassContext& context);
/// (x*c)*d where c is a power of two and neither makes x smaller.
llvm::Expected<Graph> merge_exact_scales(const Graph& graph, const PassContext& context);
/// Chains of minimum and maximum with numbers, and bounds that are never reached.
llvm::Expected<Graph> simplify_clamps(const Graph& graph, const PassContext& context);
/// Reductions and scans over axes of extent 1, reductions through reshapes, transposes and
/// broadcasts, and extrema of what rises or falls with a value.
llvm::Expected<Graph> simplify_reductions(const Graph& graph, const PassContext& context);
/// Identities that lose the sign of a zero or a last bit: x+0, 0-x, powers that are roots, and
/// divisions by a value that many elements share.
llvm::Expected<Graph> relax_arithmetic(const Graph& graph, const PassContext& context);
/// (x*c)*d, (x*c)/d, x/c and ((x*c)*y)*d for any numbers.
llvm::Expected<Graph> merge_scales(const Graph& graph, const PassContext& context);
/// Sums of sums, of repeated elements and of scaled values; scales of a matmul's operands.
llvm::Expected<Graph> merge_reductions(const Graph& graph, const PassContext& context);
/// Reductions over rows and columns of what a matmul yields, row by row first.
llvm::Expected<Graph> split_reductions(const Graph& graph, const PassContext& context);
/// The same of mean and moments.
llvm::Expected<Graph> split_means(const Graph& graph, const PassContext& context);
/// One element of each row of what a matmul yields, as a reduction.
llvm::Expected<Graph> reduce_gathers(const Graph& graph, const PassContext& context);
/// (h + b) + c is h + (b + c) where b and c are params of one shape, or numbers; likewise products.
llvm::Expected<Graph> group_params(const Graph& graph, const PassContext& context);
/// Sums and means over a matmul's rows or columns, or runs of them, as a smaller matmul.
llvm::Expected<Graph> push_down_reductions(const Graph& graph, const PassContext& context);
/// Matmuls of one row or column as products that are summed along K.
llvm::Expected<Graph> expand_matrix_vectors(const Graph& graph, const PassContext& context);
/// What is constant for every finite input: x-x, x*0, is_nan(x).
llvm::Expected<Graph> simplify_finite(const Graph& graph, const PassContext& context);

/// tanh(log1p(exp(x))), mish's factor, becomes a rational function of one exponential.
llvm::Expected<Graph> expand_functions(const Graph& graph, const PassContext& context);

} // namespace ingot
