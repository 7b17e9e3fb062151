// SPDX-License-Identifier: Apache-2.0
// Kernels that do not feed each other and read the same become one. Called by grouping once each op
// has its kernel.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// Joins sets that read one tensor, or merge partials of one kernel, where the kernel of both has
/// no wider domain than either.
void join_siblings(Partition& partition, const SetJudge& judge);

} // namespace ingot
