// SPDX-License-Identifier: Apache-2.0
// See index_map.h.
#include "codegen/kernel/index_map.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace ingot {

int64_t IndexMap::widest(int64_t limit) const {
  if (!contiguous) return 1;
  for (const Dim& dim : multiples)
    while (limit > 1 && dim.is_fixed() && dim.factor() % limit != 0) limit /= 2;
  return limit;
}

std::vector<Dim> IndexMap::needed(int64_t width) const {
  std::vector<Dim> named;
  for (const Dim& dim : multiples)
    if (width > 1 && !dim.is_fixed() && dim.factor() % width != 0) named.push_back(dim);
  return named;
}

Expr dim_expr(const Dim& dim) {
  std::optional<Expr> sum, taken;
  auto add = [](std::optional<Expr>& to, const Expr& term) { to = to ? *to + term : term; };
  for (const Dim::Product& product : dim.products()) {
    Expr term = std::abs(product.coefficient);
    for (const std::string& name : product.names) term = term * Expr::symbol(name);
    add(product.coefficient < 0 ? taken : sum, term);
  }
  if (dim.constant() != 0 || (!sum && !taken))
    add(dim.constant() < 0 ? taken : sum, std::abs(dim.constant()));
  if (!taken) return *sum;
  return sum.value_or(Expr(0)) - *taken;
}

std::vector<CoordinateFactors> stage_coordinates(const Group& group) {
  return {{Coordinate::batch, group.domain.batch},
          {Coordinate::row, group.domain.rows},
          {Coordinate::col, group.domain.columns}};
}

std::vector<CoordinateFactors> operand_coordinates(const Group& group, const Matmul& matmul,
                                                   uint32_t operand) {
  return {{Coordinate::batch, group.domain.batch},
          {Coordinate::mn, operand == 0 ? group.domain.rows : group.domain.columns},
          {Coordinate::k, matmul.contraction}};
}

namespace {

/// Adjacent factors of one coordinate that the tensor counts through as one index.
struct Run {
  size_t first, last; ///< positions in the coordinate's factors
  Dim stride;         ///< stride in elements
};

AxisRange range_of(const Access& access, size_t d) {
  return access.ranges.empty() ? AxisRange() : access.ranges[d];
}

/// The distance in memory of one step along each factor.
using Strides = std::map<Atom, Dim>;

/// Adds the strides of dim `d`, one step of which moves by `step`.
void add_strides(const Group& group, const Access& access, size_t d, const Dim& step,
                 Strides& strides) {
  Dim inner = step;
  const AtomList leaves = group.space.leaves(access.dims[d]);
  for (size_t k = leaves.size(); k-- > 0;) {
    strides[leaves[k]] = inner;
    inner = inner * group.space.extent(leaves[k]);
  }
}

std::vector<Run> runs_of(const Group& group, llvm::ArrayRef<Atom> factors, const Strides& strides) {
  std::vector<Run> runs; // innermost first
  for (size_t k = factors.size(); k-- > 0;) {
    auto stride = strides.find(factors[k]);
    if (stride == strides.end()) continue;
    if (!runs.empty() && runs.back().first == k + 1) {
      const Run& inner = runs.back();
      Dim span = inner.stride;
      for (size_t i = inner.first; i <= inner.last; ++i)
        span = span * group.space.extent(factors[i]);
      if (stride->second == span) {
        runs.back().first = k;
        continue;
      }
    }
    runs.push_back({k, k, stride->second});
  }
  return runs;
}

/// `col / 32 % 256`: the index that a run counts.
Expr run_index(const Group& group, const CoordinateFactors& along, const Run& run) {
  const auto extent = [&](llvm::ArrayRef<Atom> factors) {
    return dim_expr(group.space.extent(factors));
  };
  Expr index = coordinate(along.coordinate) / extent(along.factors.drop_front(run.last + 1));
  if (run.first > 0)
    index = index % extent(along.factors.slice(run.first, run.last - run.first + 1));
  return index;
}

class MapBuilder {
public:
  /// `is_inside`: the map is used only where the ranges hold.
  MapBuilder(const Group& group, const Access& access,
             llvm::ArrayRef<CoordinateFactors> coordinates, bool is_inside)
      : group_(group), access_(access), coordinates_(coordinates), is_inside_(is_inside) {}
  IndexMap run();

private:
  void add_terms(const Strides& strides, const Dim& scale, Expr& sum);
  Expr term_within(size_t d, const Dim& dense);
  void require_multiple(const Dim& dim) { map_.multiples.push_back(dim); }

  const Group& group_;
  const Access& access_;
  const llvm::ArrayRef<CoordinateFactors> coordinates_;
  const bool is_inside_;
  IndexMap map_;
};

/// Adds to `sum` an index that moves by `strides`, counted in steps of `scale`.
void MapBuilder::add_terms(const Strides& strides, const Dim& scale, Expr& sum) {
  for (const CoordinateFactors& along : coordinates_)
    for (const Run& run : runs_of(group_, along.factors, strides)) {
      const Expr index = run_index(group_, along, run);
      const bool is_step = index.kind() == Expr::Kind::coordinate;
      map_.is_affine &= is_step;
      map_.strides[along.coordinate] = run.stride;
      const bool innermost = run.last + 1 == along.factors.size();
      const Dim extent =
          group_.space.extent(along.factors.slice(run.first, run.last - run.first + 1));
      if (along.coordinate == Coordinate::batch)
        map_.batches.push_back({index, extent, run.stride});
      else
        map_.has_matrices &= is_step;
      if (innermost && (run.stride * scale).is(1)) {
        map_.contiguous = along.coordinate;
        require_multiple(extent);
      } else {
        require_multiple(run.stride * scale);
      }
      sum = sum + index * dim_expr(run.stride);
    }
}

/// The index term of a dim that only has some positions.
Expr MapBuilder::term_within(size_t d, const Dim& dense) {
  const AxisRange range = range_of(access_, d);
  const Dim scale = dense * Dim(range.step);
  Strides strides;
  add_strides(group_, access_, d, 1, strides);
  Expr position;
  add_terms(strides, scale, position);
  map_.is_affine = map_.has_matrices = false;
  if (!range.within.is_fixed()) map_.nonempty.push_back(range.within);
  // An access of adjacent elements lies inside as a whole, or outside.
  require_multiple(scale * range.before);
  require_multiple(scale * range.within);
  return within(position - dim_expr(range.before), dim_expr(range.within)) * dim_expr(scale);
}

IndexMap MapBuilder::run() {
  Strides strides;
  Expr partial, offset;
  Dim dense = 1;
  for (size_t d = access_.shape.size(); d-- > 0;) {
    AxisRange range = range_of(access_, d);
    if (range.is_part() && is_inside_) {
      require_multiple(dense * Dim(range.step) * range.before);
      require_multiple(dense * Dim(range.step) * range.within);
      range = {range.start - Dim(range.step) * range.before, range.step};
    }
    if (range.is_part())
      partial = partial + term_within(d, dense);
    else
      add_strides(group_, access_, d, dense * Dim(range.step), strides);
    if (!range.start.is(0)) {
      require_multiple(dense * range.start);
      offset = offset + dim_expr(dense * range.start);
    }
    dense = dense * access_.shape[d];
  }
  add_terms(strides, 1, map_.index);
  map_.index = map_.index + partial + offset;
  map_.first = offset;
  return std::move(map_);
}

} // namespace

IndexMap index_map(const Group& group, const Access& access,
                   llvm::ArrayRef<CoordinateFactors> coordinates) {
  return MapBuilder(group, access, coordinates, false).run();
}

IndexMap store_map(const Group& group, const Access& access) {
  return MapBuilder(group, access, stage_coordinates(group), true).run();
}

Expr dense_index(const Group& group, const AtomShape& dims,
                 llvm::ArrayRef<CoordinateFactors> coordinates) {
  Access access{ValueId(), {}, dims};
  for (const AtomList& list : dims)
    access.shape.push_back(group.space.extent(group.space.leaves(list)));
  return index_map(group, access, coordinates).index;
}

bool is_wide(const TileBody& body, const IndexMap& map) {
  return varies_along(map.index, Coordinate::col) &&
         (varies_along(map.index, Coordinate::row) || body.rows.constant() == 1);
}

bool is_wide(const Group& group, const Read& read) {
  if (read.combine && !read.at_points) return false;
  const AtomList own = group.space.leaves(read.access.dims);
  const auto any = [&](const AtomList& factors) {
    return llvm::any_of(factors, [&](Atom atom) { return llvm::is_contained(own, atom); });
  };
  return any(group.domain.columns) && (any(group.domain.rows) || group.domain.rows.empty());
}

} // namespace ingot
