// SPDX-License-Identifier: Apache-2.0
// Chooses sizes for named dimensions that were not given. explain, bench, tune and check call it.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

enum class DimSizes : uint8_t {
  usual, ///< kAssumedSize each; for figures and times
  odd,   ///< small, odd and different; a mixed-up extent then shows in comparisons
};

/// Upper bound of the bytes of any tensor at the chosen sizes. It holds if smaller sizes of named
/// dimensions can satisfy it.
int64_t largest_tensor_bytes(DimSizes sizes);

/// A size for each named dimension: the given one, or one of `sizes`, lowered until every tensor
/// with that dimension is within largest_tensor_bytes. Errors: ErrorCode::invalid_argument for a
/// given name that the graph lacks.
llvm::Expected<DimBindings> choose_dims(const Graph& graph, const DimBindings& given,
                                        DimSizes sizes);

} // namespace ingot
