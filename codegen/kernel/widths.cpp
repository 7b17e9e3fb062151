// SPDX-License-Identifier: Apache-2.0
// See widths.h.
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

namespace {

/// The coordinate along which an access of the stages takes Schedule::vec elements.
Coordinate adjacent(const Schedule& s) {
  return s.row_threads == RowThreads::along_rows ? Coordinate::row : Coordinate::col;
}

/// The width of an access of up to `vec` elements along a coordinate.
int64_t width_along(Coordinate along, const IndexMap& map, DType dtype, int64_t vec) {
  return map.contiguous == along ? map.widest(std::min(vec, kWidestAccess / size_of(dtype))) : 1;
}

} // namespace

int64_t read_width(const IndexMap& map, DType dtype, const Schedule& s) {
  return width_along(adjacent(s), map, dtype, s.vec);
}

int64_t prologue_width(const IndexMap& map, DType dtype, const MatrixOperand& operand,
                       int64_t fetched) {
  const bool is_mn = operand.from.map.contiguous == Coordinate::mn;
  return width_along(is_mn ? Coordinate::mn : Coordinate::k, map, dtype, fetched);
}

StoreWidth store_width(const IndexMap& map, DType dtype, bool is_whole, const Schedule& s) {
  const int64_t size = size_of(dtype), most = kWidestAccess / size;
  // Tiles begin at multiples of step_n columns.
  if (s.staged_stores && (size == 2 || size == 4) && is_whole &&
      map.contiguous == Coordinate::col && s.step_n % most == 0)
    return {map.widest(most), true};
  return {read_width(map, dtype, s), false};
}

namespace {

/// True if `visit(map, width)` is true for a store.
template <typename Visit> bool any_store(const Kernel& kernel, const Schedule& s, Visit visit) {
  const auto* body = std::get_if<TileBody>(&kernel.body);
  return body && llvm::any_of(body->stages, [&](const Stage& stage) {
           const auto* store = std::get_if<StoreStage>(&stage.step);
           if (!store) return false;
           const DType dtype = kernel.parameters[store->parameters.front()].dtype;
           return visit(store->map, store_width(store->map, dtype, store->is_whole, s));
         });
}

} // namespace

bool stages_rows(const Kernel& kernel, const Schedule& s) {
  return any_store(kernel, s, [](const IndexMap&, StoreWidth width) { return width.staged; });
}

bool staging_needs_sizes(const Kernel& kernel, const Schedule& s) {
  return any_store(kernel, s, [](const IndexMap& map, StoreWidth width) {
    return width.staged && !map.needed(width.vec).empty();
  });
}

} // namespace ingot
