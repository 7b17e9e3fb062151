// SPDX-License-Identifier: Apache-2.0
// What passes that rewrite gathers say of their indices.
#pragma once

#include "ir/passes/rewriter.h"

namespace ingot {

/// Bools of the index's shape: it says one of `extent` elements.
ValueId is_in_range(GraphRewriter& rewriter, ValueId index, const Dim& extent);

/// What a gather yields where it is not: NaN, 0 or false.
ValueId missing_element(GraphRewriter& rewriter, DType dtype);

} // namespace ingot
