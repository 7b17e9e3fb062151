// SPDX-License-Identifier: Apache-2.0
// From a plan's entry to a Kernel, in two steps: its outline, which schedules are chosen for, and
// with them and the places of its tensors the rest. Called by the compiler and lower.
#pragma once

#include "codegen/kernel/cuts.h"
#include "codegen/kernel/kernel.h"
#include "ir/passes/ranges.h"

#include <map>

namespace ingot {

/// What the outline of a kernel is made of.
struct GroupSite {
  const Graph& graph;
  const Ranges& ranges;
  const Group& group;
};

/// The kernel of a group as far as the group says. It has no variants, its parameters are tensors
/// and states without memory, and the states of a result are 0.
Kernel outline_kernel(const GroupSite& site);

/// Of a reduction or a scan.
Reducer reducer_of(const Graph& graph, OpId op);

/// The memory in which blocks that share the tiles of a matmul meet.
struct SplitBuffers {
  Buffer sums, arrivals;
  Expr parts; ///< of each tile
};

/// The place of every value that kernels read or write.
struct BufferMap {
  std::map<ValueId, Buffer> values;               ///< where a value is read
  std::map<ValueId, std::vector<Buffer>> targets; ///< where it is written: once, or per output name
  std::map<OpId, Buffer> partials;                ///< states of global reductions
  std::map<OpId, Cuts> cuts;                      ///< into parts with a state each
  std::map<OpId, SplitBuffers> splits;            ///< of a kernel, by its first matmul
  std::map<std::pair<OpId, uint32_t>, Buffer> halves; ///< of a matmul's operands
};

/// What kernels are completed from.
struct KernelSite {
  const Graph& graph;
  const Group& group;
  const Kernel& outline;
  llvm::ArrayRef<Schedule> schedules; ///< of the group, as choose_schedules orders them
  const BufferMap& buffers;
};

/// The kernel of a group. Variants behind one that takes everything are left out.
Kernel build_kernel(const KernelSite& site);

/// An operand of a matmul of a group.
struct MatmulSide {
  size_t matmul = 0; ///< index in Group::matmuls and TileBody::mainloops
  uint32_t side = 0; ///< 0: A, 1: B
  /// Where Schedule::operands has it.
  size_t index() const { return 2 * matmul + side; }
};

/// The kernel that makes the halves of an operand.
Kernel build_halving(const KernelSite& site, MatmulSide of);

} // namespace ingot
