// SPDX-License-Identifier: Apache-2.0
// Decides what each set of a partition stores: its own results, outputs in the shape that the graph
// returns, parts of concats into their places; and what kernels that only move data do.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// Why `consumer` is in no kernel with what makes `value`.
struct Apart {
  OpId consumer;
  ValueId value;
  Reason reason;
  bool says_least = false; ///< a reason that was noted before of the same stands
};

/// The plan of a partition that holds every op. Errors: ErrorCode::unsupported for an output that
/// no kernel moves; ErrorCode::internal for a set that is no kernel with what it has to store,
/// whose ops are put into `refused`. `judged`: see SetJudge.
llvm::Expected<FusionPlan> plan_stores(Partition partition, const std::set<OpId>& judged,
                                       std::vector<Apart> apart, OpSet& refused);

} // namespace ingot
