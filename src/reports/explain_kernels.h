// SPDX-License-Identifier: Apache-2.0
// The kernels of a compilation as facts: what explain says of the graph, and of each of its
// operators alone. Called by explain.
#pragma once

#include "src/reports/explain.h"

namespace ingot {

/// All of an Explanation but what running op by op would cost. `sizes`: of every named dimension.
/// Errors: ErrorCode::invalid_argument for sizes whose figures overflow.
llvm::Expected<Explanation> explain_kernels(const Compilation& compilation, DimBindings sizes);

} // namespace ingot
