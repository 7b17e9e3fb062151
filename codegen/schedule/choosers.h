// SPDX-License-Identifier: Apache-2.0
// The two halves of choose_schedules: of groups with matmuls, and of loaded rows.
#pragma once

#include "codegen/schedule/choose.h"

#include <algorithm>

namespace ingot {

/// Blocks share rows of the domain.
inline bool shares_rows(const Group& group) {
  return std::any_of(group.reductions.begin(), group.reductions.end(),
                     [](const Reduction& r) { return r.global; });
}

/// As choose_schedules; all but the bytes of shared memory.
llvm::Expected<std::vector<Schedule>> choose_product_schedules(const ScheduleSite& site,
                                                               const ScheduleChoice& choice);
llvm::Expected<std::vector<Schedule>> choose_row_schedules(const ScheduleSite& site,
                                                           const ScheduleChoice& choice);

/// Lets blocks share the tiles where that fills the machine.
void choose_split(const ScheduleSite& site, Schedule& schedule);

} // namespace ingot
