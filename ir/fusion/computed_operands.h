// SPDX-License-Identifier: Apache-2.0
// Lets a product's kernel compute operand A from another product, tile by tile along K: a softmax
// of scores, times values. Called by grouping when all ops have their kernels.
#pragma once

#include "ir/fusion/set_judge.h"
#include "ir/fusion/stores.h"

namespace ingot {

/// Joins kernels of a partition if a matmul then computes its operand A along the contraction. The
/// obstacle for others becomes the rule of their boundaries in `apart`.
void compute_operands(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart);

} // namespace ingot
