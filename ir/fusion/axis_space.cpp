// SPDX-License-Identifier: Apache-2.0
// See axis_space.h.
#include "ir/fusion/axis_space.h"

#include <algorithm>

namespace ingot {

AtomList AxisSpace::fresh(const Dim& extent) {
  if (extent.is(1)) return {};
  nodes_.push_back({extent, {}});
  return {static_cast<Atom>(nodes_.size() - 1)};
}

AtomShape AxisSpace::fresh(const Shape& shape) {
  AtomShape result;
  for (const Dim& dim : shape) result.push_back(fresh(dim));
  return result;
}

AtomList AxisSpace::leaves(const AtomList& list) const {
  AtomList result;
  AtomList pending(list.rbegin(), list.rend());
  while (!pending.empty()) {
    const Node& node = nodes_[pending.back()];
    if (node.into.empty()) {
      result.push_back(pending.pop_back_val());
      continue;
    }
    pending.pop_back();
    pending.append(node.into.rbegin(), node.into.rend());
  }
  return result;
}

AtomList AxisSpace::leaves(const AtomShape& shape) const {
  AtomList result;
  for (const AtomList& list : shape) result.append(leaves(list));
  return result;
}

Dim AxisSpace::extent(llvm::ArrayRef<Atom> leaves) const {
  Dim result = 1;
  for (Atom leaf : leaves) result = result * extent(leaf);
  return result;
}

void AxisSpace::split(Atom leaf, const Dim& outer, const Dim& inner) {
  nodes_.push_back({outer, {}});
  nodes_.push_back({inner, {}});
  const Atom first = static_cast<Atom>(nodes_.size() - 2);
  nodes_[leaf].into = {first, first + 1};
}

bool AxisSpace::equate(AtomList a, AtomList b) {
  a = leaves(a);
  b = leaves(b);
  while (!a.empty() && !b.empty()) {
    const Atom x = a.back(), y = b.back();
    if (x == y) {
      a.pop_back();
      b.pop_back();
      continue;
    }
    const Dim ex = extent(x), ey = extent(y);
    if (ex == ey) {
      // Joins the younger atom into the older one, so that atoms of many ops stay one step away.
      nodes_[std::max(x, y)].into = {std::min(x, y)};
    } else if (auto outer = ex.divided_by(ey); outer && !ey.is(0)) {
      split(x, *outer, ey);
    } else if (auto outer = ey.divided_by(ex); outer && !ex.is(0)) {
      split(y, *outer, ex);
    } else {
      return false;
    }
    a = leaves(a);
    b = leaves(b);
  }
  return a.empty() && b.empty();
}

} // namespace ingot
