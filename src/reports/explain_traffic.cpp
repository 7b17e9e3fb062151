// SPDX-License-Identifier: Apache-2.0
// See explain_traffic.h.
#include "src/reports/explain_traffic.h"

#include "codegen/kernel/halves.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/stage_list.h"
#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

/// Indices in Group::reads.
using Reads = std::set<size_t>;

bool is_table(const Graph& graph, const Read& read) {
  return graph.op(read.op).kind == OpKind::gather && read.operand == 0;
}

/// The elements of a tensor that a read of a slice of it asks for; none: all of them.
std::optional<Expr> sliced_elements(const Group& group, const Access& access) {
  const auto partial = [](const AxisRange& part) { return part.is_part(); };
  if (access.ranges.empty() || llvm::any_of(access.ranges, partial)) return std::nullopt;
  return dim_expr(group.space.extent(group.space.leaves(access.dims)));
}

/// What evaluating `targets` reads, up to the results of reductions and scans.
Reads needed_for(const Graph& graph, const Group& group, std::vector<TileValue> targets) {
  Reads result;
  std::set<TileValue> seen;
  while (!targets.empty()) {
    const TileValue target = targets.back();
    targets.pop_back();
    if (!seen.insert(target).second) continue;
    if (target.is_read) {
      result.insert(target.index);
      continue;
    }
    const OpId id = graph.value(target.id()).op;
    const Op& op = graph.op(id);
    const OpClass op_class = info(op.kind).op_class;
    if (op_class != OpClass::elementwise && op_class != OpClass::gather) continue;
    for (uint32_t k = 0; k < op.operands.size(); ++k)
      targets.push_back(source_of(graph, group, id, k));
  }
  return result;
}

/// What each walk over the rows reads; one walk where they are not streamed.
std::vector<Reads> walks_of(const Graph& graph, const Group& group, bool is_streamed) {
  Reads all;
  for (size_t r = 0; r < group.reads.size(); ++r) all.insert(r);
  if (!is_streamed) return {all};
  std::vector<Reads> walks;
  walks.reserve(group.reductions.size() + 1);
  for (const Reduction& reduction : group.reductions)
    walks.push_back(needed_for(graph, group, {source_of(graph, group, reduction.op, 0)}));
  std::vector<TileValue> stored;
  stored.reserve(group.writes.size());
  for (const Write& write : group.writes)
    stored.push_back(write.read ? TileValue::read(*write.read) : TileValue::value(write.source));
  walks.push_back(needed_for(graph, group, std::move(stored)));
  return walks;
}

/// True when nothing but the operands of the group's matmuls is made of a value.
bool feeds_halves(const Graph& graph, const Group& group, ValueId value) {
  Reads feeding;
  for (MatmulSide of : matmul_sides(group))
    for (size_t r : operand_reads(graph, group, of)) feeding.insert(r);
  for (size_t r = 0; r < group.reads.size(); ++r)
    if (group.reads[r].access.value == value && feeding.count(r) == 0) return false;
  return true;
}

} // namespace

Expr ReadTraffic::bytes(const Expr& all, const Graph& graph, ValueId value) const {
  Expr result = all * whole;
  for (const Expr& elements : chosen)
    result = result + min(all, elements * size_of(graph.stored_type(value)));
  return result;
}

std::map<ValueId, ReadTraffic> read_traffic(const Graph& graph, const Group& group,
                                            bool is_streamed, bool multiplies_halves) {
  const std::vector<Reads> walks = walks_of(graph, group, is_streamed);
  std::map<ValueId, ReadTraffic> result;
  for (const Read& first : group.reads) {
    const ValueId value = first.access.value;
    if (is_computed_iota(graph, first)) continue;
    // The results of one reduction have their partials in common.
    const ValueId key = first.combine ? graph.op(graph.value(value).op).results[0] : value;
    const auto [entry, added] = result.try_emplace(key);
    if (!added) continue;
    ReadTraffic& traffic = entry->second;
    traffic.is_spare = multiplies_halves && feeds_halves(graph, group, value);
    if (traffic.is_spare) continue;
    bool is_kept = false; // a row's or a column's worth, which caches keep from walk to walk
    for (const Reads& walk : walks) {
      bool is_whole = false;
      Expr elements = 0;
      for (size_t r : walk) {
        const Read& read = group.reads[r];
        if (!(read.access.value == value)) continue;
        if (is_table(graph, read)) {
          const Type& type = graph.type(graph.op(read.op).results[0]);
          elements = elements + dim_expr(element_count(type.shape));
        } else if (auto slice = sliced_elements(group, read.access)) {
          if (source_of(graph, group, read.op, read.operand) == TileValue::read(r))
            elements = elements + *slice;
        } else if (is_wide_read(group, read)) {
          is_whole = true;
        } else {
          is_kept = true;
        }
      }
      traffic.whole += is_whole;
      if (!is_whole && elements.constant() != 0) traffic.chosen.push_back(elements);
    }
    if (traffic.whole == 0 && (is_kept || traffic.chosen.empty())) {
      traffic.chosen.clear();
      traffic.whole = 1;
    }
  }
  return result;
}

} // namespace ingot
