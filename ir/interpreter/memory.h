// SPDX-License-Identifier: Apache-2.0
// Checks the memory of an evaluation before any of it is allocated. evaluate calls it, and so does
// code that makes its inputs.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

/// Errors: invalid_argument if the size of a value overflows, or if the inputs and the values alive
/// at one time, with bounds under `precisions` precisions, exceed this machine's memory. The
/// message names the largest value and its bytes.
llvm::Error check_memory(const Graph& graph, const DimBindings& dims, size_t precisions);

/// Errors: unavailable if `bytes` for `what` exceed the memory of this process.
llvm::Error check_bytes(llvm::StringRef what, double bytes);

} // namespace ingot
