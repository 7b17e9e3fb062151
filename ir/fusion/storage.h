// SPDX-License-Identifier: Apache-2.0
// The storage of intermediates of 16-bit types between kernels. The compiler page calls it on a
// finished plan.
#pragma once

#include "ir/fusion/plan.h"

#include <set>

namespace ingot {

/// The tensors whose elements the mainloops fetch: these must have the operand's type.
std::set<ValueId> fetched(const FusionPlan& plan);

/// Keeps f32 in memory for intermediates of 16-bit types where rounding costs more than bytes:
/// - values of lower order than the kernels that write or read them: statistics, row and column
///   vectors. (Batch statistics that were stored as bf16 cost 1.2 times eager PyTorch's error.)
/// - residual sums whose kernel takes the moments of their rows in parts, or sums over them, as
///   LayerNorm and RMSNorm do. The norm then reads the numbers of which the moments are. (As bf16
///   they cost four layers of BERT and of ViT 1.25 times the error of kernels that add and
///   normalise at once. As f32 they cost up to 4 % of a model's time on an H200.)
/// - values that are copied to tensors of f32, such as parts of concats.
/// Fills in Group::rounded.
void choose_storage(Graph& graph, FusionPlan& plan);

} // namespace ingot
