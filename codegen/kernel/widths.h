// SPDX-License-Identifier: Apache-2.0
// The number of adjacent elements in one access of a kernel under a schedule, and the rows that are
// stored through shared memory. Used by schedules, predicates and the emitter.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The bytes of a thread's widest access.
inline constexpr int64_t kWidestAccess = 16;
/// The least bytes that cp.async copies.
inline constexpr int64_t kLeastCopy = 4;

/// The number of elements in one access to memory that stages read.
int64_t read_width(const IndexMap& map, DType dtype, const Schedule& schedule);

/// The number of elements in one access to memory that the prologue of `operand` reads, if the
/// mainloop fetches `fetched` elements at a time.
int64_t prologue_width(const IndexMap& map, DType dtype, const MatrixOperand& operand,
                       int64_t fetched);

struct StoreWidth {
  int64_t vec = 1;     ///< adjacent elements of one access
  bool staged = false; ///< through shared memory (tile/staged_store.cuh)
};
/// `is_whole`: each point of the domain has an element of its own.
StoreWidth store_width(const IndexMap& map, DType dtype, bool is_whole, const Schedule& schedule);

/// True if a store of a kernel is staged.
bool stages_rows(const Kernel& kernel, const Schedule& schedule);

/// True if a store is staged only for some sizes of named dimensions.
bool staging_needs_sizes(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
