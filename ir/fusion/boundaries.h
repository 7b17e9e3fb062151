// SPDX-License-Identifier: Apache-2.0
// Says why each two kernels of a plan are two. Called once its kernels are known.
#pragma once

#include "ir/fusion/set_judge.h"
#include "ir/fusion/stores.h"

namespace ingot {

/// Adds the boundaries of the plan's groups, which come from `sets` of the partition, one each: of
/// what they exchange, and of neighbours that exchange nothing. `apart`: what kept ops out of sets,
/// in the order in which it was noted.
void add_boundaries(const Partition& partition, const SetJudge& judge, llvm::ArrayRef<Apart> apart,
                    llvm::ArrayRef<int> sets, FusionPlan& plan);

} // namespace ingot
