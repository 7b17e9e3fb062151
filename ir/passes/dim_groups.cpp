// SPDX-License-Identifier: Apache-2.0
// One walk over both shapes. It closes a group whenever the products are equal.
#include "ir/passes/dim_groups.h"

namespace ingot {

std::optional<std::vector<DimGroup>> group_dims(const Shape& from, const Shape& to) {
  std::vector<DimGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i].is(1)) {
      groups.push_back({i, i + 1, j, j});
      ++i;
      continue;
    }
    if (j < to.size() && to[j].is(1)) {
      groups.push_back({i, i, j, j + 1});
      ++j;
      continue;
    }
    if (i == from.size() || j == to.size()) return std::nullopt;
    DimGroup group{i, i + 1, j, j + 1};
    Dim left = from[i++], right = to[j++];
    while (left != right) {
      // Fixed extents grow on the smaller side. A named product grows only on the side that lacks
      // factors.
      bool grow_left = left.is_fixed() && right.is_fixed() ? left.fixed() < right.fixed()
                                                           : right.divided_by(left).has_value();
      if (!grow_left && !(left.is_fixed() && right.is_fixed()) && !left.divided_by(right)) {
        return std::nullopt;
      }
      if (grow_left ? i == from.size() : j == to.size()) return std::nullopt;
      if (grow_left) {
        left = left * from[i++];
      } else {
        right = right * to[j++];
      }
    }
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

} // namespace ingot
