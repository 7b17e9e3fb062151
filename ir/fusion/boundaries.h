// SPDX-License-Identifier: Apache-2.0
// Gives the reason why two kernels of a plan were not joined. Called once its kernels are known.
#pragma once

#include "ir/fusion/set_judge.h"
#include "ir/fusion/stores.h"

namespace ingot {

/// Adds the boundaries of the plan's groups: between groups that exchange values, and between
/// neighbours that exchange none. `sets`: the set of the partition for each group. `apart`: the
/// reasons that kept ops out of sets, in the order in which they were noted.
void add_boundaries(const Partition& partition, const SetJudge& judge, llvm::ArrayRef<Apart> apart,
                    llvm::ArrayRef<int> sets, FusionPlan& plan);

} // namespace ingot
