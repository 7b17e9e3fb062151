// SPDX-License-Identifier: Apache-2.0
// One evaluator per class of ops. Each takes the operands as views and returns the results with
// their bounds. Only evaluate.cpp calls them.
#pragma once

#include "ir/graph.h"
#include "ir/interpreter/host_value.h"

#include "llvm/ADT/ArrayRef.h"

namespace ingot {

/// The rounding of f32 operands by the matmuls of one evaluation.
enum class OperandRounding : uint8_t { none, tf32, bf16 };

/// The data of one op for its evaluator.
struct OpSite {
  const Graph& graph;
  const Op& op;
  llvm::ArrayRef<const HostValue*> operands;
  /// The shapes of the results with every named dim bound. For an `extent`, the shape that it
  /// counts.
  llvm::ArrayRef<Extents> result_extents;
  llvm::ArrayRef<MatmulPrecision> precisions; ///< all with the same operand rounding
  OperandRounding rounding;
  Workers& workers;
  const DimBindings& sizes;

  DType result_dtype(size_t index = 0) const { return graph.type(op.results[index]).dtype; }
};

using HostValues = llvm::SmallVector<HostValue, 2>;

HostValue evaluate_constant(const OpSite& site);
HostValue evaluate_iota(const OpSite& site);
HostValue evaluate_extent(const OpSite& site);
HostValue evaluate_elementwise(const OpSite& site);
HostValue evaluate_matmul(const OpSite& site);
HostValues evaluate_reduce(const OpSite& site);
HostValue evaluate_scan(const OpSite& site);
HostValue evaluate_gather(const OpSite& site);
HostValue evaluate_movement(const OpSite& site);

/// A dense copy of a view with 8-byte elements.
HostValue densify(const HostValue& value, Workers& workers);

enum class StorageRounding : uint8_t {
  of_bounds,    ///< at an output, or where the kernels store an intermediate: the value stays
  at_any_scale, ///< likewise; see EvaluateOptions::rescaled
  of_values,    ///< before an op that jumps: the value is rounded too
};

/// Widens the bounds of a 16-bit value for one more rounding to its type. Values that overflow the
/// type become infinite.
void round_storage(HostValue& value, size_t precisions, Workers& workers,
                   StorageRounding rounding = StorageRounding::of_bounds);

/// The number of additions on the longest path from a leaf to the root of any reduction tree over
/// `length` elements that kernels use. A thread adds chains of at most 1024. Lanes, warps and tiles
/// form trees. Then partials are added in order, one per 1024 elements.
double reduction_depth(int64_t length);

/// The view with `axes` (sorted) moved behind the other axes.
HostValue with_axes_last(const HostValue& value, llvm::ArrayRef<int64_t> axes);

} // namespace ingot
