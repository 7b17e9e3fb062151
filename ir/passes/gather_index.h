// SPDX-License-Identifier: Apache-2.0
// Index arithmetic for passes that rewrite gathers.
#pragma once

#include "ir/passes/rewriter.h"

namespace ingot {

/// A bool tensor of the index's shape: whether the index is in [0, extent).
ValueId is_in_range(GraphRewriter& rewriter, ValueId index, const Dim& extent);

/// The result of a gather at an index out of range: NaN, 0 or false.
ValueId missing_element(GraphRewriter& rewriter, DType dtype);

} // namespace ingot
