// SPDX-License-Identifier: Apache-2.0
// Which points of a domain store an element, as conditions. Used by build_kernel.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// Where all hold, the point (batch, row, col) stores.
std::vector<Condition> owning_points(const Group& group, const Access& access);

/// Where all hold, some of the `count` columns from `col` on may store.
std::vector<Condition> reaching_columns(const Group& group, const Access& access);

} // namespace ingot
