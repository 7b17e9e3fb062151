// SPDX-License-Identifier: Apache-2.0
// The cost of reducing segments tile by tile if no step that divides them fills a tile, compared
// with storing the product and reducing it where it is read. Arithmetic over bytes and products.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// The columns that a tile of a matmul's group computes and drops for each one that it keeps,
/// beyond the cost of segments inside its tile. 0: its segments that cross tiles cost nothing.
double columns_lost(const Group& group, const FusionLimits& limits);

/// The reason why the product of `group` should be stored and read again; none: the dropped columns
/// cost less. Segments that are reduced where the product is stored anyway save nothing: the caller
/// must know that.
std::optional<Reason> costly_step(const Graph& graph, const Group& group,
                                  const FusionLimits& limits);

} // namespace ingot
