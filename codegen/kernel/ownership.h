// SPDX-License-Identifier: Apache-2.0
// The conditions under which the points of a domain store an element. Used by build_kernel.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The point (batch, row, col) stores if all of these hold.
std::vector<Condition> owning_points(const Group& group, const Access& access);

/// Some of the `count` columns from `col` on may store if all of these hold.
std::vector<Condition> reaching_columns(const Group& group, const Access& access);

} // namespace ingot
