// SPDX-License-Identifier: Apache-2.0
// See ownership.h.
#include "codegen/kernel/ownership.h"

#include "codegen/kernel/index_map.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

using Compare = Condition::Compare;

class Owners {
public:
  Owners(const Group& group, const Access& access)
      : group_(group), access_(access), own_(group.space.leaves(access.dims)) {
    add_lacking(group.domain.rows, Coordinate::row);
    add_lacking(group.domain.columns, Coordinate::col);
    // A single column is not a factor, but the tile is wider.
    if (group.domain.columns.empty())
      points.push_back({Compare::equal, coordinate(Coordinate::col), 0});
    for (size_t d = 0; d < access.ranges.size(); ++d)
      if (access.ranges[d].is_part()) add_part(d);
  }

  std::vector<Condition> points, columns;

private:
  void add_lacking(llvm::ArrayRef<Atom> factors, Coordinate along);
  void add_part(size_t d);
  Expr extent(llvm::ArrayRef<Atom> factors) const { return dim_expr(group_.space.extent(factors)); }

  const Group& group_;
  const Access& access_;
  const AtomList own_;
};

/// Adds the conditions for factors of the domain that the output lacks: the point at which all of
/// them are 0 stores.
void Owners::add_lacking(llvm::ArrayRef<Atom> factors, Coordinate along) {
  for (size_t first = 0, last = 0; first < factors.size(); first = last + 1) {
    last = first;
    if (llvm::is_contained(own_, factors[first])) continue;
    while (last + 1 < factors.size() && !llvm::is_contained(own_, factors[last + 1])) ++last;
    Expr index = coordinate(along) / extent(factors.drop_front(last + 1));
    if (first > 0) index = index % extent(factors.slice(first, last - first + 1));
    points.push_back({Compare::equal, index, 0});
  }
}

/// Adds the condition that only the points inside the range of dim `d` store.
void Owners::add_part(size_t d) {
  const AxisRange& range = access_.ranges[d];
  const AtomList leaves = group_.space.leaves(access_.dims[d]);
  const auto domain_columns = llvm::ArrayRef<Atom>(group_.domain.columns);
  Dim first = range.before, last = range.before + range.within;
  const bool has_first = !first.is(0), has_last = group_.space.extent(leaves) != last;
  const bool is_outermost =
      !leaves.empty() && domain_columns.take_front(leaves.size()) == llvm::ArrayRef<Atom>(leaves);
  const Dim inner =
      group_.space.extent(domain_columns.drop_front(is_outermost ? leaves.size() : 0));
  Expr index = dense_index(group_, {access_.dims[d]}, stage_coordinates(group_));
  if (is_outermost && inner.is_fixed()) {
    index = coordinate(Coordinate::col);
    first = first * inner;
    last = last * inner;
    if (has_first)
      columns.push_back({Compare::above, index + coordinate(Coordinate::count), dim_expr(first)});
    if (has_last) columns.push_back({Compare::below, index, dim_expr(last)});
  }
  if (has_first) points.push_back({Compare::at_least, index, dim_expr(first)});
  if (has_last) points.push_back({Compare::below, index, dim_expr(last)});
}

} // namespace

std::vector<Condition> owning_points(const Group& group, const Access& access) {
  return Owners(group, access).points;
}

std::vector<Condition> reaching_columns(const Group& group, const Access& access) {
  return Owners(group, access).columns;
}

} // namespace ingot
