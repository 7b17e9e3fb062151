// SPDX-License-Identifier: Apache-2.0
// See parts.h.
#include "codegen/parts.h"

#include "codegen/access.h"

#include <algorithm>

namespace ingot {
namespace {

/// The width, where it is known: part_width of tile/partials.cuh.
std::optional<int64_t> fixed_width(const Dim& extent, const Parts& parts) {
  if (parts.most == 0) return parts.unit;
  if (!extent.is_fixed()) return std::nullopt;
  const int64_t units = (extent.fixed() + parts.unit - 1) / parts.unit;
  return std::max<int64_t>(1, (units + parts.most - 1) / parts.most) * parts.unit;
}

} // namespace

std::string part_width_code(const Dim& extent, const Parts& parts) {
  if (const auto width = fixed_width(extent, parts)) return fmt::format("{}", *width);
  return fmt::format("part_width({}, {}, {})", dim_code(extent), parts.unit, parts.most);
}

std::string part_count_code(const Dim& extent, const Parts& parts) {
  if (const auto width = fixed_width(extent, parts))
    return fmt::format("({} + {}) / {}", dim_code(extent), *width - 1, *width);
  return fmt::format("part_count({}, {}, {})", dim_code(extent), parts.unit, parts.most);
}

Expr part_count_limit(const Dim& extent, const Parts& parts) {
  if (const auto width = fixed_width(extent, parts)) return ceil_div(dim_expr(extent), *width);
  return min(ceil_div(dim_expr(extent), parts.unit), parts.most);
}

} // namespace ingot
