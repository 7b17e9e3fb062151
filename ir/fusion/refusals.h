// SPDX-License-Identifier: Apache-2.0
// The rules of legality as texts: the obstacle, its ops, and the smallest change that removes it.
// One function per rule. Used by legality and its bindings.
#pragma once

#include "ir/fusion/legality.h"
#include "ir/fusion/tile_step.h"

#include <string>

namespace ingot::refusals {

/// `sum 'total'`: the op and the name of its first result.
std::string named(const Graph& graph, OpId op);
/// `'h'`, or the op that yields an unnamed value.
std::string named(const Graph& graph, ValueId value);
/// `sum 'total' reduces axes [0] of f32[4, 8]`.
std::string reduced(const Graph& graph, OpId reduction);

bool reduce_same_axes(const Graph& graph, OpId a, OpId b);

// Ops and their operands.
Refusal too_many_ops(int64_t most);
Refusal too_many_layers(int64_t most);
Refusal too_many_results(size_t results, size_t ops, const FusionLimits& limits);
Refusal too_many_tensors(size_t tensors, int64_t most);
Refusal second_matmul(const Graph& graph, OpId op);
Refusal third_matmul(const Graph& graph, OpId op);
/// A reduction of a computed operand that cannot run along its rows, and has no whole rows.
Refusal cannot_run(const Graph& graph, OpId reduction, const FusionLimits& limits);
/// A product whose kernel computes its operand step by step, and another one that reads its result.
Refusal product_in_steps(const Graph& graph, OpId product);
/// A product whose operand is computed by several others, and that does not have all of K at once.
Refusal operand_not_resident(const Graph& graph, OpId matmul, const FusionLimits& limits);
/// An operand whose points are not those of the kernel that would compute it.
Refusal operand_at_other_points(const Graph& graph, OpId matmul);
Refusal second_scan(const Graph& graph, OpId op);
Refusal scan_shares_nothing(const Graph& graph, OpId scan);
Refusal scan_merges_nothing(const Graph& graph, OpId scan, OpId reduction);
Refusal axes_split_differently(const Graph& graph, OpId op, const std::string& which);
Refusal operand_in_steps(const Graph& graph, OpId matmul);
Refusal operand_computed(const Graph& graph, OpId op);
/// An operand whose kernel stores the result of `stored`: the operand itself or another value.
Refusal stored_for_others(const Graph& graph, ValueId operand, OpId stored);
Refusal operand_reduced(const Graph& graph, OpId matmul, OpId reduction);
Refusal operand_not_elementwise(const Graph& graph, OpId matmul, OpId op);
Refusal operand_is_number(const Graph& graph, OpId op, ValueId number);
/// The refusal that a separate kernel lifts: it merges the partials and stores the results.
Refusal partials_elsewhere(const Graph& graph, OpId reduction);

/// The same, for more elements than one thread merges the partials of.
Refusal partials_too_many(const Graph& graph, OpId reduction, const Dim& reduced, int64_t most);

// Ops that must run before a kernel, whatever else joins it.
Refusal parts_meet(const Graph& graph, OpId concat);
Refusal rearranged_before();
/// The same for an operand that a matmul would compute.
Refusal rearranged_after();
Refusal prepared_before();
/// Ops that would feed a kernel and read it.
Refusal runs_between(const Graph& graph, OpId between);

// Movement.
Refusal reshape_mixes_axes(const Type& from, const Shape& to, ValueId operand);
Refusal part_of_computed(const Graph& graph, OpId part);
Refusal part_of_reshaped(const Graph& graph, OpId part, size_t axis);

// The kernel's domain.
Refusal too_many_points();
Refusal diagonal(const Graph& graph, ValueId value);
Refusal contracted_and_kept(const Graph& graph, OpId matmul);
Refusal products_apart(const Graph& graph, OpId first, OpId second);
Refusal products_of_types(const Graph& graph, OpId first, OpId second);
Refusal axis_outside(const Graph& graph, ValueId value);
Refusal spread_outside(const Graph& graph, ValueId value);
/// A stored value that does not vary along rows, of which there may be none.
Refusal lost_without_rows(const Graph& graph, ValueId value, const Dim& rows);
Refusal repeated_for_rows(const Graph& graph, OpId op, std::optional<ValueId> other);

// Reductions.
Refusal crosses_tiles(const Graph& graph, const Reduction& reduction);
/// A reduction whose rows blocks share, beside ones that lie in one block.
Refusal shared_rows(const Graph& graph, OpId reduction);
Refusal merged_before(const Graph& graph, OpId reduction);
Refusal constant_along_rows(const Graph& graph, OpId reduction);
/// Segments after a matmul that cross tiles: no tile of at most `widest` columns suits them.
Refusal segments_without_tile(const StepDemand& demand, int64_t widest);
Refusal segment_of_unknown_width(const Graph& graph, const Reduction& reduction);
/// Segments that would cross tiles, for GroupContext::reduced_apart.
Reason reduced_where_read(const Graph& graph, const Reduction& reduction);
/// The place of a reduction's operand in the kernel's matrix.
enum class Spread : uint8_t {
  across,     ///< over rows and columns
  in_columns, ///< in parts of columns, or of a batch
  in_rows,    ///< in rows, but not side by side
};
Refusal other_axes(const Graph& graph, OpId reduction, const Group& group, Spread spread);
Refusal segment_of_unknown_row(const Graph& graph, OpId reduction, const Dim& columns,
                               int64_t widest);
Refusal segment_of_long_row(const Graph& graph, OpId reduction, const Dim& columns, int64_t widest);

} // namespace ingot::refusals
