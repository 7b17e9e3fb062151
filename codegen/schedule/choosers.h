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

/// The size of an extent for choosing tiles: a named one counts as large. No choice differs for
/// sizes from 2^40 on, and sums with them must not overflow.
inline int64_t assumed(const Dim& dim) {
  return dim.is_fixed() ? std::min(dim.fixed(), int64_t{1} << 40) : int64_t{1} << 20;
}

/// As choose_schedules; all but the bytes of shared memory.
llvm::Expected<std::vector<Schedule>> choose_product_schedules(const ScheduleSite& site,
                                                               const ScheduleChoice& choice);
llvm::Expected<std::vector<Schedule>> choose_row_schedules(const ScheduleSite& site,
                                                           const ScheduleChoice& choice);

/// Lets blocks share the tiles where that fills the machine.
void choose_split(const ScheduleSite& site, Schedule& schedule);

} // namespace ingot
