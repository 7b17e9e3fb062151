// SPDX-License-Identifier: Apache-2.0
// Writes what a kernel knows of a tensor that it stores: where an element lies, and which points of
// the domain store one. Called by the emitter alone.
#pragma once

#include "codegen/functors.h"
#include "codegen/store_formula.h"

#include <string>

namespace ingot {

struct OutputNames {
  std::string type;    ///< of the struct that is written
  std::string pointer; ///< the member of Params
};

/// Writes an output of `write`, as tile/operand.cuh describes it.
void write_output(CodeWriter& out, const Graph& graph, const Group& group, const Write& write,
                  const StoreFormula& store, const OutputNames& names);

} // namespace ingot
