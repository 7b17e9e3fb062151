// SPDX-License-Identifier: Apache-2.0
// The correspondence between the dims of a reshape's operand and those of its result.
#pragma once

#include "ir/types.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ingot {

/// Dims [from_begin, from_end) of the operand and [to_begin, to_end) of the result. They hold the
/// same elements in the same order.
struct DimGroup {
  size_t from_begin, from_end;
  size_t to_begin, to_end;
};

/// The finest such groups, in order, covering all dims. An extent of 1 is alone in a group whose
/// other side is empty. nullopt if the named extents do not determine the groups. Both shapes have
/// the same element count.
std::optional<std::vector<DimGroup>> group_dims(const Shape& from, const Shape& to);

} // namespace ingot
