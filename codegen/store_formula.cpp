// SPDX-License-Identifier: Apache-2.0
// See store_formula.h.
#include "codegen/store_formula.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

constexpr int64_t kStoredBytes = 16; ///< of one thread's access

/// True when each point of the domain has an element of its own.
bool is_whole(const Group& group, const Write& write) {
  const AtomList own = group.space.leaves(write.access.dims);
  auto all_of = [&](const AtomList& factors) {
    return llvm::all_of(factors, [&](Atom atom) { return llvm::is_contained(own, atom); });
  };
  return !group.domain.columns.empty() && all_of(group.domain.rows) && all_of(group.domain.columns);
}

} // namespace

StoreFormula store_formula(const Graph& graph, const Group& group, const Schedule& s,
                           const Write& write) {
  const int64_t size = size_of(graph.stored_type(write.value));
  if (s.staging == Staging::drained_stage && (size == 2 || size == 4) && is_whole(group, write)) {
    // Tiles begin at multiples of step_n columns.
    const int64_t vec = kStoredBytes / size;
    const IndexFormula formula = store_index(group, write.access, vec);
    if (formula.contiguous == 2 && formula.widest == vec && s.step_n % vec == 0)
      return {formula, vec, true};
  }
  const int64_t limit = std::min<int64_t>(s.vec, kStoredBytes / size);
  const IndexFormula formula = store_index(group, write.access, limit);
  return {formula, formula.contiguous == s.adjacent() ? formula.widest : 1, false};
}

int64_t staging_bytes(const Graph& graph, const Group& group, const Schedule& s) {
  constexpr int64_t kWidestPitch = 128 + 8 * 4;
  const bool staged = llvm::any_of(group.writes, [&](const Write& write) {
    return store_formula(graph, group, s, write).staged;
  });
  return staged ? s.threads / 32 * s.warp_m * kWidestPitch : 0; // StagingPlan::kBytes
}

bool staging_needs_sizes(const Graph& graph, const Group& group, const Schedule& s) {
  return llvm::any_of(group.writes, [&](const Write& write) {
    const StoreFormula formula = store_formula(graph, group, s, write);
    return formula.staged && !formula.index.divisible.empty();
  });
}

} // namespace ingot
