// SPDX-License-Identifier: Apache-2.0
// Schedules of sm_90a: products by wgmma.
#pragma once

#include "codegen/schedule/choose.h"

namespace ingot {

/// The legal schedules by wgmma for a group with matmuls, each as its variants in the order of a
/// launch. A tile comes first with its whole K, and then with K split if that fills the machine.
/// `usual` are those of sm_80 without a split K. Empty: none is legal.
std::vector<std::vector<Schedule>> wgmma_candidates(const ScheduleSite& site,
                                                    llvm::ArrayRef<Schedule> usual);

} // namespace ingot
