// SPDX-License-Identifier: Apache-2.0
// Kernels that do not feed each other and read the same become one, or have a reason to be two.
// Called by grouping once each op has its kernel, and for what explain tells of neighbours.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// Joins sets that read one tensor, or merge partials of one kernel, where the kernel of both has
/// no wider domain than either.
void join_siblings(Partition& partition, const SetJudge& judge);

/// Why two sets that read `shared` and do not feed each other are two; empty: they would be one.
std::optional<Reason> siblings_apart(const Partition& partition, const SetJudge& judge, int first,
                                     int second, ValueId shared);

} // namespace ingot
