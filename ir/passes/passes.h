// SPDX-License-Identifier: Apache-2.0
// Rewrites of the graph. In: a verified graph as the user wrote it. Out: an equal graph with less
// computation, in a form that depends little on its spelling. The compiler calls them before
// fusion.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ingot {

/// Which rewrites may be applied. Every mode includes the modes before it.
enum class MathMode : uint8_t {
  strict,  ///< results keep their bits, except for the tree of a reduction
  relaxed, ///< also reassociation: within the error bound if all intermediates are finite
  finite,  ///< also rewrites that hold for finite values only
};
/// strict relaxed finite.
llvm::StringRef spelling(MathMode mode);
std::optional<MathMode> parse_math_mode(llvm::StringRef text);

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
using PassFunction = llvm::Expected<Graph> (*)(const Graph&, const PassContext&);

struct Pass {
  llvm::StringRef name;
  PassClass pass_class;
  PassFunction function;
  llvm::StringRef purpose;
};
/// The table of all passes, in the order of a round.
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

/// Drops ops that no output needs. Inputs stay.
llvm::Expected<Graph> remove_dead_code(const Graph& graph, const PassContext& context);
/// Merges ops with equal kind, operands and attributes.
llvm::Expected<Graph> merge_common_subexpressions(const Graph& graph, const PassContext& context);
/// Removes reshapes, transposes, broadcasts, slices and concats that move nothing, and joins chains
/// of them. Transposes of the matrix axes become flags of matmul.
llvm::Expected<Graph> simplify_movement(const Graph& graph, const PassContext& context);
/// Rewrites (A B)^T to B^T A^T if its rows are reduced and its columns are not.
llvm::Expected<Graph> transpose_products(const Graph& graph, const PassContext& context);
/// Rewrites a batch of matrices times one matrix to one matmul of all their rows.
llvm::Expected<Graph> stack_batches(const Graph& graph, const PassContext& context);
/// Gives elementwise ops and the movement around them one order. Broadcasts come after elementwise
/// ops, then reshapes and transposes. A number that is broadcast to a shape becomes a rank-0
/// operand. Commutative ops take the operand with more elements first and constants last.
llvm::Expected<Graph> canonicalize_elementwise(const Graph& graph, const PassContext& context);
/// Turns concats of tensors in memory into choices by position. Computes elementwise ops of other
/// concats part by part.
llvm::Expected<Graph> spread_concats(const Graph& graph, const PassContext& context);
/// Pushes slices below elementwise ops; also below matmul, reduce, scan and gather if only slices
/// are used. Leaves slices that the kernel of the whole value stores as well.
llvm::Expected<Graph> push_down_slices(const Graph& graph, const PassContext& context);
/// Pushes gathers below elementwise ops of tensors in memory. Pushes flips below scans too.
llvm::Expected<Graph> push_down_gathers(const Graph& graph, const PassContext& context);
/// Computes elementwise ops of numbers.
llvm::Expected<Graph> fold_constants(const Graph& graph, const PassContext& context);
/// Simplifies x+x, x*1, x/1, x-0, double negation, powers of two, select with one outcome, casts to
/// own dtype.
llvm::Expected<Graph> simplify_arithmetic(const Graph& graph, const PassContext& context);
/// Merges (x*c)*d if c is a power of two and neither factor makes x smaller.
llvm::Expected<Graph> merge_exact_scales(const Graph& graph, const PassContext& context);
/// Joins chains of minimum and maximum with numbers, and drops bounds that are never reached.
llvm::Expected<Graph> simplify_clamps(const Graph& graph, const PassContext& context);
/// Simplifies reductions and scans over axes of extent 1, reductions through reshapes, transposes
/// and broadcasts, and extrema of monotone functions.
llvm::Expected<Graph> simplify_reductions(const Graph& graph, const PassContext& context);
/// Applies identities that lose the sign of a zero or a last bit: x+0, 0-x, powers that are roots,
/// and divisions by a value that many elements share.
llvm::Expected<Graph> relax_arithmetic(const Graph& graph, const PassContext& context);
/// Merges (x*c)*d, (x*c)/d, x/c and ((x*c)*y)*d for any numbers.
llvm::Expected<Graph> merge_scales(const Graph& graph, const PassContext& context);
/// Simplifies sums of sums, of repeated elements and of scaled values, and moves scales out of
/// matmul operands.
llvm::Expected<Graph> merge_reductions(const Graph& graph, const PassContext& context);
/// Splits reductions over rows and columns of a matmul's result: first along each row.
llvm::Expected<Graph> split_reductions(const Graph& graph, const PassContext& context);
/// Splits mean and moments in the same way.
llvm::Expected<Graph> split_means(const Graph& graph, const PassContext& context);
/// Turns a gather of one element from each row of a matmul's result into a reduction.
llvm::Expected<Graph> reduce_gathers(const Graph& graph, const PassContext& context);
/// Rewrites (h + b) + c to h + (b + c) if b and c are params of one shape, or numbers. Likewise for
/// products.
llvm::Expected<Graph> group_params(const Graph& graph, const PassContext& context);
/// Turns sums and means over a matmul's rows or columns, or runs of them, into a smaller matmul.
llvm::Expected<Graph> push_down_reductions(const Graph& graph, const PassContext& context);
/// Rewrites matmuls of one row or column to products that are summed along K.
llvm::Expected<Graph> expand_matrix_vectors(const Graph& graph, const PassContext& context);
/// Replaces expressions that are constant for every finite input: x-x, x*0, is_nan(x).
llvm::Expected<Graph> simplify_finite(const Graph& graph, const PassContext& context);

/// Rewrites tanh(log1p(exp(x))), a factor of mish, to a rational function of one exponential.
llvm::Expected<Graph> expand_functions(const Graph& graph, const PassContext& context);

} // namespace ingot
