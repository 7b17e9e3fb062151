// SPDX-License-Identifier: Apache-2.0
// Picks rows and columns for a kernel without a matmul from the factors of its values. Used by
// legality, and by the schedules and the emitter of such kernels.
#pragma once

#include "ir/fusion/bindings.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

inline bool contains(llvm::ArrayRef<Atom> list, Atom atom) {
  return llvm::is_contained(list, atom);
}
inline bool contains_all(llvm::ArrayRef<Atom> list, llvm::ArrayRef<Atom> atoms) {
  return llvm::all_of(atoms, [&](Atom atom) { return contains(list, atom); });
}

/// Sets the domain of `group`, whose reads, writes and reductions are bound. Columns are the
/// reduced factors, or the axis `scanned` of a group's scan. Otherwise they are the factors that
/// every tensor reaches by one flat index.
void choose_loaded_domain(const Graph& graph, const Bindings& bindings, const AtomList& scanned,
                          Group& group);

/// True if neighbours in memory are neighbouring rows of a kernel without a matmul. The lanes of a
/// warp, kRowsOfAWarp, then have a row each, or several adjacent ones.
bool rows_are_adjacent(const Group& group, const AxisSpace& space);
inline constexpr int64_t kRowsOfAWarp = 32;

} // namespace ingot
