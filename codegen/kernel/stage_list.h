// SPDX-License-Identifier: Apache-2.0
// Orders a group's ops into stages. Decides which values the tile's slots hold and which values
// each reduction and each store evaluates. The emitter prints the list.
#pragma once

#include "codegen/kernel/schedule.h"
#include "ir/fusion/plan.h"

#include <vector>

namespace ingot {

/// The value of a functor or of a slot: a value that the group computes, or a value that is read.
struct TileValue {
  bool is_read = false;
  uint32_t index = 0; ///< number of the value, or of the read in Group::reads

  static TileValue value(ValueId id) { return {false, id.index}; }
  static TileValue read(size_t index) { return {true, static_cast<uint32_t>(index)}; }
  ValueId id() const { return ValueId{index}; }
  friend auto operator<=>(const TileValue& a, const TileValue& b) = default;
};

enum class StageKind : uint8_t {
  combine,
  merge_at_points,
  map,
  reduce,
  store_partial,
  scan,
  store
};

struct StageEntry {
  StageKind kind;
  TileValue target;             ///< map, reduce, scan, store: the value that its functor evaluates
  int slot = 0;                 ///< map: its slot
  OpId reduction;               ///< combine, merge_at_points, reduce, store_partial; scan: its op
  size_t write = 0;             ///< store: index in Group::writes
  std::vector<TileValue> slots; ///< the value in each slot when the stage begins
};

struct StageList {
  int slots = 0; ///< tile-wide values held at once
  std::vector<StageEntry> stages;
};

StageList plan_stages(const Graph& graph, const Group& group);

/// The source of operand `operand` of `op`: a read, a value that the group computes, or a constant.
TileValue source_of(const Graph& graph, const Group& group, OpId op, uint32_t operand);

/// True if a read's numbers are computed at the point, not loaded.
bool is_computed_iota(const Graph& graph, const Read& read);

/// True if a read varies along rows and columns of the domain.
bool is_wide_read(const Group& group, const Read& read);

} // namespace ingot
