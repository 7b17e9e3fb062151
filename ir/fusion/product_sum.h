// SPDX-License-Identifier: Apache-2.0
// Two products of a kernel whose results are used only in their sum. Used by legality alone.
#pragma once

#include "ir/fusion/bindings.h"

namespace ingot {

/// The sum of a group's two matmuls, if no other op and no store takes their results, one of them
/// times a number or less the other. Then puts that one first. Both have 16-bit operands, and the
/// first has a fixed K.
std::optional<SummedProducts> find_sum(const Graph& graph, const Bindings& bindings, Group& group);

} // namespace ingot
