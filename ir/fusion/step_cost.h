// SPDX-License-Identifier: Apache-2.0
// What it costs to reduce segments tile by tile where no step that divides them fills a tile,
// beside storing the product and reducing it where it is read: arithmetic over bytes and products.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// Columns that a tile of a matmul's group computes and drops for each one it keeps, beyond those
/// that segments inside its tile cost. 0: its segments that cross tiles cost nothing.
double columns_lost(const Group& group, const FusionLimits& limits);

/// Why the product of `group` had better be stored and read again; none: what its tiles drop costs
/// less. Segments that are reduced where the product is stored all the same save nothing: that is
/// for the caller to know.
std::optional<Reason> costly_step(const Graph& graph, const Group& group,
                                  const FusionLimits& limits);

} // namespace ingot
