// SPDX-License-Identifier: Apache-2.0
// The sizes of named dimensions that nobody gave. Called by explain, bench, tune and check.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

enum class DimSizes : uint8_t {
  usual, ///< 1024 each; for figures and times
  odd,   ///< small, odd and different, so that a mixed-up extent shows; for comparisons
};

/// The most bytes that a tensor of the graph has at the chosen sizes, where smaller sizes of its
/// named dimensions can keep it there.
int64_t largest_tensor_bytes(DimSizes sizes);

/// A size for each named dimension: the given one, else one of `sizes`, made smaller until every
/// tensor that has the dimension keeps to largest_tensor_bytes.
/// Errors: ErrorCode::invalid_argument for a given name that the graph lacks.
llvm::Expected<DimBindings> choose_dims(const Graph& graph, const DimBindings& given,
                                        DimSizes sizes);

} // namespace ingot
