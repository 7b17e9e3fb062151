// SPDX-License-Identifier: Apache-2.0
// Lets matmuls compute their operands: moves elementwise ops from the kernels that would store an
// operand into the matmul's kernel. Called by grouping when all ops have their kernels.
#pragma once

#include "ir/fusion/set_judge.h"
#include "ir/fusion/stores.h"

namespace ingot {

/// Joins kernels of a partition if a matmul then evaluates its operand. The obstacle for others
/// becomes the rule of their boundaries in `apart`.
void absorb_prologues(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart);

} // namespace ingot
