// SPDX-License-Identifier: Apache-2.0
// What an evaluation holds in memory, asked for before any of it is allocated. Called by evaluate
// and by those who make its inputs.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

/// Errors: invalid_argument for a value whose size overflows, and where the inputs and the values
/// alive at one time, with bounds under `precisions` precisions, exceed this machine's memory; the
/// message names the largest value and its bytes.
llvm::Error check_memory(const Graph& graph, const DimBindings& dims, size_t precisions);

/// Errors: unavailable where `bytes` for `what` are more than this process can have.
llvm::Error check_bytes(llvm::StringRef what, double bytes);

} // namespace ingot
