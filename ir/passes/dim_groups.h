// SPDX-License-Identifier: Apache-2.0
// How the dims of a reshape's operand and result correspond.
#pragma once

#include "ir/types.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ingot {

/// Dims [from_begin, from_end) of the operand and [to_begin, to_end) of the result hold the same
/// elements in the same order.
struct DimGroup {
  size_t from_begin, from_end;
  size_t to_begin, to_end;
};

/// The finest such groups, in order, covering all dims. Extents of 1 are alone in a group that is
/// empty on the other side. nullopt where named extents cannot be told apart; both shapes have the
/// same element count.
std::optional<std::vector<DimGroup>> group_dims(const Shape& from, const Shape& to);

} // namespace ingot
