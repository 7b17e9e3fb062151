// SPDX-License-Identifier: Apache-2.0
// Axes of a fused group as a system of equations. Every dim of every value is a list of atoms. Ops
// equate lists, and a reshape splits atoms if it must. The remaining atoms are the factors of the
// group's iteration domain, independent of the spelling of reshapes and broadcasts in the graph.
#pragma once

#include "ir/types.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace ingot {

/// Index of an atom in its AxisSpace. An atom may later be joined with another or split in two.
using Atom = uint32_t;
/// One dim: its atoms from the outermost to the innermost.
using AtomList = llvm::SmallVector<Atom, 2>;
/// One atom list per dim of a value.
using AtomShape = llvm::SmallVector<AtomList, 4>;

class AxisSpace {
public:
  /// A new atom; none (an empty list) for extent 1.
  AtomList fresh(const Dim& extent);
  AtomShape fresh(const Shape& shape);

  /// Makes two lists of the same total extent the same list, joining and splitting atoms. Returns
  /// false if their factors do not line up (6 as 2x3 and as 3x2); the space is then unspecified.
  bool equate(AtomList a, AtomList b);

  /// The atoms that are neither joined nor split, in order.
  AtomList leaves(const AtomList& list) const;
  /// The leaves of all dims in order.
  AtomList leaves(const AtomShape& shape) const;
  const Dim& extent(Atom leaf) const { return nodes_[leaf].extent; }
  /// The product of the extents.
  Dim extent(llvm::ArrayRef<Atom> leaves) const;

private:
  struct Node {
    Dim extent;
    AtomList into; // empty: a leaf; one: joined with it; two: split into them
  };
  void split(Atom leaf, const Dim& outer, const Dim& inner);
  std::vector<Node> nodes_;
};

} // namespace ingot
