// SPDX-License-Identifier: Apache-2.0
// Two products of a kernel whose results are used only in their sum. Used by legality alone.
#pragma once

#include "ir/fusion/bindings.h"

namespace ingot {

/// The sum or difference of a group's two matmuls, of which one may have a number as a factor. That
/// one is then put first, and has a fixed K. None if another op or a store reads a product, or if
/// operands do not have 16 bits.
std::optional<SummedProducts> find_sum(const Graph& graph, const Bindings& bindings, Group& group);

} // namespace ingot
