// SPDX-License-Identifier: Apache-2.0
// Joins kernels that do not feed each other and read the same tensor, or finds the reason against
// it. Called by grouping once each op has its kernel, and by explain's reasons about neighbours.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// Joins sets that read one tensor, or merge partials of one kernel, if the joined kernel's domain
/// is no wider than either's.
void join_siblings(Partition& partition, const SetJudge& judge);

/// The reason why two sets that read `shared` and do not feed each other are two; empty: they would
/// be one.
std::optional<Reason> siblings_apart(const Partition& partition, const SetJudge& judge, int first,
                                     int second, ValueId shared);

} // namespace ingot
