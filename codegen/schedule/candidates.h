// SPDX-License-Identifier: Apache-2.0
// The schedules of a kernel that a tuner may try. All are legal; the most promising come first.
#pragma once

#include "codegen/schedule/cost_model.h"

namespace ingot {

struct ScheduleCandidate {
  ScheduleChoice choice;
  std::vector<Schedule> schedules; ///< the kernel's variants
  KernelCost cost;                 ///< the predicted cost of the first variant
};

/// The variants of a kernel for `choice`; none: a tuner may not try it.
std::optional<std::vector<Schedule>> chosen_schedules(const ScheduleSite& site,
                                                      const ScheduleChoice& choice);

/// The first candidate is the result of choose_schedules without a choice. The rest are ranked by
/// their cost. No two have the same first variant. `dims`: sizes of named dimensions.
std::vector<ScheduleCandidate> candidates(const ScheduleSite& site,
                                          const std::map<std::string, int64_t>& dims);

} // namespace ingot
