// SPDX-License-Identifier: Apache-2.0
// The values that functors of a kernel evaluate or that the tile's slots hold, and their operands.
#pragma once

#include "ir/fusion/plan.h"

#include <map>

namespace ingot {

/// A value that a group computes, or a value that is read.
struct TileValue {
  bool is_read = false;
  uint32_t index = 0; ///< number of the value, or of the read in Group::reads

  static TileValue value(ValueId id) { return {false, id.index}; }
  static TileValue read(size_t index) { return {true, static_cast<uint32_t>(index)}; }
  ValueId id() const { return ValueId{index}; }
  friend auto operator<=>(const TileValue& a, const TileValue& b) = default;
};

class TileValues {
public:
  TileValues(const Graph& graph, const Group& group);

  /// The first read of the same tensor with the same access as read `index`.
  TileValue read(size_t index) const;
  /// The source of operand `operand` of `op`: a read, a value that the group computes, or a
  /// constant.
  TileValue source(OpId op, uint32_t operand) const;
  /// The operands from which an op computes `value` at a point; none for results of other ops.
  llvm::SmallVector<TileValue, 3> operands(const TileValue& value) const;

private:
  const Graph& graph_;
  const Group& group_;
  std::map<std::pair<OpId, uint32_t>, TileValue> reads_; ///< by op and operand
};

/// True for values that the mainloops of a group yield.
bool is_product(const Group& group, const Graph& graph, ValueId value);

/// True if a read's numbers are computed at the point, not loaded.
bool is_computed_iota(const Graph& graph, const Read& read);

} // namespace ingot
