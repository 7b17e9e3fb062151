// SPDX-License-Identifier: Apache-2.0
// How many adjacent elements one access of a kernel takes under a schedule, and which rows are
// stored through shared memory. Used by schedules, predicates and the emitter.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// Bytes of the widest access of a thread.
inline constexpr int64_t kWidestAccess = 16;

/// Elements of one access to memory that stages read.
int64_t read_width(const IndexMap& map, DType dtype, const Schedule& schedule);

/// Elements of one access to memory that the prologue of `operand` reads, where the mainloop
/// fetches `fetched` elements at a time.
int64_t prologue_width(const IndexMap& map, DType dtype, const MatrixOperand& operand,
                       int64_t fetched);

struct StoreWidth {
  int64_t vec = 1;     ///< adjacent elements of one access
  bool staged = false; ///< 16 bytes a thread, through shared memory (tile/staged_store.cuh)
};
/// `is_whole`: each point of the domain has an element of its own.
StoreWidth store_width(const IndexMap& map, DType dtype, bool is_whole, const Schedule& schedule);

/// True when a store of a kernel is staged.
bool stages_rows(const Kernel& kernel, const Schedule& schedule);

/// True when a store is staged only for some sizes of named dimensions.
bool staging_needs_sizes(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
