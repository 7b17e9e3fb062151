// SPDX-License-Identifier: Apache-2.0
// Writes the stages of global reductions: what stores the states of a tile or a block, and what
// merges the states of all. Called by the emitter alone.
#pragma once

#include "codegen/functors.h"
#include "codegen/parts.h"

#include <string>

namespace ingot {

/// What the writers of single stages know of the kernel.
struct KernelParts {
  const Graph& graph;
  const Group& group;
  Names& names; ///< of the kernel's structs
};

/// The stored states of one global reduction.
struct PartialStates {
  std::string pointer; ///< the Params member
  Cuts cuts;
};

/// Writes how the states of reduction `op`, whose stage is written, are stored. Returns the stage
/// type, `StorePartial<SumPartial>`.
std::string write_partial(CodeWriter& out, FunctorWriter& functors, const KernelParts& kernel,
                          OpId op, const PartialStates& states);

/// Writes how the states of `op`, which an earlier kernel stored, become results. Returns the stage
/// type, `Combine<CombineSum>`; what is merged at points has no stage.
std::string write_combine(CodeWriter& out, FunctorWriter& functors, const KernelParts& kernel,
                          OpId op, const PartialStates& states);

} // namespace ingot
