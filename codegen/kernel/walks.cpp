// SPDX-License-Identifier: Apache-2.0
// See walks.h.
#include "codegen/kernel/walks.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

void Reads::add(const Reads& other) {
  reads.insert(other.reads.begin(), other.reads.end());
  gathers.insert(other.gathers.begin(), other.gathers.end());
  merges.insert(other.merges.begin(), other.merges.end());
}

namespace {

/// The reads of an expression, including those of the slots that it names.
Reads reads_of(const PointExpr& expr, const std::map<uint32_t, Reads>& slots) {
  Reads result;
  for (const PointOp& op : expr.ops) {
    if (op.kind == PointOp::Kind::read) result.reads.insert(op.index);
    if (op.kind == PointOp::Kind::gather) result.gathers.insert(op.index);
    if (op.kind == PointOp::Kind::merged) result.merges.insert(op.index);
    if (op.kind != PointOp::Kind::slot) continue;
    if (const auto held = slots.find(op.index); held != slots.end()) result.add(held->second);
  }
  return result;
}

Reads all_reads(const TileBody& body) {
  Reads result;
  for (const Stage& stage : body.stages)
    if (const PointExpr* value = value_of(stage)) result.add(reads_of(*value, {}));
  return result;
}

/// The reads of a walk for each reduction, then those of the walk for the stores.
std::vector<Reads> separate_walks(const TileBody& body) {
  std::vector<Reads> walks;
  std::map<uint32_t, Reads> slots;
  Reads last;
  for (const Stage& stage : body.stages) {
    const PointExpr* value = value_of(stage);
    if (!value) continue;
    Reads reads = reads_of(*value, slots);
    if (const auto* map = std::get_if<MapStage>(&stage.step))
      slots[static_cast<uint32_t>(map->slot)] = std::move(reads); // for the walks that need it
    else if (std::holds_alternative<ReduceStage>(stage.step))
      walks.push_back(std::move(reads));
    else
      last.add(reads);
  }
  walks.push_back(std::move(last));
  return walks;
}

} // namespace

std::vector<Reads> walks_of(const TileBody& body, Skeleton skeleton) {
  if (skeleton != Skeleton::streamed && skeleton != Skeleton::kept) return {all_reads(body)};
  std::vector<Reads> walks = separate_walks(body);
  if (skeleton == Skeleton::streamed) return walks;
  for (uint32_t number : kept_reads(body)) {
    auto first = llvm::find_if(walks, [&](const Reads& w) { return w.reads.count(number) > 0; });
    for (auto walk = first + 1; walk != walks.end(); ++walk) walk->reads.erase(number);
  }
  return walks;
}

std::vector<uint32_t> kept_reads(const TileBody& body) {
  const std::vector<Reads> walks = separate_walks(body);
  std::set<uint32_t> kept;
  for (const Reads& walk : llvm::ArrayRef(walks).drop_back())
    for (uint32_t number : walk.reads)
      if (is_wide(body, body.frame.reads[number].map)) kept.insert(number);
  return {kept.begin(), kept.end()};
}

namespace {

/// The reads that vary along one coordinate of a tile, and not along the other one.
std::vector<uint32_t> reads_along(const TileBody& body, Coordinate one, Coordinate other) {
  std::vector<uint32_t> along;
  for (uint32_t number : all_reads(body).reads) {
    const Expr& index = body.frame.reads[number].map.index;
    if (varies_along(index, one) && !varies_along(index, other)) along.push_back(number);
  }
  return along;
}

} // namespace

std::vector<uint32_t> reads_along_columns(const TileBody& body) {
  return reads_along(body, Coordinate::col, Coordinate::row);
}

bool reads_along_rows(const TileBody& body) {
  return !reads_along(body, Coordinate::row, Coordinate::col).empty();
}

bool can_keep(const Kernel& kernel, const Schedule& s) {
  const auto& body = std::get<TileBody>(kernel.body);
  if (!body.mainloops.empty() || !body.columns.constant()) return false;
  bool reduces = false;
  for (const Stage& stage : body.stages) {
    if (std::holds_alternative<StoreStatesStage>(stage.step) ||
        std::holds_alternative<ScanStage>(stage.step))
      return false;
    const auto* merge = std::get_if<MergeStage>(&stage.step);
    const auto* reduce = std::get_if<ReduceStage>(&stage.step);
    if ((merge && !merge->at_points) || (reduce && reduce->span != ReduceSpan::row)) return false;
    reduces |= reduce != nullptr;
  }
  const std::vector<uint32_t> kept = kept_reads(body);
  return reduces && !kept.empty() && llvm::all_of(kept, [&](uint32_t number) {
           const MemoryRead& read = body.frame.reads[number];
           const DType dtype = kernel.parameters[read.parameter].dtype;
           return read_width(read.map, dtype, s) * size_of(dtype) == kWidestAccess;
         });
}

} // namespace ingot
