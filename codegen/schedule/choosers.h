// SPDX-License-Identifier: Apache-2.0
// The two parts of choose_schedules: for groups with matmuls, and for loaded rows.
#pragma once

#include "codegen/schedule/choose.h"

#include <algorithm>

namespace ingot {

/// True if blocks share rows of the domain.
inline bool shares_rows(const Group& group) {
  return std::any_of(group.reductions.begin(), group.reductions.end(),
                     [](const Reduction& r) { return r.global; });
}

/// The size of an extent that choices of tiles assume. A named extent counts as large. Sizes from
/// 2^40 on all lead to the same choice, and sums of them must not overflow.
inline int64_t assumed(const Dim& dim) {
  return dim.is_fixed() ? std::min(dim.fixed(), int64_t{1} << 40) : int64_t{1} << 20;
}

/// As choose_schedules, but shared_bytes is not set.
llvm::Expected<std::vector<Schedule>> choose_product_schedules(const ScheduleSite& site,
                                                               const ScheduleChoice& choice);
llvm::Expected<std::vector<Schedule>> choose_row_schedules(const ScheduleSite& site,
                                                           const ScheduleChoice& choice);

/// Splits K if that fills the machine.
void choose_split(const ScheduleSite& site, Schedule& schedule);

} // namespace ingot
