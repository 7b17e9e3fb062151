// SPDX-License-Identifier: Apache-2.0
// The storage of intermediates of 16-bit types between kernels. The compiler page calls it on a
// finished plan.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// Keeps f32 in memory for intermediates of lower order than the kernels that write or read them:
/// statistics, row and column vectors. (Batch statistics that were stored as bf16 cost 1.2 times
/// eager PyTorch's error.) Fills in Group::rounded.
void choose_storage(Graph& graph, FusionPlan& plan);

} // namespace ingot
