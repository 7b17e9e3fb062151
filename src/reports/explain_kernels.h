// SPDX-License-Identifier: Apache-2.0
// The kernels of a compilation as facts. explain reports them for the graph and for each of its
// operators alone. Called by explain.
#pragma once

#include "src/reports/explain.h"

namespace ingot {

/// An Explanation without the cost of running op by op. `sizes`: those of all named dimensions.
/// Errors: ErrorCode::invalid_argument for sizes whose figures overflow.
llvm::Expected<Explanation> explain_kernels(const Compilation& compilation, DimBindings sizes);

} // namespace ingot
