// SPDX-License-Identifier: Apache-2.0
// What it costs to compute a matmul's operand on the way to the mainloop, once for each tile that
// reads it, beside storing it once: plain arithmetic over bytes and instructions.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// Instructions of an elementwise op of one element in f32, about, as the device library compiles.
double instructions_of(OpKind kind);

/// One operand as its prologue makes it.
struct Prologue {
  double elements = 0;     ///< of the operand
  double evaluations = 1;  ///< of each element: the tiles that read it
  double instructions = 0; ///< of one evaluation
  double fetched = 0;      ///< bytes that one evaluation fetches
  double stored = 0;       ///< bytes of an element that another kernel would store
};

/// The time that storing the operand, and reading it back, takes.
double seconds_saved(const Prologue& prologue, const MachineRates& rates);
/// The time that the evaluations take.
double seconds_spent(const Prologue& prologue, const MachineRates& rates);

/// The prologue of operand `side` of a group's matmul, whose tiles have this size. A named extent
/// counts as kAssumedSize.
Prologue prologue_of(const Graph& graph, const Group& group, const Matmul& matmul, size_t side,
                     const MatmulTile& tile);
/// What costs of `graph` are told with: nothing where all of its sizes are known.
std::string usual_sizes(const Graph& graph);
/// The product of factors, with it.
double usual_extent(const AxisSpace& space, const AtomList& atoms);

/// Why `values`, operands that the matmuls of `group` compute, had better be stored; none:
/// computing them costs less.
std::optional<Reason> costly_prologue(const Graph& graph, const Group& group,
                                      llvm::ArrayRef<ValueId> values, const FusionLimits& limits);

} // namespace ingot
