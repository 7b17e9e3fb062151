// SPDX-License-Identifier: Apache-2.0
// Builds a Kernel from a plan's entry in two steps. The first builds its outline, for which
// schedules are chosen. The second completes it with the schedules and the places of its tensors.
// Called by the compiler and lower.
#pragma once

#include "codegen/kernel/cuts.h"
#include "codegen/kernel/kernel.h"
#include "ir/passes/ranges.h"

#include <map>

namespace ingot {

/// The inputs from which the outline of a kernel is built.
struct GroupSite {
  const Graph& graph;
  const Ranges& ranges;
  const Group& group;
};

/// The kernel of a group without its schedules. It has no variants, its parameters are tensors and
/// states without memory, and the number of states of a result is 0.
Kernel outline_kernel(const GroupSite& site);

/// The reducer of a reduction or a scan.
Reducer reducer_of(const Graph& graph, OpId op);

/// The memory through which blocks that share the tiles of a matmul exchange sums.
struct SplitBuffers {
  Buffer sums, arrivals;
  Expr parts; ///< parts of each tile
};

/// The place of every value that kernels read or write.
struct BufferMap {
  std::map<ValueId, Buffer> values;                   ///< the buffer from which a value is read
  std::map<ValueId, std::vector<Buffer>> targets;     ///< buffers to write: one, or one per output
  std::map<OpId, Buffer> partials;                    ///< states of global reductions
  std::map<OpId, Cuts> cuts;                          ///< parts with a state each
  std::map<OpId, SplitBuffers> splits;                ///< split K of a kernel, by its first matmul
  std::map<std::pair<OpId, uint32_t>, Buffer> packed; ///< a matmul's operands
  std::map<OpId, Buffer> pack_counters;               ///< of a kernel that packs its own A
};

/// The inputs with which kernels are completed.
struct KernelSite {
  const Graph& graph;
  const Group& group;
  const Kernel& outline;
  llvm::ArrayRef<Schedule> schedules; ///< schedules of the group, in the order of choose_schedules
  const BufferMap& buffers;
};

/// The kernel of a group. Variants that follow one without conditions are left out.
Kernel build_kernel(const KernelSite& site);

/// An operand of a matmul of a group.
struct MatmulSide {
  size_t matmul = 0; ///< index in Group::matmuls and TileBody::mainloops
  uint32_t side = 0; ///< 0: A, 1: B
  /// The index in Schedule::operands.
  size_t index() const { return 2 * matmul + side; }
  friend bool operator==(const MatmulSide&, const MatmulSide&) = default;
};

/// The kernel that packs an operand.
Kernel build_packing(const KernelSite& site, MatmulSide of);

} // namespace ingot
