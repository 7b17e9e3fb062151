// SPDX-License-Identifier: Apache-2.0
// Which f32 products are made of halves on tensor cores (tile/halves.cuh), and the schedule choices
// of these alone.
#pragma once

#include "codegen/schedule/choose.h"

namespace ingot {

/// True for f32 products, promised as `highest`, that are large enough to pay for the halves of
/// their operands.
bool suits_halves(const Graph& graph, const Group& group, const ScheduleOptions& options);

/// The warps and slots of such a kernel. A thread has sums of all products, one of parts, and
/// fragments of four halves: 64 sums of a product at most, and 32 of each of a pair.
void set_halves_warps(const Group& group, Schedule& schedule);

/// Deep tiles of two slots measure better than shallow ones of three, and take more registers: for
/// sizes that are numbers and tiles of one product that blocks do not share, where they fit.
void deepen_halves_stages(const ScheduleSite& site, Schedule& schedule);

} // namespace ingot
