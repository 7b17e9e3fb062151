// SPDX-License-Identifier: Apache-2.0
// See loaded_domain.h.
#include "ir/fusion/loaded_domain.h"

#include <algorithm>

namespace ingot {
namespace {

/// The atoms of `list` that fulfil `keep`, in order.
template <typename Keep> AtomList filtered(llvm::ArrayRef<Atom> list, Keep keep) {
  AtomList result;
  llvm::copy_if(list, std::back_inserter(result), keep);
  return result;
}

/// The domain's factors in the order of the tensor that moves the most bytes, then the rest.
AtomList primary_order(const Graph& graph, const Group& group, const Bindings& bindings) {
  const AxisSpace& space = bindings.space;
  AtomList order;
  auto append = [&](const AtomShape& dims) {
    for (Atom atom : space.leaves(dims))
      if (!contains(order, atom)) order.push_back(atom);
  };
  // An indexed factor of a table is not a factor of the domain, and computed numbers move no bytes.
  // The sort is stable: the first access with the most factors leads.
  std::vector<const AtomShape*> shapes;
  shapes.reserve(group.reads.size() + group.writes.size());
  for (const Read& read : group.reads)
    if (read.indexed.empty() && !is_computed_source(graph.producer(read.access.value).kind))
      shapes.push_back(&read.access.dims);
  for (const Write& write : group.writes) shapes.push_back(&write.access.dims);
  std::stable_sort(shapes.begin(), shapes.end(), [&](const AtomShape* x, const AtomShape* y) {
    return space.leaves(*x).size() > space.leaves(*y).size();
  });
  for (const AtomShape* shape : shapes) append(*shape);
  for (const auto& [value, dims] : bindings.defined()) append(dims);
  for (const Reduction& reduction : group.reductions) append(reduction.reduced);
  return order;
}

} // namespace

void choose_loaded_domain(const Graph& graph, const Bindings& bindings, const AtomList& scanned,
                          Group& group) {
  const AxisSpace& space = bindings.space;
  const AtomList order = primary_order(graph, group, bindings);
  if (group.scan) {
    group.domain.columns = space.leaves(scanned);
    group.domain.rows =
        filtered(order, [&](Atom atom) { return !contains(group.domain.columns, atom); });
    return;
  }
  AtomList reduced;
  for (const Reduction& r : group.reductions) reduced.append(space.leaves(r.reduced));
  if (!group.reductions.empty()) {
    group.domain.columns = filtered(order, [&](Atom atom) { return contains(reduced, atom); });
    group.domain.rows = filtered(order, [&](Atom atom) { return !contains(reduced, atom); });
    return;
  }
  // Results that are combined belong to rows. All other factors are columns.
  AtomList combined;
  for (const Read& read : group.reads)
    if (read.combine) combined.append(space.leaves(read.access.dims));
  if (!combined.empty()) {
    group.domain.rows = filtered(order, [&](Atom atom) { return contains(combined, atom); });
    group.domain.columns = filtered(order, [&](Atom atom) { return !contains(combined, atom); });
    return;
  }
  // Without a reduction, columns are the longest run of inner factors that every tensor either
  // holds densely or does not hold at all, so that one flat index serves it.
  auto dense = [&](const Access& access, llvm::ArrayRef<Atom> suffix) {
    const AtomList own = space.leaves(access.dims);
    if (llvm::none_of(suffix, [&](Atom atom) { return contains(own, atom); })) return true;
    if (!access.ranges.empty() || own.size() < suffix.size()) return false;
    return llvm::ArrayRef<Atom>(own).take_back(suffix.size()) == suffix;
  };
  size_t columns = order.empty() ? 0 : 1;
  for (size_t take = 2; take <= order.size(); ++take) {
    const auto suffix = llvm::ArrayRef<Atom>(order).take_back(take);
    auto serves = [&](const Read& r) { return !r.indexed.empty() || dense(r.access, suffix); };
    if (!llvm::all_of(group.reads, serves) ||
        !llvm::all_of(group.writes, [&](const Write& w) { return dense(w.access, suffix); }))
      break;
    columns = take;
  }
  const auto all = llvm::ArrayRef<Atom>(order);
  const auto inner = all.take_back(columns), outer = all.drop_back(columns);
  group.domain.columns.assign(inner.begin(), inner.end());
  group.domain.rows.assign(outer.begin(), outer.end());
}

bool rows_are_adjacent(const Group& group, const AxisSpace& space) {
  // The widest read decides, or the first write of a tile that vectors form.
  const auto is_tile = [&](llvm::ArrayRef<Atom> leaves) {
    const auto in = [&](const AtomList& factors) {
      return llvm::any_of(leaves, [&](Atom leaf) { return contains(factors, leaf); });
    };
    return in(group.domain.columns) && in(group.domain.rows);
  };
  AtomList widest;
  for (const Read& read : group.reads)
    if (AtomList own = space.leaves(read.access.dims); own.size() > widest.size())
      widest = std::move(own);
  for (const Write& write : group.writes)
    if (!is_tile(widest)) widest = space.leaves(write.access.dims);
  return is_tile(widest) && contains(group.domain.rows, widest.back());
}

} // namespace ingot
