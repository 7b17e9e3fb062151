// SPDX-License-Identifier: Apache-2.0
// Schedules of sm_90a: products by wgmma.
#pragma once

#include "codegen/schedule/choose.h"

namespace ingot {

/// The legal schedules by wgmma for a group with matmuls, each as its variants in the order of a
/// launch. A tile comes first by blocks alone, then by clusters, and then with K split if that
/// fills the machine. The stages, and the variants for tensors that no map describes, are as
/// `choice` has them without wgmma. Empty: none is legal, or the target's family has no wgmma.
Candidates wgmma_candidates(const ScheduleSite& site, ScheduleChoice choice);

} // namespace ingot
