// SPDX-License-Identifier: Apache-2.0
// The cost of computing a matmul's operand on the way to the mainloop, once for each tile that
// reads it, compared with storing it once. Plain arithmetic over bytes and instructions.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// One operand that a prologue computes.
struct Prologue {
  double elements = 0;     ///< number of the operand's elements
  double evaluations = 1;  ///< per element: the number of tiles that read it
  double instructions = 0; ///< instructions of one evaluation
  double fetched = 0;      ///< bytes that one evaluation fetches
  double stored = 0;       ///< bytes of an element that another kernel would store
};

/// The time that it takes to store the operand and to read it back.
double seconds_saved(const Prologue& prologue, const MachineRates& rates);
/// The time that the evaluations take.
double seconds_spent(const Prologue& prologue, const MachineRates& rates);

/// The prologue of operand `side` of a group's matmul, whose tiles have this size. A named extent
/// counts as kAssumedSize.
Prologue prologue_of(const Graph& graph, const Group& group, const Matmul& matmul, size_t side,
                     const MatmulTile& tile);
/// The text that is added to costs of `graph`: the assumed sizes; empty if all of its sizes are
/// known.
std::string usual_sizes(const Graph& graph);
/// The product of factors. A named extent counts as kAssumedSize.
double usual_extent(const AxisSpace& space, const AtomList& atoms);

/// The reason why `values`, operands that the matmuls of `group` compute, should be stored; none:
/// computing them costs less.
std::optional<Reason> costly_prologue(const Graph& graph, const Group& group,
                                      llvm::ArrayRef<ValueId> values, const FusionLimits& limits);

} // namespace ingot
