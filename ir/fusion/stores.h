// SPDX-License-Identifier: Apache-2.0
// Decides the stores of each set of a partition: its own results, outputs in the shape that the
// graph returns, and slices of concats in their places. Also decides the work of kernels that only
// move data.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// The reason why `consumer` is in no kernel with the op that yields `value`.
struct Apart {
  OpId consumer;
  ValueId value;
  Reason reason;
  bool says_least = false; ///< an earlier reason for the same pair takes precedence
};

/// The parts of a complete plan that should be grouped again.
struct Refused {
  OpSet ops; ///< of sets that are no kernels with their stores, or that the machine cannot run
  /// Of products whose rows are better reduced by a kernel of their own: see
  /// GroupContext::reduced_apart.
  std::map<OpId, Reason> reductions;

  bool empty() const { return ops.empty() && reductions.empty(); }
};

/// The plan of a partition that holds every op. Errors: ErrorCode::unsupported for an output that
/// no kernel moves; ErrorCode::internal if a part of the plan is `refused`. `judged`: see SetJudge.
llvm::Expected<FusionPlan> plan_stores(Partition partition, const std::set<OpId>& judged,
                                       std::vector<Apart> apart, Refused& refused);

} // namespace ingot
