// SPDX-License-Identifier: Apache-2.0
// How wide a kernel stores one of its tensors, and whether on the way through shared memory. Used
// by schedules, by the plan of shared memory and by the emitter.
#pragma once

#include "codegen/access.h"
#include "codegen/schedule.h"

namespace ingot {

struct StoreFormula {
  IndexFormula index;
  int64_t vec = 1;     ///< adjacent elements of one access
  bool staged = false; ///< 16 bytes a thread, through shared memory (tile/staged_store.cuh)
};

StoreFormula store_formula(const Graph& graph, const Group& group, const Schedule& schedule,
                           const Write& write);

/// Bytes in which the stores of a kernel stage their rows, each in its turn.
int64_t staging_bytes(const Graph& graph, const Group& group, const Schedule& schedule);

/// True when a store is staged only for some sizes of named dimensions.
bool staging_needs_sizes(const Graph& graph, const Group& group, const Schedule& schedule);

} // namespace ingot
