// SPDX-License-Identifier: Apache-2.0
// Orders a group's ops into stages: what is held in the tile's slots, what each reduction and each
// store evaluates. The emitter writes it down.
#pragma once

#include "codegen/kernel/schedule.h"
#include "ir/fusion/plan.h"

#include <vector>

namespace ingot {

/// What a functor yields or a slot holds: a value that the group computes, or what a read brings.
struct TileValue {
  bool is_read = false;
  uint32_t index = 0; ///< of the value, or of the read in Group::reads

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
  TileValue target; ///< map, reduce, scan, store: what its functor evaluates
  int slot = 0;     ///< map: where it goes
  OpId reduction;   ///< combine, merge_at_points, reduce, store_partial; of a scan its op
  size_t write = 0; ///< store: index in Group::writes
  std::vector<TileValue> slots; ///< what each slot holds when the stage begins
};

struct StageList {
  int slots = 0; ///< tile-wide values held at once
  std::vector<StageEntry> stages;
};

StageList plan_stages(const Graph& graph, const Group& group);

/// Where operand `operand` of `op` comes from: a read, or a value the group computes or a constant.
TileValue source_of(const Graph& graph, const Group& group, OpId op, uint32_t operand);

/// True when a read's numbers are computed where it stands, not loaded.
bool is_computed_iota(const Graph& graph, const Read& read);

/// True when a read varies along rows and columns of the domain.
bool is_wide_read(const Group& group, const Read& read);

} // namespace ingot
