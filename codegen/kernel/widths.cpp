// SPDX-License-Identifier: Apache-2.0
// See widths.h.
#include "codegen/kernel/widths.h"

#include "codegen/kernel/index_map.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

int64_t read_width(const IndexMap& map, DType dtype, const Schedule& s) {
  return map.contiguous == s.adjacent()
             ? map.widest(std::min(s.vec, kWidestAccess / size_of(dtype)))
             : 1;
}

int64_t prologue_width(const IndexMap& map, DType dtype, const MatrixOperand& operand,
                       int64_t fetched) {
  const int64_t along = operand.from.map.contiguous == 1 ? 1 : 2; // mn, else k
  return map.contiguous == along ? map.widest(std::min(fetched, kWidestAccess / size_of(dtype)))
                                 : 1;
}

StoreWidth store_width(const IndexMap& map, DType dtype, bool is_whole, const Schedule& s) {
  const int64_t size = size_of(dtype), most = kWidestAccess / size;
  // Tiles begin at multiples of step_n columns.
  if (s.staging == Staging::drained_stage && (size == 2 || size == 4) && is_whole &&
      map.contiguous == 2 && map.widest(most) == most && s.step_n % most == 0)
    return {most, true};
  return {map.contiguous == s.adjacent() ? map.widest(std::min(s.vec, most)) : 1, false};
}

bool is_whole(const Group& group, const Write& write) {
  const AtomList own = group.space.leaves(write.access.dims);
  auto all_of = [&](const AtomList& factors) {
    return llvm::all_of(factors, [&](Atom atom) { return llvm::is_contained(own, atom); });
  };
  return !group.domain.columns.empty() && all_of(group.domain.rows) && all_of(group.domain.columns);
}

namespace {

/// Calls `visit(map, width)` for each store.
template <typename Visit>
bool any_store(const Graph& graph, const Group& group, const Schedule& s, Visit visit) {
  return llvm::any_of(group.writes, [&](const Write& write) {
    const IndexMap map = store_map(group, write.access);
    return visit(map, store_width(map, graph.stored_type(write.value), is_whole(group, write), s));
  });
}

} // namespace

int64_t staging_bytes(const Graph& graph, const Group& group, const Schedule& s) {
  constexpr int64_t kWidestPitch = 128 + 8 * 4;
  const bool staged =
      any_store(graph, group, s, [](const IndexMap&, StoreWidth width) { return width.staged; });
  return staged ? s.threads / 32 * s.warp_m * kWidestPitch : 0; // StagingPlan::kBytes
}

bool staging_needs_sizes(const Graph& graph, const Group& group, const Schedule& s) {
  return any_store(graph, group, s, [](const IndexMap& map, StoreWidth width) {
    return width.staged && !map.needed(width.vec).empty();
  });
}

} // namespace ingot
