// SPDX-License-Identifier: Apache-2.0
// The schedules of a kernel that a tuner may try: legal ones, the most promising first.
#pragma once

#include "codegen/schedule/cost_model.h"

namespace ingot {

struct ScheduleCandidate {
  ScheduleChoice choice;
  std::vector<Schedule> schedules; ///< the kernel's variants
  KernelCost cost;                 ///< predicted, of the first variant
};

/// The variants of a kernel as `choice` has it; none: it is not among those that a tuner may try.
std::optional<std::vector<Schedule>> chosen_schedules(const ScheduleSite& site,
                                                      const ScheduleChoice& choice);

/// The first one is what choose_schedules does by itself; the rest are ranked by their cost. No two
/// have the same first variant. `dims`: sizes of named dimensions.
std::vector<ScheduleCandidate> candidates(const ScheduleSite& site,
                                          const std::map<std::string, int64_t>& dims);

} // namespace ingot
