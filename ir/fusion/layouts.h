// SPDX-License-Identifier: Apache-2.0
// Chooses the order in which the elements of a value lie in memory, where its readers view them in
// another one. Called by grouping once each op has its kernel.
#pragma once

#include "ir/fusion/partition.h"

namespace ingot {

/// Stores the operands of products in an order in which they are strided: the heads of attention
/// side by side, as the layer behind reads them. Copies of a product's operand are of strided
/// tensors only.
void choose_layouts(Partition& partition);

} // namespace ingot
