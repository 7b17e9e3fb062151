// SPDX-License-Identifier: Apache-2.0
// Builds the expressions of a kernel's stages and prologues from the graph, with one step per op,
// and lists the memory that they read. Used by build_kernel.
#pragma once

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/tile_values.h"
#include "ir/passes/ranges.h"

namespace ingot {

/// The sources from which the values of a group are read.
struct PointSources {
  const Graph& graph;
  const Ranges& ranges;
  const Group& group;
  const TileValues& values;
  const std::map<ValueId, uint32_t>& parameters; ///< tensors in memory
  const std::map<OpId, uint32_t>& stages; ///< stages with the results of reductions and scans
};

class PointBuilder {
public:
  /// `frame` receives the reads of the expressions. `coordinates`: those of the frame's points.
  PointBuilder(const PointSources& from, PointFrame& frame,
               std::vector<CoordinateFactors> coordinates)
      : from_(from), graph_(from.graph), group_(from.group), frame_(frame),
        coordinates_(std::move(coordinates)) {}

  /// The expression of `target`. `slots`: the value in each slot of the tile.
  PointExpr build(const TileValue& target, const std::vector<TileValue>& slots);
  /// The expression of a product of type `dtype` in slot 0, to which row factors apply. If `depth`,
  /// the K of the product, is 0, it is 0: the factors may be infinite then.
  PointExpr build_factors(DType dtype, llvm::ArrayRef<RowFactor> factors, const Dim& depth);

private:
  using Kind = PointOp::Kind;
  void begin(const std::vector<TileValue>& slots);
  uint32_t complete(const TileValue& target);
  uint32_t push(PointOp op);
  llvm::SmallVector<TileValue, 3> missing_operands(const TileValue& target) const;
  uint32_t evaluate(const TileValue& target);
  uint32_t evaluate_rounded(const TileValue& target);
  uint32_t evaluate_read(const TileValue& target);
  uint32_t frame_read(size_t index);
  uint32_t evaluate_source(const Op& op, DType dtype);
  uint32_t evaluate_gather(OpId id, ValueId value);
  uint32_t evaluate_op(OpId id, ValueId value);
  uint32_t result_of(const Value& value, Kind kind);
  uint32_t rounded(ValueId value, uint32_t step);
  DeviceFunction function_of(const Op& op, ValueId value) const;
  bool is_shared(ValueId operand, ValueId value) const;
  bool is_one(ValueId value) const;
  Expr iota_number(const Read& read) const;

  const PointSources& from_;
  const Graph& graph_;
  const Group& group_;
  PointFrame& frame_;
  const std::vector<CoordinateFactors> coordinates_;
  std::map<size_t, uint32_t> reads_; ///< index in frame_, by read of the group
  PointExpr expr_;                   ///< the expression that is being built
  std::vector<TileValue> slots_;
  std::map<TileValue, uint32_t> known_;
};

} // namespace ingot
